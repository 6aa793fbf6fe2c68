import type { MutatedFile } from '../mutant.ts';

const TASK_RECORDS = ['test/http/management/task-records.test.ts'];

export const RECORDS: readonly MutatedFile[] = [
  {
    path: 'src/inference/records/call-records.ts',
    tests: TASK_RECORDS,
    mutants: [
      {
        name: 'a call that created a task has a second record',
        from: ' || record.hasTask) return;',
        to: ') return;',
      },
    ],
  },
  {
    path: 'src/inference/records/call-fault.ts',
    tests: ['test/inference/records/call-fault.test.ts'],
    mutants: [
      {
        name: "the client's own deadline is the provider's fault",
        from: "  if (error instanceof ClientDeadlineError) return 'caller';\n",
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/records/watched-usage.ts',
    tests: ['test/http/management/money-events.test.ts'],
    mutants: [
      {
        name: 'the balance is sent more than once a second',
        from: 'const STATE_EVERY_MS = 900;',
        to: 'const STATE_EVERY_MS = 0;',
      },
      {
        name: 'the first change of a new stream is that of all streams',
        from: 'own.get(stream.knows) ?? (stream',
        to: '(stream',
        tests: ['test/http/management/resumed-streams.test.ts'],
      },
      {
        name: 'keys that did not change are sent again',
        from: '    this.keys = now;\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/tasks/facts.ts',
    tests: TASK_RECORDS,
    mutants: [
      {
        name: 'the time of the job does not count',
        from: 'ended_ms: clamped((reserved_us ?? 0) / US_PER_MS + age_ms)',
        to: 'ended_ms: clamped((reserved_us ?? 0) / US_PER_MS)',
      },
      {
        name: 'the line does not name its task',
        from: 'task_id: id, ...made }',
        to: '...made }',
      },
    ],
  },
  {
    path: 'src/inference/tasks/tasks.ts',
    tests: TASK_RECORDS,
    mutants: [
      {
        name: 'a repeated create call is recorded as a new one',
        from: '    if (earlier !== undefined) request.record?.repeatTask(earlier);\n',
        to: '',
      },
    ],
  },
  {
    path: 'db/tasks/record.ts',
    tests: TASK_RECORDS,
    mutants: [
      {
        name: "a fault of the operator's account is the provider's",
        from: "then 'account'",
        to: "then 'provider'",
      },
    ],
  },
  {
    path: 'db/usage/running-tasks.ts',
    tests: TASK_RECORDS,
    mutants: [
      {
        name: 'a task that just failed is listed as running too',
        from: "and outcome <> 'accepted'",
        to: 'and false',
      },
    ],
  },
  {
    path: 'src/upstreams/pass-through/publish.ts',
    tests: ['test/http/operator/reconciliation.test.ts'],
    mutants: [
      {
        name: 'a client sees what the operator pays',
        from: "  if (prices) edits['usage'] = (usage) => withoutMembers(usage, prices);\n",
        to: '',
      },
      {
        name: 'the client of a stream sees what the operator pays',
        from: '!isKnown || hasPrices || ',
        to: '!isKnown || ',
      },
    ],
  },
  {
    path: 'src/http/operator/bill-formats.ts',
    tests: ['test/http/operator/reconciliation.test.ts'],
    mutants: [
      {
        name: 'cents of a bill count as dollars',
        from: 'nano(amount, NANO_PER_CENT)',
        to: 'nano(amount, NANO_PER_USD)',
      },
      {
        name: 'rows of the same day and model are not added up',
        from: 'exact((row[name] ?? 0) + count)',
        to: 'exact(count)',
      },
    ],
  },
];
