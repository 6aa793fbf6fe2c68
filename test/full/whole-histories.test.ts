/**
 * P1, P4, P15: random histories of calls, batches, tasks, refunds, repeats, changed limits and kills on
 * two replicas. After each, all that an organization reads of its money is compared to the nano-dollar
 * with the books of the simulated providers, at published prices. Then retention removes the month.
 */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { compareBooks } from '../support/books/compare-books.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import type { Witness } from '../support/books/pairing.ts';
import { type ProviderWork, readProviderWork } from '../support/books/provider-work.ts';
import { fc } from '../support/property.ts';
import { until } from '../support/until.ts';
import { type Expected, expectCharges } from './support/expected-charges.ts';
import {
  type History,
  type HistoryCall,
  HistoryClients,
  history,
} from './support/history-steps.ts';
import { HistoryWorld } from './support/history-world.ts';
import { amountsBy, type Lists, readLists, readSums, type Sums } from './support/public-books.ts';

setDefaultTimeout(240_000);

/** Two histories run at the same time, because they wait for leases most of the time. */
const ROUNDS = 3;
const AT_ONCE = 2;
/** A task of a key without a limit and of a channel without failures, which ends after the restart. */
const LATE = { key: 2, model: 'grok-imagine-video', end: 'completes' } as const;
/** One of three histories kills the replica that removes the month. */
const isKilledRemoving = (number: number) => number % 3 === 1;
/** A charge that was due so long before a kill is committed, and a record of a call without a charge. */
const COMMITTED_MS = 2_000;
const RECORDS_MS = 5_000;
/** Weir refuses so while it cannot read the key of a call. Such a call is not on record. */
const BUSY = 503;
const REPLICAS = 2;
const REST_MS = 60_000;

const drawn = fc.tuple(history, fc.nat(300));

test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
  'P15: round %d: every view agrees with the books of the providers, also after retention',
  (round) =>
    fc.assert(
      fc.asyncProperty(fc.tuple(drawn, drawn), async (pair) => {
        const ends = await Promise.allSettled(
          pair.map(([each, after_ms], index) => {
            const number = round * AT_ONCE + index;
            return runHistory(each, isKilledRemoving(number) ? after_ms : undefined);
          }),
        );
        for (const end of ends) if (end.status === 'rejected') throw end.reason;
      }),
      // A failure prints its seed. A history is not made smaller, because each run takes long. The
      // first run of a property is biased to small values, and here each run is the first.
      { numRuns: 1, endOnFailure: true, unbiased: true },
    ),
);

async function runHistory(taken: History, killed_after_ms: number | undefined): Promise<void> {
  const world = await HistoryWorld.start(taken.seed);
  try {
    const began = new Date();
    const clients = new HistoryClients(world);
    await live(world, clients, taken);
    await rest(world);
    const { expected, sums } = await compareAll(world, clients, taken.seed, began);
    await world.stopReplicas();
    expect(await findMoneyNotAtRest(world.sql, { are_grants_returned: true })).toEqual([]);
    await world.passMonths();
    if (killed_after_ms !== undefined) await world.killWhileRemoving(killed_after_ms);
    await world.startRemoving();
    await compareRemoved(world, expected, sums, monthsSince(began));
  } finally {
    await world.stop();
  }
}

/** Takes all steps. A kill hits the first ones. */
async function live(world: HistoryWorld, clients: HistoryClients, taken: History): Promise<void> {
  world.streams.start(2);
  world.images.start(1);
  const before = clients.takeAll(taken.before);
  await Bun.sleep(taken.kill_after_ms);
  const due_ms = performance.now();
  // A busy machine may answer 503, and ask to try again.
  await until('the late task is accepted', () => clients.createTask({ ...taken.late, ...LATE }));
  await world.killAndRestart(taken.victim, due_ms);
  await before;
  await clients.takeAll(taken.after);
  await Promise.all([world.streams.stop(), world.images.stop()]);
}

/** Waits until nothing runs and no dead replica holds money. */
async function rest(world: HistoryWorld): Promise<void> {
  const busy = async (path: string) => (await world.manage<{ data: unknown[] }>(path)).data.length;
  await until(
    'every task and every batch has ended',
    async () => {
      const open = await Promise.all(
        [
          '/tasks?status=pending',
          '/tasks?status=processing',
          '/batches?status=in_progress',
          '/calls',
        ].map(busy),
      );
      return open.every((count) => count === 0);
    },
    REST_MS,
  );
  await until(
    'the killed replica is declared dead',
    async () => {
      const alive = await world.sql`select from replica where status <> 'dead'`;
      return alive.length === REPLICAS;
    },
    REST_MS,
  );
  // Money that is not at rest then is found when the replicas have stopped. The books say more of it.
  await until(
    'no money is held',
    async () => (await findMoneyNotAtRest(world.sql, { are_grants_returned: false })).length === 0,
  ).catch(() => undefined);
}

