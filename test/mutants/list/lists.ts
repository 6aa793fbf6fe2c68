import type { MutatedFile } from '../mutant.ts';

const PAGES = 'test/db/pages.test.ts';
const CANCEL = 'test/inference/tasks/cancel.test.ts';
const TENANCY = 'test/http/management/tenancy.test.ts';
const BATCHES = 'test/http/management/batches.test.ts';
const OPERATOR = 'test/http/operator/lists.test.ts';
const RECORDER = 'test/actors/channels/transition-recorder.test.ts';

/** The lists of tasks, batches and webhooks; cancel and redelivery; the operator's views. */
export const LISTS: readonly MutatedFile[] = [
  {
    path: 'db/pages.ts',
    tests: [PAGES],
    mutants: [
      {
        name: 'a page begins with the last row of the page before',
        from: 'sql(id)}) <\n',
        to: 'sql(id)}) <=\n',
      },
      {
        name: 'rows of the same time are sorted the other way round',
        from: 'sql(id)} desc limit',
        to: 'sql(id)} asc limit',
      },
      {
        name: 'the end of a time range is inclusive',
        from: 'sql(at)} < ',
        to: 'sql(at)} <= ',
      },
    ],
  },
  {
    path: 'db/tasks/list.ts',
    tests: [TENANCY],
    mutants: [
      {
        name: 'a list has the tasks of all organizations',
        from: 'readPage(sql, sql`organization_id = ',
        to: "readPage(sql, sql`'' <> ",
      },
      {
        name: 'any organization finds a task',
        from: 'sql`where organization_id = ',
        to: "sql`where '' <> ",
      },
    ],
  },
  {
    path: 'db/webhooks/list.ts',
    tests: [TENANCY],
    mutants: [
      {
        name: 'any organization sends a webhook again',
        from: 'organization_id} and task_id = ',
        to: 'organization_id} or task_id = ',
      },
    ],
  },
  {
    path: 'db/batches/items.ts',
    tests: [BATCHES],
    mutants: [
      {
        name: 'the cost of a running batch lacks its items',
        from: 'charged_nano_usd = message_batch.charged_nano_usd + coalesce(',
        to: 'charged_nano_usd = message_batch.charged_nano_usd + 0 * coalesce(',
      },
    ],
  },
  {
    path: 'db/tasks/progress.ts',
    tests: [CANCEL],
    mutants: [
      {
        name: 'a submission begins after the request to cancel',
        from: 'submitted_at is null and cancel_requested_at is null\n',
        to: 'submitted_at is null\n',
      },
      {
        name: 'a request to cancel reaches tasks of other organizations',
        from: 'organization_id}\n      and status in',
        to: 'organization_id} or true\n      and status in',
      },
    ],
  },
  {
    path: 'src/machines/task.ts',
    tests: [CANCEL],
    mutants: [
      {
        name: 'a request to cancel refunds a job that the upstream has',
        from: '            CANCEL_REQUESTED: {\n              actions: [\n',
        to: "            CANCEL_REQUESTED: {\n              target: '#task.refunding',\n              actions: [\n                'recordEnding',\n",
      },
      {
        name: 'a job that is found after the request is not canceled',
        from: "                guard: 'isUnwanted',\n                target: 'waiting',\n                actions: ['recordJob', { type: 'cancel', params: {} }, 'waitToPoll'],",
        to: "                guard: 'isUnwanted',\n                target: 'waiting',\n                actions: ['recordJob', 'waitToPoll'],",
      },
    ],
  },
  {
    path: 'src/actors/channels/transition-recorder.ts',
    tests: [RECORDER],
    mutants: [
      {
        name: 'changes fill the memory while the database is away',
        from: '      this.waiting.shift();\n',
        to: '',
      },
      {
        name: 'a change that could not be stored is lost',
        from: '      await insertTransitions(this.deps.sql, stored);\n      const ids',
        to: '      await insertTransitions(this.deps.sql, stored).catch(() => undefined);\n      const ids',
      },
    ],
  },
  {
    path: 'src/http/operator/books.ts',
    tests: [OPERATOR],
    mutants: [
      {
        name: 'the books hide money without an owner',
        from: 'found: unowned.map(gapOf)',
        to: 'found: []',
      },
    ],
  },
];
