/** Keyset pages of all lists: no row twice, none left out, and a far page reads as few rows as the first. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { listBatchPage } from '../../db/batches/list.ts';
import { listTransitions } from '../../db/channels/transitions.ts';
import type { Sql } from '../../db/client.ts';
import type { ListPosition, Page, PageRequest } from '../../db/pages.ts';
import { listAllTasks, listTasks } from '../../db/tasks/list.ts';
import { listDeliveries } from '../../db/webhooks/list.ts';
import { cursorOf, parseCursor } from '../../src/http/management/list-cursor.ts';
import {
  insertBatches,
  insertChanges,
  insertDeliveries,
  insertTasks,
  type ListedRow,
  type Owner,
} from '../support/listed-rows.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { fc } from '../support/property.ts';
import { beginSilent } from '../support/silent-transaction.ts';

setDefaultTimeout(120_000);

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase(15);
  sql = database.sql;
});
afterAll(() => database.drop());

let owners = 0;
async function newOwner(): Promise<Owner> {
  owners += 1;
  const [organization_id, key_id] = [`org_${owners}`, `key_${owners}`];
  await sql`insert into organization (id, name) values (${organization_id}, 'test')`;
  await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${key_id}, ${organization_id}, 'k', ${key_id}, 'sk-')`;
  return { organization_id, key_id };
}

interface List {
  name: string;
  insert(owner: Owner, rows: readonly ListedRow[]): Promise<void>;
  read(owner: Owner, page: PageRequest): Promise<Page<ListPosition>>;
}

const withId = async <Row extends { at_us: number }>(
  page: Promise<Page<Row>>,
  idOf: (row: Row) => string,
): Promise<Page<ListPosition>> => {
  const { rows, has_more } = await page;
  return { rows: rows.map((row) => ({ at_us: row.at_us, id: idOf(row) })), has_more };
};

const LISTS: List[] = [
  {
    name: 'tasks',
    insert: (owner, rows) => insertTasks(sql, owner, rows),
    read: ({ organization_id }, page) =>
      withId(listTasks(sql, organization_id, {}, page), ({ id }) => id),
  },
  {
    name: 'tasks of a key with a status',
    insert: (owner, rows) => insertTasks(sql, owner, rows),
    read: ({ organization_id, key_id }, page) =>
      withId(
        listTasks(sql, organization_id, { api_key_id: key_id, status: 'failed' }, page),
        ({ id }) => id,
      ),
  },
  {
    name: 'tasks for operators',
    insert: (owner, rows) => insertTasks(sql, owner, rows),
    read: ({ organization_id }, page) =>
      withId(listAllTasks(sql, { organization_id }, page), ({ id }) => id),
  },
  {
    name: 'batches',
    insert: (owner, rows) => insertBatches(sql, owner, rows),
    read: ({ organization_id }, page) =>
      withId(listBatchPage(sql, organization_id, {}, page), ({ id }) => id),
  },
  {
    name: 'webhooks',
    insert: (owner, rows) => insertDeliveries(sql, owner, rows),
    read: ({ organization_id }, page) =>
      withId(listDeliveries(sql, organization_id, {}, page), ({ task_id }) => task_id),
  },
  {
    name: 'changes of circuits',
    insert: ({ organization_id }, rows) => insertChanges(sql, organization_id, rows),
    read: ({ organization_id }, page) =>
      withId(listTransitions(sql, organization_id, {}, page), ({ id }) => id),
  },
];

const START_US = Date.UTC(2026, 10, 25) * 1_000;
/** Few different times, so that many rows have the same one. */
const times = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
const rowsAt = (offsets: readonly number[]): ListedRow[] =>
  offsets.map((offset) => ({ id: crypto.randomUUID(), at_us: START_US + offset }));

describe.each(LISTS)('the list of $name', ({ insert, read }) => {
  test('repeats and skips no row while rows are inserted', async () => {
    await fc.assert(
      fc.asyncProperty(
        times,
        fc.array(times, { maxLength: 6 }),
        fc.integer({ min: 1, max: 5 }),
        async (first, later, limit) => {
          const owner = await newOwner();
          const before = rowsAt(first);
          await insert(owner, before);
          // Rows of another owner are never listed.
          await insert(await newOwner(), rowsAt(first));
          const inserted = new Set(before.map(({ id }) => id));
          const seen: ListPosition[] = [];
          const batches = [...later];
          for (let cursor: string | undefined, more = true; more; ) {
            const after = cursor === undefined ? undefined : parseCursor(cursor);
            const { rows, has_more } = await read(owner, { limit, after });
            expect(rows.length).toBeLessThanOrEqual(limit);
            seen.push(...rows);
            const last = rows.at(-1);
            more = has_more && last !== undefined;
            if (last) cursor = cursorOf(last);
            const added = rowsAt(batches.shift() ?? []);
            await insert(owner, added);
            for (const { id } of added) inserted.add(id);
          }
          const ids = seen.map(({ id }) => id);
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids.filter((id) => !inserted.has(id))).toEqual([]);
          expect(before.filter(({ id }) => !ids.includes(id))).toEqual([]);
          const times_us = seen.map(({ at_us }) => at_us);
          expect(times_us).toEqual(times_us.toSorted((a, b) => b - a));
        },
      ),
      { numRuns: 25 },
    );
  });

  test('has the rows of a time range: its begin is inclusive, its end is not', async () => {
    const owner = await newOwner();
    const rows = rowsAt([0, 1_000, 1_999, 2_000, 3_000]);
    await insert(owner, rows);
    const page = await read(owner, {
      limit: 10,
      since: new Date(START_US / 1_000 + 1),
      before: new Date(START_US / 1_000 + 2),
    });
    expect(page.rows.map(({ at_us }) => at_us - START_US)).toEqual([1_999, 1_000]);
  });
});

