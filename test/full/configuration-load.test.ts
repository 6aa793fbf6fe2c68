/**
 * Channels that operators add, edit, drain and remove under 500 calls a second on three replicas: no
 * call is lost. It prints how long each change took to reach every replica, in ms.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import type { Witness } from '../support/books/pairing.ts';
import { type ChannelRecord, OperatedChannels } from '../support/operated-channels.ts';
import { OperatorClient } from '../support/operator-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(120_000);

const CALLS_A_SECOND = 500;
const TICK_MS = 10;
const REPLICAS = 3;
/** How long each answer takes at the provider, so that every change meets calls in flight. */
const ANSWER_MS = 60;
/** The load goes on so long after each change. */
const CALM_MS = 400;
/** The replicas compile their code in the first seconds of the load. */
const WARM_UP_MS = 3_000;
const MODEL = 'gpt-4o-mini';

let simulator: RunningSimulator;
let database: TestDatabase;
let replicas: RunningWeir[];
beforeAll(async () => {
  [simulator, database] = await Promise.all([startSimulator(), createTestDatabase()]);
  const options = {
    config: JSON.stringify({ roles: { standard: 10_000_000 } }),
    env: {
      ...{ DATABASE_URL: database.url, WEIR_BOOTSTRAP_BALANCE_USD: '10000' },
      WEIR_SECRET_KEY: 'the secret key of all replicas, 32 characters',
    },
  };
  const first = await startWeir(options);
  const others = Array.from({ length: REPLICAS - 1 }, () => startWeir(options));
  replicas = [first, ...(await Promise.all(others))];
});
afterAll(async () => {
  await Promise.all(replicas.map((weir) => weir.stop()));
  await simulator.stop();
  await database.drop();
});

/** Sends calls at a constant rate, whatever the answers do, and notes what each client saw. */
class SteadyLoad {
  readonly witnesses: Witness[] = [];
  readonly failures: string[] = [];
  private readonly running = new Set<Promise<void>>();
  private stopped = false;
  private sent = 0;
  readonly began_ms = performance.now();

  /** Resolves when the load was stopped. */
  readonly ended = this.run();

  /** Calls that were sent in a second, on average. */
  get rate(): number {
    return (this.sent / (performance.now() - this.began_ms)) * 1_000;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.ended;
    await Promise.all(this.running);
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      const due = ((performance.now() - this.began_ms) / 1_000) * CALLS_A_SECOND;
      for (; this.sent < due; this.sent += 1) {
        const weir = replicas[this.sent % REPLICAS] as RunningWeir;
        const call = this.call(weir).finally(() => this.running.delete(call));
        this.running.add(call);
      }
      await Bun.sleep(TICK_MS);
    }
  }

  private async call(weir: RunningWeir): Promise<void> {
    const reference = crypto.randomUUID();
    const messages = [{ role: 'user', content: 'Hello [[sim tokens=5]]' }];
    try {
      const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          ...{ authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
          'x-weir-cache-control': 'no_cache',
        },
        body: JSON.stringify({ model: MODEL, messages, user: reference, max_tokens: 20 }),
      });
      const text = await response.text();
      if (!response.ok) this.failures.push(`${response.status} ${text}`);
      this.witnesses.push({
        ...{ reference, model: MODEL, outcome: response.ok ? 'whole' : 'refused' },
        request_id: response.headers.get('x-request-id')?.replace('req_', ''),
      });
    } catch (error) {
      this.failures.push(String(error));
      this.witnesses.push({ reference, model: MODEL, outcome: 'broken' });
    }
  }
}

const on = (replica: number) => new OperatedChannels(() => replicas[replica] as RunningWeir);

/**
 * Makes a change, waits until each replica shows it, and returns how long the slowest one took after
 * the commit, ms.
 */
async function applied(
  change: () => Promise<unknown>,
  isDone: (channels: readonly ChannelRecord[], replica: number) => boolean | Promise<boolean>,
): Promise<number> {
  await change();
  const committed = performance.now();
  const times = replicas.map(async (_, replica) => {
    await until('the replica has the change', async () => {
      return isDone(await on(replica).list(), replica);
    });
    return performance.now() - committed;
  });
  return Math.round(Math.max(...(await Promise.all(times))));
}

