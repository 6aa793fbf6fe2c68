import type { MutatedFile } from '../mutant.ts';

const WINDOWS = ['test/actors/money/budget-windows.test.ts'];
const TURN = ['test/actors/money/day-turn.test.ts'];

export const BUDGETS: readonly MutatedFile[] = [
  {
    path: 'db/budgets/calendar.ts',
    tests: ['test/db/budgets/calendar.test.ts'],
    mutants: [
      { name: 'a week begins on Sunday', from: '+ FROM_MONDAY) % 7', to: '+ 0) % 7' },
      { name: 'a month has 32 days', from: 'addDays(start, 31)', to: 'addDays(start, 63)' },
    ],
  },
  {
    path: 'src/actors/money/books.ts',
    tests: WINDOWS,
    mutants: [
      {
        name: 'money that is set aside is not held in windows',
        from: 'window.held_nano_usd += amount;',
        to: 'window.held_nano_usd += 0;',
      },
      {
        name: 'a charge does not count in windows',
        from: '      window.used_nano_usd += counted;\n',
        to: '',
      },
      {
        name: 'a budget of a key counts other keys',
        from: '(budget.key_id === null || budget.key_id === key.id)',
        to: 'true',
      },
    ],
  },
  {
    path: 'db/budgets/windows.ts',
    tests: WINDOWS,
    mutants: [
      {
        name: 'a new window does not count what is held already',
        from: 'coalesce(sum(granted_nano_usd - posted_nano_usd), 0) as held',
        to: '0 as held',
      },
      {
        name: 'a new window does not count the holds that were charged',
        from: 'coalesce(sum(charged_nano_usd + uncharged_nano_usd), 0) as used',
        to: '0 as used',
      },
    ],
  },
  {
    path: 'src/actors/money/grant-commands.ts',
    tests: WINDOWS,
    mutants: [
      {
        name: 'a grant of yesterday gets money for new calls',
        from: '|| !(isOfToday || isInFlight)',
        to: '|| false',
      },
    ],
  },
  {
    path: 'src/actors/money/quota.ts',
    tests: TURN,
    mutants: [
      {
        name: 'a grant is used after its day',
        from: 'this.hasRetired || this.deps.clock.now() >= this.sync.dayEndsAt',
        to: 'this.hasRetired',
      },
      {
        name: 'a call that waits when its day ends is refused',
        from: '      if (error === DAY_ENDED) return actor.reserve(request);\n',
        to: '',
      },
    ],
  },
];
