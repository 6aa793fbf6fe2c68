/**
 * A partial outage of three channels: one becomes slow, one fails three calls in ten, one dies and recovers.
 * Clients keep calling. The simulator's books record which channel got each call, and when.
 */
import type { Call } from '../../simulator/shared/books.ts';
import { compareBooks } from '../support/books/compare-books.ts';
import { differenceText } from '../support/books/difference.ts';
import { findMoneyNotAtRest } from '../support/books/money-at-rest.ts';
import type { Witness } from '../support/books/pairing.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startSimulator } from '../support/simulator.ts';
import { startWeir } from '../support/weir.ts';

export interface BrownOutOptions {
  clients: number;
  /** Duration of the faults, and of the time after them, in ms. */
  fault_ms: number;
  /** Printed with each difference between the books. */
  seed: number;
}

export interface BrownOutReport {
  calls: number;
  succeeded: number;
  /** Share of successful calls as the clients saw them, 0 to 1. */
  success: number;
  /** Milliseconds from the start of the fault to the last call that was not a probe, by channel. */
  ejected_ms: Record<string, number>;
  /** Milliseconds from the end of the fault to the first answered call, by channel. */
  readmitted_ms: Record<string, number>;
  /** Calls that started in each round after the recovery; a round lasts as long as an answer. */
  ramp: Record<string, number[]>;
  /**
   * The largest ratio of a round's calls to the calls that slow start allows (1, 2, 4 …). A ratio
   * above 1 is a thundering herd.
   */
  herd: Record<string, number>;
  /** Calls to a channel during its fault. */
  wasted: Record<string, number>;
  /** Differences between the books, and money that is still held. The list must be empty. */
  violations: string[];
}

const MODEL = 'gpt-4o-mini';
const CHANNELS = ['slow', 'flaky', 'dead', 'well'] as const;
type Channel = (typeof CHANNELS)[number];
const TIMEOUT_MS = 3_000;
/** Duration of one answer through Weir; slow start doubles only after a complete answer. */
const ROUND_MS = 50;
const ROUNDS = 6;
const CALM_MS = 3_000;
/** Probes of an open channel are at least this far apart. */
const PROBES_APART_MS = 1_000;

export async function runBrownOut(options: BrownOutOptions): Promise<BrownOutReport> {
  const simulator = await startSimulator();
  const channels = CHANNELS.map((id) => ({
    ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
    ...{ timeout_ms: TIMEOUT_MS, max_concurrency: 1_000, models: { [MODEL]: 'physical' } },
  }));
  const config = JSON.stringify({ channels, roles: { standard: 10_000_000 } });
  const database = await createTestDatabase();
  const weir = await startWeir({ config, env: { DATABASE_URL: database.url } });
  const statuses: number[] = [];
  const witnesses: Witness[] = [];
  let stopping = false;
  const messages = [{ role: 'user', content: 'Hello [[sim tokens=5]]' }];
  const client = async () => {
    while (!stopping) {
      const reference = crypto.randomUUID();
      const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${weir.api_key}`,
          'content-type': 'application/json',
          'x-weir-cache-control': 'no_cache',
        },
        body: JSON.stringify({ model: MODEL, messages, user: reference }),
      });
      await response.text();
      statuses.push(response.status);
      witnesses.push({
        ...{ reference, model: MODEL, outcome: response.ok ? 'whole' : 'refused' },
        request_id: response.headers.get('x-request-id')?.replace('req_', ''),
      });
      await Bun.sleep(20);
    }
  };
  try {
    for (const id of CHANNELS) await simulator.setAccount(id, { latency_ms: 50 });
    const clients = Array.from({ length: options.clients }, client);
    await Bun.sleep(CALM_MS);
    const began = Date.now();
    await simulator.setAccount('slow', { latency_ms: 10 * TIMEOUT_MS });
    await simulator.setAccount('flaky', { latency_ms: 50, fail_rate: 0.3 });
    await simulator.setAccount('dead', { down: true });
    await Bun.sleep(options.fault_ms);
    const ended = Date.now();
    for (const id of CHANNELS) await simulator.setAccount(id, { latency_ms: 50 });
    await Bun.sleep(options.fault_ms);
    stopping = true;
    await Promise.all(clients);
    await weir.stop();
    const { calls } = await simulator.closedBooks();
    const { url: simulator_url } = simulator;
    const { sql } = database;
    const { seed } = options;
    const differences = await compareBooks({ simulator_url, sql, seed, witnesses });
    const at_rest = await findMoneyNotAtRest(sql, { are_grants_returned: true });
    const violations = [...differences.map(differenceText), ...at_rest];
    return { ...report(statuses, calls, began, ended), violations };
  } finally {
    stopping = true;
    await weir.stop();
    await simulator.stop();
    await database.drop();
  }
}

function report(
  statuses: number[],
  calls: Call[],
  began: number,
  ended: number,
): Omit<BrownOutReport, 'violations'> {
  const succeeded = statuses.filter((status) => status === 200).length;
  const each = <Value>(of: (channel: Channel) => Value) =>
    Object.fromEntries(CHANNELS.map((channel) => [channel, of(channel)]));
  const callsOf = (channel: Channel) => calls.filter(({ account }) => account === channel);
  const during = (channel: Channel) =>
    callsOf(channel).filter(({ at }) => at >= began && at < ended);
  const back = (channel: Channel) =>
    callsOf(channel).find(({ at, outcome }) => at >= ended && outcome === 'whole')?.at ?? Infinity;
  return {
    calls: statuses.length,
    succeeded,
    success: succeeded / statuses.length,
    ejected_ms: each((channel) => lastOfCrowd(during(channel)) - began),
    readmitted_ms: each((channel) => back(channel) - ended),
    ramp: each((channel) => ramp(callsOf(channel), back(channel))),
    herd: each((channel) => {
      const shares = ramp(callsOf(channel), back(channel)).map((begun, at) => begun / 2 ** at);
      return Math.max(0, ...shares);
    }),
    wasted: each((channel) => during(channel).length),
  };
}

/** Returns the calls in each round from `from` on. The probe is in the first round. */
function ramp(calls: Call[], from: number): number[] {
  return Array.from({ length: ROUNDS }, (_, round) => {
    const start = from + round * ROUND_MS;
    return calls.filter(({ at }) => at >= start && at < start + ROUND_MS).length;
  });
}

/** Returns the time of the last call that was not alone. Later calls are probes. */
function lastOfCrowd(calls: Call[]): number {
  let last = calls[0]?.at ?? 0;
  for (const [place, call] of calls.entries()) {
    const before = calls[place - 1];
    if (before && call.at - before.at < PROBES_APART_MS) last = call.at;
  }
  return last;
}
