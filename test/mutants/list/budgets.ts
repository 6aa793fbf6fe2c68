import type { MutatedFile } from '../mutant.ts';

const WINDOWS = ['test/actors/money/budget-windows.test.ts'];
const TAGS = ['test/actors/money/tag-budgets.test.ts'];
const SOFT = ['test/actors/money/soft-budgets.test.ts'];
const CHAT = ['test/http/soft/chat.test.ts'];
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
    tests: [...SOFT, ...WINDOWS],
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
        name: 'a budget that is used up exactly counts as exceeded',
        from: 'freeIn(each) < amount',
        to: 'freeIn(each) <= amount',
      },
    ],
  },
  {
    path: 'db/budgets/tags.ts',
    tests: [...TAGS, ...WINDOWS],
    mutants: [
      {
        name: 'a budget of a key counts other keys',
        from: 'return budget.key_id === null || budget.key_id === money.key_id;',
        to: 'return true;',
      },
      {
        name: 'a budget of a tag counts calls without it',
        from: 'return hasTag(money.tags, budget.tag_name, budget.tag_value);',
        to: 'return true;',
      },
      {
        name: 'the value of a tag is not compared',
        from: ' && tags[name] === value',
        to: ' && tags[name] !== value',
      },
    ],
  },
  {
    path: 'db/ledger/rows.ts',
    tests: WINDOWS,
    mutants: [
      {
        name: 'a new grant does not count in the budgets of its tags',
        from: 'tags: [...tags, ...locked',
        to: 'tags: [...locked',
      },
    ],
  },
  {
    path: 'src/actors/money/quotas.ts',
    tests: TAGS,
    mutants: [
      {
        name: 'calls with budgeted tags use the grant without tags',
        from: 'tags: tags && this.deps.budgeted?.of(organization_id, tags)',
        to: 'tags: undefined',
      },
      {
        name: 'a key may have any number of sets of tags',
        from: 'if (tags && (this.tagged.get(id) ?? 0) >= MAX_TAG_SETS_OF_KEY) {',
        to: 'if (false) {',
      },
      {
        name: 'a revoked key may make calls with tags',
        from: 'if (actor.key_id === key_id && actor.tags) actor.onKeyChanged(...change);',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/records/call-record.ts',
    tests: ['test/inference/records/call-record.test.ts'],
    mutants: [
      {
        name: 'a client replaces the tags of its key',
        from: '...Object.fromEntries(tags), ...this.tags }',
        to: '...this.tags, ...Object.fromEntries(tags) }',
      },
    ],
  },
  {
    path: 'src/actors/money/budgeted-tags.ts',
    tests: TAGS,
    mutants: [
      {
        name: 'each order of tags is another set',
        from: '.toSorted(([a], [b]) => (a < b ? -1 : 1))',
        to: '',
      },
      {
        name: 'a tag with any value has the budget',
        from: 'names.get(name)?.get(value)',
        to: 'names.get(name)?.values().next().value',
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
        name: 'a new budget of a tag counts calls without it',
        from: 'tag_name === null ? tx',
        to: 'true ? tx',
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
    tests: [...TURN, ...WINDOWS],
    mutants: [
      {
        name: 'a grant of yesterday gets money for new calls',
        from: '|| !(isOfToday || isInFlight)',
        to: '|| false',
      },
    ],
  },
  {
    path: 'src/actors/money/shortage.ts',
    tests: SOFT,
    mutants: [
      {
        name: 'a soft budget makes a call wait until all money is recalled',
        from: 'if (request.recall_seq !== null) return undefined;',
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/money/hold-commands.ts',
    tests: SOFT,
    mutants: [
      {
        name: 'a hold that is not made keeps its money set aside',
        from: '      this.books.setAside(key, counted, -command.amount);\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/machines/grant.ts',
    tests: ['test/machines/grant.test.ts'],
    mutants: [
      {
        name: 'a share is not a whole number',
        from: 'Math.floor(Math.min(free, room) /',
        to: 'Number(Math.min(free, room) /',
      },
      {
        name: 'a soft budget does not shrink grants near its limit',
        from: 'room = Math.min(room, free);',
        to: 'room = Math.max(room, free);',
      },
      {
        name: 'a call beyond a soft budget gets money for the next ones',
        from: '      room = 0;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/money/grant-sync.ts',
    tests: SOFT,
    mutants: [
      {
        name: 'an actor does not learn that a soft budget is reached',
        from: 'this.reached = knownBudgets(answer.reached, sentAt);',
        to: 'this.reached = NONE_KNOWN;',
      },
      {
        name: 'an actor believes after a recall that a budget is spent',
        from: '({ ...each, is_spent: false })',
        to: '({ ...each })',
      },
    ],
  },
  {
    path: 'src/inference/soft/move.ts',
    tests: CHAT,
    mutants: [
      {
        name: 'a call moves to a model that does not cost less',
        from: "  if (!costsLess(found, model)) return 'not_cheaper';\n",
        to: '',
      },
      {
        name: 'a call moves to a model that its key may not call',
        from: "  if (!isCallable(found, key)) return 'not_able';\n",
        to: '',
      },
      {
        name: 'the record of a call that moved does not say so',
        from: '  record?.moveFrom(model.id);\n',
        to: '',
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