const account = (id: string, more: object = {}) => ({
  ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
  ...{ models: { [MODEL]: 'physical' }, max_concurrency: 2_000, ...more },
});
const find = (channels: readonly ChannelRecord[], id: string) =>
  channels.find((each) => each.id === id);

test('no call is lost while channels are added, edited, drained and removed', async () => {
  for (const id of ['one', 'two', 'three']) {
    await simulator.setAccount(id, { latency_ms: ANSWER_MS });
  }
  const has = (id: string) => (channels: readonly ChannelRecord[]) =>
    find(channels, id) !== undefined;
  await applied(() => on(0).ask('POST', '', account('one')), has('one'));
  const load = new SteadyLoad();
  await Bun.sleep(WARM_UP_MS);
  const routingOn = (replica: number) =>
    new OperatorClient<{ source: string }>('routing', () => replicas[replica] as RunningWeir);
  const took: Record<string, number> = {};
  const step = async (
    name: string,
    change: () => Promise<unknown>,
    isDone: Parameters<typeof applied>[1],
  ) => {
    await Bun.sleep(CALM_MS);
    took[name] = await applied(change, isDone);
  };
  await step('add', () => on(0).ask('POST', '', account('two')), has('two'));
  await step(
    ...(['weigh', () => on(1).ask('PATCH', '/two', { weight: 5 })] as const),
    (channels) => find(channels, 'two')?.weight === 5,
  );
  await step(
    ...(['route', () => routingOn(1).ask('PATCH', `/${MODEL}`, { policy: 'latency' })] as const),
    async (_, replica) => (await routingOn(replica).ask('GET', `/${MODEL}`)).source === 'row',
  );
  const rekeyed = await on(2).ask('GET', '/two');
  await step(
    ...(['new key', () => on(2).ask('PATCH', '/two', { api_key: 'sim-two' })] as const),
    (channels) => find(channels, 'two')?.api_key_changed_at !== rekeyed.api_key_changed_at,
  );
  await step(...(['drain', () => on(1).ask('POST', '/one/drain')] as const), (channels) =>
    ['draining', 'disabled'].includes(find(channels, 'one')?.state ?? ''),
  );
  await until('the calls of the drained channel have ended', async () => {
    const shown = await Promise.all(replicas.map((_, replica) => on(replica).list()));
    return shown.every((channels) => find(channels, 'one')?.state === 'disabled');
  });
  const drained_at = (await simulator.books({ account: 'one' })).totals.calls;
  await step(
    'remove',
    () => on(2).ask('DELETE', '/one'),
    (channels) => !has('one')(channels),
  );
  await step('add a third', () => on(1).ask('POST', '', account('three')), has('three'));
  // A channel that is not drained is removed under its calls.
  await step(
    'remove at once',
    () => on(0).ask('DELETE', '/two'),
    (channels) => !has('two')(channels),
  );
  const [removal] = (
    await new OperatorClient<{ data: { seq: number }[] }>(
      ...(['configuration/changes', () => replicas[0] as RunningWeir] as const),
    ).ask('GET', '?kind=channel&id=two&limit=1')
  ).data;
  const changes = new OperatorClient<object>(
    ...(['configuration/changes', () => replicas[2] as RunningWeir] as const),
  );
  await step('take back', () => changes.ask('POST', `/${removal?.seq}/take-back`), has('two'));
  await Bun.sleep(CALM_MS);
  const { rate } = load;
  await load.stop();
  console.info({ calls: load.witnesses.length, rate: Math.round(rate), took_ms: took });
  expect(load.failures).toEqual([]);
  // Nothing was sent to the drained channel after it had ended.
  expect((await simulator.books({ account: 'one' })).totals.calls).toBe(drained_at);
  const { calls } = await simulator.closedBooks();
  for (const id of ['one', 'two', 'three']) {
    expect(calls.filter((call) => call.account === id).length).toBeGreaterThan(100);
  }
  // Every call was charged once, with the tokens of the provider, and no money is held.
  await Promise.all(replicas.map((weir) => weir.stop()));
  const { url: simulator_url } = simulator;
  const { witnesses } = load;
  const books = { simulator_url, sql: database.sql, seed: 'load', witnesses };
  expect((await compareBooks(books)).map(differenceText)).toEqual([]);
  expect(await findMoneyNotAtRest(database.sql, { are_grants_returned: true })).toEqual([]);
});
