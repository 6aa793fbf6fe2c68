import type { MutatedFile } from '../mutant.ts';

const HISTORY = 'test/actors/durable/history.test.ts';
const TIMERS = 'test/actors/durable/timers.test.ts';
const TASKS = 'test/inference/tasks/tasks.test.ts';

export const DURABLE: readonly MutatedFile[] = [
  {
    path: 'src/actors/group-commit.ts',
    tests: ['test/actors/group-commit.test.ts'],
    mutants: [
      {
        name: 'the queue never pauses',
        from: 'if (gather) await',
        to: 'if (false) await',
      },
      {
        name: 'the longer pauses are never taken',
        from: 'gathering.find(',
        to: 'gathering.findLast(',
      },
      {
        name: 'the queue pauses after a small batch',
        from: 'find(({ size }) => batch.length >= size)',
        to: 'at(-1)',
        hangs: true,
      },
    ],
  },
  {
    path: 'src/json/canonical.ts',
    tests: [HISTORY],
    mutants: [{ name: 'keys stay in their order', from: '.sort()', to: '' }],
  },
  {
    path: 'src/replay/step.ts',
    tests: [HISTORY],
    mutants: [
      {
        name: 'the hash leaves out the state',
        from: 'canonicalJson({ value, context })',
        to: 'canonicalJson({ context })',
      },
    ],
  },
  {
    path: 'src/replay/stored-snapshot.ts',
    tests: [HISTORY],
    mutants: [
      {
        name: 'a stored snapshot is not migrated',
        from: 'row.machine_version === version || !migrate',
        to: 'row.machine_version > 0 || !migrate',
      },
    ],
  },
  {
    path: 'src/replay/replay.ts',
    tests: [HISTORY],
    mutants: [
      {
        name: 'a wrong hash is not noticed',
        from: 'logged.context_hash !== null && logged.context_hash !== context_hash',
        to: 'logged.context_hash === null',
      },
      {
        name: 'a missing event is not noticed',
        from: 'if (seq !== expected)',
        to: 'if (seq < expected)',
      },
      {
        name: 'every event is applied by the current machine',
        from: 'if (machine_version === kind.version) return kind;',
        to: 'if (machine_version > 0) return kind;',
      },
    ],
  },
  {
    path: 'src/actors/durable/event-money.ts',
    tests: [HISTORY, TASKS],
    mutants: [
      {
        name: 'the released money is the charged money',
        from: 'released: answer.released',
        to: 'released: answer.charged',
      },
      {
        name: 'a hold leaves no money in the log',
        from: 'return { held: money.amount };',
        to: 'return null;',
      },
    ],
  },
  {
    path: 'src/actors/durable/command-batch.ts',
    tests: [HISTORY, TIMERS],
    mutants: [
      {
        name: 'a firing takes the timer that its batch has set again',
        from: '      removeChangedTimers(step, timers);\n',
        to: '',
      },
      {
        name: 'an actor is in its state since its last event',
        from: 'row.entered ||= topState(state) !== topState(from_state);',
        to: 'row.entered = true;',
      },
      {
        name: 'a created actor belongs to nobody',
        from: 'organization_id: organization_id ?? null,',
        to: 'organization_id: null,',
      },
    ],
  },
  {
    path: 'db/actors/store.ts',
    tests: [TIMERS],
    mutants: [
      {
        name: 'the row of an effect that is done stays',
        from: "delete from outbox using input\n      where outbox.id = input.id and outbox.status = 'pending' and input.status = 'done'",
        to: "update outbox set status = 'done' from input\n      where outbox.id = input.id and outbox.status = 'pending' and input.status = 'done'",
        tests: ['test/actors/durable/durable.test.ts'],
      },
      {
        name: 'the generations of a timer repeat',
        from: 'select kind, actor_id, name, seq, weir_now()',
        to: 'select kind, actor_id, name, 1, weir_now()',
      },
    ],
  },
];
