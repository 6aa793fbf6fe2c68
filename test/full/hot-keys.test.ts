/**
 * P1 under load: thousands of calls on few keys. Hundreds of calls are hedged or moved to another
 * channel. The ledger must be the sum of the provider's books, call by call.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Call } from '../../simulator/shared/books.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(180_000);

const HOT_CALLS = 2_944;
const HOT_KEYS = 4;
const AT_ONCE = 64;
/** Number of parallel calls on the unsteady channel. So few that several failures in a row are rare. */
const UNSTEADY_AT_ONCE = 24;
const UNSTEADY_CALLS = 2_400;
/** At least this many calls must be hedged or moved to another channel. */
const MOVED = 600;
/** The most rounds of `UNSTEADY_CALLS`. */
const MAX_ROUNDS = 6;

/** A model whose late calls are hedged. */
const HEDGED = {
  ...{ id: 'hedged', category: 'chat', owned_by: 'us', family: 'openai-chat' },
  ...{ context_window: 100_000, max_output_tokens: 10_000, routing: { hedge: true } },
  price: { input_usd_per_mtok: 2.5, output_usd_per_mtok: 10 },
};
/**
 * Prices of one input token and one output token, in nano-USD. They come from OpenAI's price list
 * and from the declaration above.
 */
const PRICES: Record<string, readonly [number, number]> = {
  'gpt-4o-mini': [150, 600],
  hedged: [2_500, 10_000],
};

let simulator: RunningSimulator;
let database: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const channel = (id: string, model: string, priority: number) => ({
    ...{ id, priority, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
    ...{ max_concurrency: 1_000, models: { [model]: model } },
  });
  const channels = [
    channel('steady', 'gpt-4o-mini', 0),
    ...[channel('first', HEDGED.id, 0), channel('second', HEDGED.id, 1)],
  ];
  weir = await startWeir({
    config: JSON.stringify({ channels, models: [HEDGED], roles: { standard: 10_000_000 } }),
    env: { DATABASE_URL: database.url, WEIR_BOOTSTRAP_BALANCE_USD: '10000' },
  });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
  await database.drop();
});

interface Key {
  id: string;
  key: string;
}

async function newKey(): Promise<Key> {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  return response.json() as Promise<Key>;
}

interface Answered {
  key_id: string;
  model: string;
  /** Identifies the call in the provider's books. */
  reference: string;
  /** Identifies the call in the ledger. */
  request_id: string;
}

async function call(
  key: Key,
  model: string,
  reference: string,
  directive: string,
  stream: boolean,
): Promise<Answered> {
  const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model, stream, user: reference, max_tokens: 100 },
      messages: [{ role: 'user', content: `Tell me of ${reference} ${directive}` }],
    }),
  });
  const text = await response.text();
  expect({ reference, status: response.status, text }).toMatchObject({ status: 200 });
  const request_id = (response.headers.get('x-request-id') ?? '').replace('req_', '');
  return { key_id: key.id, model, reference, request_id };
}

/**
 * Closes the channel's circuit again and again, so that calls try the channel despite its failures.
 */
function mendUntilStopped(id: string) {
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      await fetch(`${weir.base_url}/v1/operator/channels/${id}/enable`, {
        ...{ method: 'POST', headers: { authorization: `Bearer ${weir.operator_token}` } },
      });
      await Bun.sleep(5);
    }
  };
  const running = run();
  return {
    stop() {
      isStopped = true;
      return running;
    },
  };
}

/** Makes `count` calls, `at_once` calls at a time. */
async function inParallel(count: number, at_once: number, make: (n: number) => Promise<Answered>) {
  const answered: Answered[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      answered.push(await make(n));
    }
  };
  await Promise.all(Array.from({ length: at_once }, worker));
  return answered;
}

/**
 * Checks that each answered call has one usage line, with the price of the provider's token counts.
 */
