import type { MutatedFile } from '../mutant.ts';

export const ACCESS: readonly MutatedFile[] = [
  {
    path: 'src/http/auth/wrong-credentials.ts',
    tests: ['test/http/wrong-credentials.test.ts'],
    mutants: [
      {
        name: 'more credentials are looked up at a time than may be wrong',
        from: 'while (attempts.wrong + attempts.checking >= this.limit) {',
        to: 'while (attempts.wrong >= this.limit) {',
      },
      {
        name: 'requests with the same wrong key count once',
        from: '        this.requireBelowLimit(attempts);\n        await this.count(address, attempts);\n',
        to: '',
      },
      {
        name: 'a window never ends',
        from: 'if (attempts.ends_ms <= this.now()) attempts.wrong = 0;',
        to: '',
      },
      {
        name: 'an address without a wrong credential stays in memory',
        from: 'if (this.addresses.get(address) === attempts) this.addresses.delete(address);',
        to: '',
      },
      {
        name: 'a replica does not read the common count',
        from: 'await this.takeSharedCount(attempts, (redis) => redis.get(address));',
        to: '',
      },
    ],
  },
  {
    path: 'src/http/auth/client-address.ts',
    tests: ['test/http/client-address.test.ts'],
    mutants: [
      {
        name: 'X-Forwarded-For of every peer is trusted',
        from: 'if (proxies.length === 0 || !isWithin(peer, proxies)) return blockOf(peer);',
        to: '',
      },
      {
        name: 'the left-most address counts',
        from: 'if (!address || comma < 0 || !isWithin(address, proxies)) return address;',
        to: 'if (!address || comma < 0) return address;',
      },
      {
        name: 'each IPv6 address counts alone',
        from: '.fill(0, IPV6_PREFIX_BYTES)',
        to: '',
      },
    ],
  },
  {
    path: 'src/http/metrics.ts',
    tests: ['test/http/metrics.test.ts'],
    mutants: [
      {
        name: 'metrics are open to everybody',
        from: '    await admitReader(deps, context);\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/keys/key-cache.ts',
    tests: ['test/http/wrong-credentials.test.ts'],
    mutants: [
      {
        name: 'a revoked key counts as known',
        from: 'if (!cached || !isActive(cached.record, now)) return undefined;',
        to: 'if (!cached) return undefined;',
      },
    ],
  },
];