describe('a far page', () => {
  const ROWS = 120_000;
  /** So few that a busy machine inserts them within the time that a statement may take. */
  const ROWS_AT_ONCE = 10_000;
  const MODELS = 12;
  const LIMIT = 50;
  /** To say if more follow, a page reads one row more than it has. It may also read a few that the filter leaves out. */
  const MAX_READ = 2 * (LIMIT + 1);
  let owner: Owner;

  beforeAll(async () => {
    owner = await newOwner();
    const { organization_id, key_id } = owner;
    // One task in a thousand failed, one in a hundred is of another key, and models differ.
    const other = 'key_of_few';
    await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
      values (${other}, ${organization_id}, 'k', ${other}, 'sk-')`;
    const now = new Date();
    for (let first = 1; first <= ROWS; first += ROWS_AT_ONCE) {
      await sql`
        insert into task (id, organization_id, key_id, request_id, scene, model, status, error_code,
          billing_id, hold_id, hold_nano_usd, submission_key, deadline_at, created_at, ended_at,
          channel_id)
        select 'weir_' || n, ${organization_id},
          case when n % 100 = 0 then ${other} else ${key_id} end, gen_random_uuid(),
          case when n % 50 = 0 then 'video' else 'image' end, 'model-' || n % ${MODELS},
          case when n % 1000 = 0 then 'failed' else 'completed' end,
          case when n % 1000 = 0 then 'upstream_error' end,
          case when n % 1000 <> 0 then gen_random_uuid() end, gen_random_uuid(), 0,
          gen_random_uuid(), now(), ${now} - n * interval '1 second', now(), 'channel-' || n % 20
        from generate_series(${first}::int, ${first + ROWS_AT_ONCE - 1}::int) as n`;
    }
    await sql`analyze task`;
  });

  const FILTERS = [
    {},
    { status: 'failed' as const },
    { status: 'completed' as const },
    { scene: 'video' },
    { model: 'model-3' },
    { api_key_id: 'key_of_few' },
  ];

  /** How many rows of tasks the server reads for a page. */
  function rowsReadBy(read: (sql: Sql) => Promise<unknown>): Promise<number> {
    return beginSilent(sql, async (tx) => {
      // The counts of a session go on from one transaction to the next.
      const readSoFar = async () => {
        const [row] = await tx<{ rows: number }[]>`
          select (seq_tup_read + idx_tup_fetch)::int4 as rows from pg_stat_xact_user_tables
          where relname = 'task'`;
        return row?.rows ?? Number.NaN;
      };
      const before = await readSoFar();
      await read(tx as unknown as Sql);
      return (await readSoFar()) - before;
    });
  }

  /** Skips most of the rows that have the filter, and returns the place after them. */
  async function farPosition(
    all: (page: PageRequest) => Promise<Page<{ at_us: number; id: string }>>,
  ) {
    const far = new Date(Date.now() - ROWS * 0.95 * 1_000);
    const { rows } = await all({ limit: 1, before: far });
    const [row] = rows;
    if (!row) throw new Error('no far row');
    return { at_us: row.at_us, id: row.id };
  }

  test.each(FILTERS)('of tasks with %j reads hardly any other rows', async (filter) => {
    const { organization_id } = owner;
    const after = await farPosition((page) => listTasks(sql, organization_id, filter, page));
    const first = await rowsReadBy((tx) =>
      listTasks(tx, organization_id, filter, { limit: LIMIT }),
    );
    const far = await rowsReadBy((tx) =>
      listTasks(tx, organization_id, filter, { limit: LIMIT, after }),
    );
    expect(first).toBeGreaterThan(LIMIT);
    expect(Math.max(first, far)).toBeLessThanOrEqual(MAX_READ);
  });

  test.each([{}, { channel: 'channel-7' }])(
    'for operators with %j reads hardly any other rows',
    async (filter) => {
      const after = await farPosition((page) => listAllTasks(sql, filter, page));
      const first = await rowsReadBy((tx) => listAllTasks(tx, filter, { limit: LIMIT }));
      const far = await rowsReadBy((tx) => listAllTasks(tx, filter, { limit: LIMIT, after }));
      expect(first).toBeGreaterThan(LIMIT);
      expect(Math.max(first, far)).toBeLessThanOrEqual(MAX_READ);
    },
  );
});