async function expectExact(answered: Answered[], books: Call[]): Promise<void> {
  const { sql } = database;
  const booked = new Map<string, Call[]>();
  for (const book of books) {
    const reference = book.client_reference ?? '';
    booked.set(reference, [...(booked.get(reference) ?? []), book]);
  }
  const lines = await sql<{ id: string; key_id: string; channel_id: string; charged: number }[]>`
    select replace(request_id::text, '-', '') as id, key_id, channel_id, charged_nano_usd as charged
    from usage_line`;
  const charged = new Map(lines.map((line) => [line.id, line]));
  expect(charged.size).toBe(lines.length);
  const sums = new Map<string, number>();
  const wrong: object[] = [];
  for (const { key_id, model, reference, request_id } of answered) {
    const line = charged.get(request_id);
    // Both attempts of a hedge may have an answer. Only the attempt that won is charged.
    const book = booked
      .get(reference)
      ?.find(({ account, outcome }) => account === line?.channel_id && outcome === 'whole');
    const [input, output] = PRICES[model] ?? [0, 0];
    const expected = book ? book.prompt_tokens * input + book.completion_tokens * output : -1;
    if (line?.charged !== expected || line.key_id !== key_id)
      wrong.push({ reference, expected, line });
    sums.set(key_id, (sums.get(key_id) ?? 0) + expected);
  }
  expect(wrong).toEqual([]);
  const keys = await sql<{ id: string; used: number }[]>`
    select key_id as id, sum(charged_nano_usd)::int8 as used from usage_line group by key_id`;
  for (const { id, used } of keys.filter(({ id }) => sums.has(id))) {
    expect({ id, used }).toEqual({ id, used: sums.get(id) ?? Number.NaN });
  }
}

test(`${HOT_CALLS} calls on ${HOT_KEYS} keys: the ledger is the sum of the calls`, async () => {
  const keys = await Promise.all(Array.from({ length: HOT_KEYS }, newKey));
  const answered = await inParallel(HOT_CALLS, AT_ONCE, (n) =>
    call(
      keys[n % HOT_KEYS] as Key,
      'gpt-4o-mini',
      `hot-${n}`,
      `[[sim tokens=${1 + (n % 40)}]]`,
      n % 3 === 0,
    ),
  );
  const { calls } = await simulator.closedBooks({ account: 'steady' });
  expect(calls).toHaveLength(HOT_CALLS);
  await expectExact(answered, calls);
});

/** Number of calls of the hedged model with more than one attempt. */
function movedCalls(calls: readonly Call[]): number {
  const attempts = new Map<string, number>();
  for (const { client_reference, model } of calls) {
    if (model !== HEDGED.id) continue;
    attempts.set(client_reference ?? '', (attempts.get(client_reference ?? '') ?? 0) + 1);
  }
  return [...attempts.values()].filter((count) => count > 1).length;
}

test(`at least ${MOVED} calls are hedged or moved, and each call is charged once`, async () => {
  const keys = await Promise.all(Array.from({ length: HOT_KEYS }, newKey));
  const at = (n: number) => keys[n % HOT_KEYS] as Key;
  // Weir hedges calls of a channel only after it knows the channel's usual time.
  const calm = await inParallel(40, 1, (n) =>
    call(at(n), HEDGED.id, `calm-${n}`, '[[sim tokens=3]]', false),
  );
  // Late calls must be fewer than 5 in 100. Otherwise their time would be the usual time of the
  // channel, and Weir would not hedge them.
  const troubleOf = (n: number) => {
    if (n % 30 === 1) return 'channel=first latency_ms=400';
    return n % 3 === 0 ? 'channel=first status=500' : '';
  };
  const mending = mendUntilStopped('first');
  const answered: Answered[] = [];
  let calls: Call[] = [];
  // How often the failing channel opens depends on the machine, so one round may move too few calls.
  for (let round = 0; round < MAX_ROUNDS && movedCalls(calls) < MOVED; round += 1) {
    const first = round * UNSTEADY_CALLS;
    const more = await inParallel(UNSTEADY_CALLS, UNSTEADY_AT_ONCE, (index) => {
      const n = first + index;
      const directive = `[[sim tokens=${1 + (n % 40)}]] [[sim ${troubleOf(n)}]]`;
      return call(at(n), HEDGED.id, `unsteady-${n}`, directive, Math.floor(n / 30) % 2 === 0);
    });
    answered.push(...more);
    ({ calls } = await simulator.closedBooks());
  }
  await mending.stop();
  const hedged = calls.filter(
    ({ account, outcome }) => account === 'first' && outcome === 'aborted',
  );
  expect(movedCalls(calls)).toBeGreaterThanOrEqual(MOVED);
  expect(hedged.length).toBeGreaterThan(20);
  await expectExact([...calm, ...answered], calls);
});

test('at the end no money is held, and the books balance', async () => {
  const { sql } = database;
  await until('nothing is held', async () => {
    const [row] = await sql<{ held: number }[]>`
      select sum(held_nano_usd)::int8 as held from api_key`;
    return row?.held === 0;
  });
  expect(await findMoneyFaults(sql)).toEqual([]);
});
