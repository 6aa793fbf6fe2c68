import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { insertBatch, openBatch } from '../../../db/batches/batches.ts';
import { insertItems, postponeItem } from '../../../db/batches/items.ts';
import { bootstrap } from '../../../db/bootstrap.ts';
import { connectDatabase } from '../../../db/client.ts';
import { BatchWorker } from '../../../src/inference/batches/worker.ts';
import { failureOf } from '../../support/failure-of.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

setDefaultTimeout(120_000);

const PAUSES = 2_000;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Stores a batch with one item that is due in an hour, and returns the id of the batch. */
async function storeWaitingBatch(): Promise<string> {
  const { orm, close } = connectDatabase(database.url, { pool: 'single' });
  await bootstrap(orm, { balance_nano_usd: 1 });
  await close();
  const { sql } = database;
  const [key] = await sql<{ id: string; organization_id: string }[]>`
    select id, organization_id from api_key`;
  if (!key) throw new Error('a fresh database has no key');
  const id = 'msgbatch_1';
  await insertBatch(sql, {
    id,
    organization_id: key.organization_id,
    key_id: key.id,
    headers: {},
    program: '',
  });
  const request_id = Bun.randomUUIDv7();
  await insertItems(sql, id, [{ position: 0, custom_id: 'a', params: '{}', request_id }]);
  await sql.begin((tx) => openBatch(tx, id, 1));
  await postponeItem(sql, { batch_id: id, position: 0 }, HOUR_MS);
  return id;
}

/** The listeners of all abort signals that were added and not removed, while `run` runs. */
async function mostListeners(run: () => Promise<void>): Promise<number> {
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const listeners = new Map<EventTarget, Set<unknown>>();
  let most = 0;
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...args) {
    const [type, listener] = args;
    if (this instanceof AbortSignal && type === 'abort') {
      const added = listeners.get(this) ?? new Set();
      listeners.set(this, added.add(listener));
      most = Math.max(most, added.size);
    }
    return addEventListener.apply(this, args);
  };
  EventTarget.prototype.removeEventListener = function (this: EventTarget, ...args) {
    listeners.get(this)?.delete(args[1]);
    return removeEventListener.apply(this, args);
  };
  try {
    await run();
  } finally {
    Object.assign(EventTarget.prototype, { addEventListener, removeEventListener });
  }
  return most;
}

test(`${PAUSES} pauses of a batch leave no listener, and a stop ends a pause at once`, async () => {
  const batch_id = await storeWaitingBatch();
  let pauses = 0;
  const inLastPause = Promise.withResolvers<void>();
  const worker = new BatchWorker({
    sql: database.sql,
    random: Math.random,
    mayRun: () => true,
    call: () => Promise.reject(new Error('no item is due')),
    clock: {
      now: () => 0,
      after(_, callback) {
        pauses += 1;
        if (pauses < PAUSES) queueMicrotask(callback);
        else inLastPause.resolve();
        return () => undefined;
      },
    },
  });
  const most = await mostListeners(async () => {
    const work = failureOf(worker.work(batch_id, new AbortController().signal));
    await inLastPause.promise;
    worker.stop();
    expect(await work).toMatchObject({ message: 'this replica is stopping' });
  });
  expect(pauses).toBeGreaterThanOrEqual(PAUSES);
  expect(most).toBe(1);
});
