import type { MutatedFile } from '../mutant.ts';

const TESTS = ['test/db/retention/months.test.ts'];
const REPEATS = ['test/db/retention/repeats.test.ts'];

export const RETENTION: readonly MutatedFile[] = [
  {
    path: 'db/retention/close.ts',
    tests: TESTS,
    mutants: [
      {
        name: 'a month is removed before its days are over',
        from: 'first.until <= row.past',
        to: 'first.until <= new Date(row.past.getTime() + 86_400_000)',
      },
      {
        name: 'a row that is in no sum is removed',
        from: 'as entry where not (',
        to: 'as entry where false and not (',
      },
      {
        name: 'a month is removed while money is held since then',
        from: "from hold where status = 'held'",
        to: "from hold where status = 'none'",
      },
      {
        name: 'a month is removed while a task of its time runs',
        from: "from task where status in ('pending', 'processing')",
        to: "from task where status = 'none'",
      },
      {
        name: 'a month is removed while a batch of its time runs',
        from: 'from message_batch where ended_at is null',
        to: 'from message_batch where false',
      },
      {
        name: 'a month is removed while an answer of its time may be kept',
        from: "from kept_answer where state = 'running'",
        to: "from kept_answer where state = 'none'",
      },
      {
        name: 'a month is removed while a transaction writes into it',
        from: 'in share row exclusive mode',
        to: 'in access share mode',
      },
      {
        name: 'the charges of grants and holds are forgotten',
        from: 'having sum(charged_nano_usd) <> 0',
        to: 'having false',
      },
      {
        name: 'a later removal replaces the charges of a grant',
        from: 'charged_nano_usd = closed_payer.charged_nano_usd + excluded.charged_nano_usd',
        to: 'charged_nano_usd = excluded.charged_nano_usd',
      },
      {
        name: 'overruns are forgotten',
        from: 'sum(overrun_nano_usd)::int8, max(at)',
        to: '0, max(at)',
      },
      {
        name: 'the date of lists is the end of the month, whatever was dated later',
        from: ', removed.after_last)',
        to: ')',
      },
      {
        name: 'rows of a removed month can be inserted again',
        tests: REPEATS,
        from: 'add constraint month_is_closed check (false)',
        to: 'add constraint month_is_closed check (true)',
      },
      {
        name: 'a busy reader stops the removal at once',
        from: 'const READER_LOCK_TRIES = 20;',
        to: 'const READER_LOCK_TRIES = 1;',
      },
    ],
  },
  {
    path: 'db/retention/months.ts',
    tests: TESTS,
    mutants: [
      {
        name: 'charges in the default partition stop a month',
        from: ' where id >= ',
        to: ' where false and id >= ',
      },
      {
        name: 'each replica makes the months',
        from: 'return lock?.is_mine ? await change(tx) : undefined;',
        to: 'return await change(tx);',
      },
    ],
  },
  {
    path: 'db/records/refusal.ts',
    tests: REPEATS,
    mutants: [
      {
        name: 'a charge whose month is made meanwhile is lost',
        from: '(constraint === undefined || constraint ===',
        to: '(constraint ===',
      },
    ],
  },
  {
    path: 'src/actors/money/lane.ts',
    tests: REPEATS,
    mutants: [
      {
        name: 'a repeat of a removed charge fails its batch',
        from: '    if (!isOfClosedMonth(error)) throw error;\n',
        to: '    throw error;\n',
      },
    ],
  },
  {
    path: 'db/records/calls.ts',
    tests: REPEATS,
    mutants: [
      {
        name: 'one late record keeps all others from being written',
        from: '    if (!isOfClosedMonth(error)) throw error;\n',
        to: '    throw error;\n',
      },
    ],
  },
  {
    path: 'db/usage/lines.ts',
    tests: TESTS,
    mutants: [
      {
        name: 'pages count removed lines',
        from: 'lines_since ? { ...asked, from: lines_since } : asked',
        to: 'asked',
      },
    ],
  },
  {
    path: 'db/usage/breakdown.ts',
    tests: ['test/http/management/retention.test.ts'],
    mutants: [
      {
        name: 'bills forget what was removed',
        from: 'const request = { filters, as_of,',
        to: 'const request = { filters: { ...filters, from: reader.kept.lines_since ?? filters.from }, as_of,',
      },
    ],
  },
];
