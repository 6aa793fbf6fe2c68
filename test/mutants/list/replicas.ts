import type { MutatedFile } from '../mutant.ts';

const LEASE_TESTS = ['test/actors/replica.test.ts'];
const UNOWNED_TESTS = ['test/actors/money/unowned.test.ts'];

export const REPLICAS: readonly MutatedFile[] = [
  {
    path: 'src/actors/replica.ts',
    tests: LEASE_TESTS,
    mutants: [
      {
        name: 'a replica judges others right after a gap',
        from: 'if (gap > MAX_GAP_MS) this.steadySince',
        to: 'if (gap > 1e12) this.steadySince',
      },
      {
        name: 'a heartbeat waits for the reaping before it',
        hangs: true,
        from: 'const requestedAt = this.deps.clock.now();\n    const isRenewed',
        to: 'await this.reaping;\n    const requestedAt = this.deps.clock.now();\n    const isRenewed',
      },
    ],
  },
  {
    path: 'db/replicas.ts',
    tests: LEASE_TESTS,
    mutants: [
      {
        name: 'a judge whose own lease is old judges',
        from: 'own.lease_until > weir_now() +',
        to: 'own.lease_until > weir_now() -',
      },
      {
        name: 'a replica is declared dead in the middle of its transaction',
        from: 'order by id for update skip locked\n    )\n    update replica',
        to: 'order by id for no key update skip locked\n    )\n    update replica',
      },
    ],
  },
  {
    path: 'db/actors/store.ts',
    tests: LEASE_TESTS,
    mutants: [
      {
        name: 'a heartbeat waits for the transactions of durable actors',
        from: 'for key share`',
        to: 'for share`',
      },
    ],
  },
  {
    path: 'src/actors/money/unowned.ts',
    tests: UNOWNED_TESTS,
    mutants: [
      {
        name: 'an actor with a command under way is compared',
        from: 'then.busy || now.busy',
        to: 'false',
      },
      {
        name: 'what was seen once counts',
        from: 'suspects.has(nameOf(each))',
        to: 'true',
      },
    ],
  },
];