/** The months of the history, as `YYYY-MM`. */
function monthsSince(began: Date): string[] {
  return [...new Set([began, new Date()].map((date) => date.toISOString().slice(0, 7)))];
}

async function compareAll(world: HistoryWorld, clients: HistoryClients, seed: number, began: Date) {
  const { sql, simulator } = world;
  const items = await batchItems(world, clients);
  const witnesses = [...clients.calls, ...world.streams.calls, ...items];
  const work = await readProviderWork(simulator.url);
  const options = { simulator_url: simulator.url, sql, seed, work, witnesses, killed: true };
  expect(await compareBooks(options)).toEqual([]);
  const expected = await expectCharges(sql, work, witnesses);
  // A record of a call without a charge is written a moment later.
  await until(
    'the last records',
    async () => {
      const { outcomes } = await readLists(world);
      return [...clients.calls, ...clients.repeats].every(
        (call) =>
          !isAnswered(call) ||
          mayBeCut(world, call, RECORDS_MS) ||
          outcomes.has(call.request_id ?? ''),
      );
    },
    RECORDS_MS,
  ).catch(() => undefined);
  const lists = await readLists(world);
  expect(lists.views).toEqual(expectedLists(expected));
  expect(Object.values(lists.since)).toEqual(Object.values(lists.since).map(() => null));
  await compareOutcomes(lists, world, clients, expected, work);
  const sums = sumsOf(expected, lists.keys);
  expectSums(await readSums(world, monthsSince(began)), sums);
  return { expected, sums };
}

const isAnswered = ({ outcome }: HistoryCall) => outcome === 'whole' || outcome === 'refused';

/** True if a kill may have cut a call, or the record of a call without a charge. */
function mayBeCut(
  { kills }: HistoryWorld,
  { at, began_ms, ended_ms }: HistoryCall,
  committed_ms = COMMITTED_MS,
): boolean {
  return kills.some(
    (kill) => kill.at === at && ended_ms > kill.from_ms - committed_ms && began_ms < kill.until_ms,
  );
}

/** Returns what is known of the items of all batches: each had its own reference. */
async function batchItems(world: HistoryWorld, { batches }: HistoryClients): Promise<Witness[]> {
  const results = await Promise.all(
    batches.map(async ({ id, key }) => {
      const url = `${world.replica(0).base_url}/v1/messages/batches/${id}`;
      const headers = {
        authorization: `Bearer ${world.keys[key]?.key}`,
        'anthropic-version': '2023-06-01',
      };
      const text = await (await fetch(`${url}/results`, { headers })).text();
      return text
        .split('\n')
        .filter(Boolean)
        .map(
          (line) => JSON.parse(line) as { custom_id: string; result: { message?: { id: string } } },
        );
    }),
  );
  return results.flat().flatMap(({ custom_id, result }) =>
    // The id of an answer contains the id of its request.
    result.message
      ? {
          reference: custom_id,
          outcome: 'whole',
          request_id: result.message.id.replace('msg_', ''),
        }
      : [],
  );
}

function expectedLists(expected: ReadonlyMap<string, Expected>): Lists['views'] {
  const prices = Object.fromEntries([...expected].map(([id, { price }]) => [id, price]));
  return {
    ...{ usage: prices, 'usage: list prices': prices },
    ...{ 'usage of keys': prices, 'usage of keys: list prices': prices },
    ...{ requests: prices, csv: prices, ndjson: prices },
  };
}

function sumsOf(expected: ReadonlyMap<string, Expected>, keys: Lists['keys']): Sums {
  const all = [...expected.values()];
  const by = (name: (each: Expected) => string) => amountsBy(all, name, ({ price }) => price);
  const tokens = (name: 'input_tokens' | 'output_tokens') =>
    all.reduce((sum, each) => sum + each[name], 0);
  return {
    total: all.reduce((sum, { price }) => sum + price, 0n),
    requests: all.length,
    tokens: `${tokens('input_tokens')} in, ${tokens('output_tokens')} out`,
    by_model: by(({ model }) => model),
    by_scene: by(({ scene }) => scene),
    by_key: by(({ request_id }) => keys.get(request_id) ?? 'no key'),
  };
}

