import type { MutatedFile } from '../mutant.ts';

const WINDOW = ['test/machines/sliding-window.test.ts'];
const SHARES = ['test/inference/limits/shares.test.ts'];
const SOFT = ['test/http/soft/chat.test.ts'];
const REDIS = [
  'test/inference/limits/redis-store.test.ts',
  'test/inference/limits/redis-script.test.ts',
];

export const LIMITS: readonly MutatedFile[] = [
  {
    path: 'src/machines/sliding-window.ts',
    tests: WINDOW,
    mutants: [
      {
        name: 'a slot counts a second too short',
        from: 'const COUNTED_MS = 60_000;',
        to: 'const COUNTED_MS = 59_000;',
      },
      {
        name: 'what is given back stays taken',
        from: 'Math.max(0, slot.taken + change)',
        to: 'Math.max(slot.taken, slot.taken + change)',
      },
      {
        name: 'a slot counts from its first amount on',
        from: 'existing.last_ms = Math.max(existing.last_ms, now_ms);',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/limits/shares.ts',
    tests: SHARES,
    mutants: [
      {
        name: 'a replica that joins others takes at once',
        from: 'count > 1 && this.joinedLate(own)',
        to: 'false',
      },
      {
        name: 'each replica gets the rest of a division',
        from: '(at < limit % count ? 1 : 0)',
        to: '(limit % count > 0 ? 1 : 0)',
      },
      {
        name: 'shares are used that nobody read for long',
        from: 'if (!this.isFresh) return 0;',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/limits/memory-store.ts',
    tests: [...SOFT, 'test/inference/limits/memory-store.test.ts'],
    mutants: [
      {
        name: 'calls count in a counter that was forgotten',
        from: 'known?.as_of === this.forgettings',
        to: 'known',
      },
      {
        name: 'a counter is forgotten while a call runs',
        from: 'running === 0 && window.slots.size === 0',
        to: 'window.slots.size === 0',
      },
      {
        name: 'a soft limit refuses calls',
        from: 'if (!take.is_soft) return',
        to: 'return',
      },
      {
        name: 'a soft limit says nothing',
        from: '      exceeded.push({ take, amount, wait_ms });\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/limits/limit.ts',
    tests: SOFT,
    mutants: [
      {
        name: 'a hard limit refuses a call before a soft one moves it',
        from: '[...moving, ...takes]',
        to: '[...takes, ...moving]',
      },
      {
        name: 'a call moves twice',
        from: ' || !may_move) {',
        to: ') {',
      },
    ],
  },
  {
    path: 'src/inference/limits/redis-script.ts',
    tests: REDIS,
    mutants: [
      {
        name: 'calls whose lease ended count on',
        from: "    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)\n",
        to: '',
      },
      {
        name: 'a soft limit refuses calls',
        from: "if ARGV[4 * i + 2] ~= '1' then return",
        to: 'if true then return',
      },
      {
        name: 'a soft limit says nothing',
        from: '    table.insert(answer, i)\n    table.insert(answer, ms)\n',
        to: '',
      },
      {
        name: 'what was forgotten counts on',
        from: '      sum = sum - taken\n    end\n    from = from + 1',
        to: '    end\n    from = from + 1',
      },
      {
        name: 'what a call gave back counts on',
        from: "redis.call('HINCRBY', key, 'sum', whole(corrected - taken))",
        to: '',
      },
      {
        name: 'one call more runs at the same time',
        from: "redis.call('ZCARD', key) >= limit",
        to: "redis.call('ZCARD', key) > limit",
      },
    ],
  },
];