/** Compares the members that each view shows. */
function expectSums(views: Record<string, Sums>, sums: Sums): void {
  const shown = Object.entries(views).map(([name, view]) => {
    const members = Object.keys(view).map((member) => [
      member,
      member === 'other_groups'
        ? view.other_groups?.map(() => sums.total)
        : sums[member as keyof Sums],
    ]);
    return [name, Object.fromEntries(members)];
  });
  expect(views).toEqual(Object.fromEntries(shown));
}

/** The outcome and the key of each call are those that its client knows. */
async function compareOutcomes(
  { outcomes, keys }: Lists,
  world: HistoryWorld,
  clients: HistoryClients,
  expected: ReadonlyMap<string, Expected>,
  work: ProviderWork,
): Promise<void> {
  const wrong: object[] = [];
  const whole = new Set(
    work.calls.flatMap(({ outcome, reference }) => (outcome === 'whole' ? reference : [])),
  );
  for (const [id, listed] of outcomes) {
    if (listed.length > 1) wrong.push({ id, listed });
  }
  const require = (id: string, allowed: readonly string[], more: object) => {
    const [outcome = 'no record'] = outcomes.get(id) ?? [];
    if (!allowed.includes(outcome))
      wrong.push({ ...more, id, outcome, allowed, kills: world.kills });
  };
  for (const call of clients.calls) {
    const { outcome, request_id: id = '', key_id, left } = call;
    if (outcome === 'whole') require(id, ['completed'], call);
    const isCut = mayBeCut(world, call);
    if (outcome === 'refused' && !mayBeCut(world, call, RECORDS_MS)) {
      const isKnown = call.status !== BUSY;
      require(id, ['refused', 'failed', ...(isKnown ? [] : ['no record'])], call);
    }
    const isEnded = whole.has(call.reference);
    if (left && !isCut) require(id, isEnded ? ['partial', 'completed'] : ['partial'], call);
    if (expected.has(id) && keys.get(id) !== key_id) wrong.push({ call, key: keys.get(id) });
  }
  for (const call of clients.repeats) {
    if (!mayBeCut(world, call, RECORDS_MS)) require(call.request_id ?? '', ['repeated'], call);
  }
  for (const { request_id, status } of world.images.tasks) {
    require(request_id, [status], { status });
  }
  for (const [task_id, { request_id, key_id }] of clients.tasks) {
    const { status } = await world.manage<{ status: string }>(`/tasks/${task_id}`);
    const isPaid = status === 'completed';
    require(request_id, isPaid ? ['completed'] : ['failed', 'refused', 'canceled'], { task_id });
    if (expected.has(request_id) !== isPaid) wrong.push({ task_id, request_id, status });
    if (isPaid && keys.get(request_id) !== key_id) wrong.push({ task_id, request_id, key_id });
  }
  expect(wrong).toEqual([]);
}

/** Waits until the lines are removed. Then the sums are as before, and lists say what they lack. */
async function compareRemoved(
  world: HistoryWorld,
  expected: ReadonlyMap<string, Expected>,
  sums: Sums,
  months: readonly string[],
): Promise<void> {
  expect(expected.size).toBeGreaterThan(0);
  await until('the lines are removed', async () => {
    return (await world.manage<{ total: number }>('/usage')).total === 0;
  });
  expectSums(await readSums(world, months), sums);
  const { views, since } = await readLists(world);
  expect(views).toEqual(Object.fromEntries(Object.keys(views).map((name) => [name, {}])));
  for (const [name, date] of Object.entries(since)) {
    // The first instant of a month after those of the history.
    expect({ name, date }).toEqual({
      name,
      date: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00.000Z$/),
    });
    expect((date ?? '') > (months.at(-1) ?? '')).toBeTrue();
  }
  const { operator_token, base_url } = world.replica(0);
  const books = await fetch(`${base_url}/v1/operator/books`, {
    headers: { authorization: `Bearer ${operator_token}` },
  });
  expect(await books.json()).toMatchObject({
    conservation: { imbalances: 0 },
    ...{
      unowned: { count: 0 },
      open_holds: { count: 0 },
      totals: { difference: { nano_usd: '0' } },
    },
  });
  const { held } = await world.manage<{ held: number }>('/balance');
  expect(held).toBe(0);
}
