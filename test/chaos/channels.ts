/**
 * A brown-out: of three channels one turns slow, one fails three calls in ten, one dies and comes back.
 * Clients keep calling; the provider's books say who was asked when.
 */
import type { Call } from '../../simulator/shared/books.ts';
import { startSimulator } from '../support/simulator.ts';
import { startWeir } from '../support/weir.ts';

export interface BrownOutOptions {
  clients: number;
  /** Of the faults, and of the time after them, ms. */
  fault_ms: number;
}

export interface BrownOutReport {
  calls: number;
  succeeded: number;
  /** What clients saw, 0–1. */
  success: number;
  /** From the fault's beginning to the last call but probes, ms, by channel. */
  ejected_ms: Record<string, number>;
  /** From the fault's end to the first call that was answered, ms. */
  readmitted_ms: Record<string, number>;
  /** Calls that began in each round after it was let in again, as long as its answers take. */
  ramp: Record<string, number[]>;
  /** The largest of them beside what slow start allows: 1, then 2, then 4 …; above 1 is a herd. */
  herd: Record<string, number>;
  /** Calls that were sent to a channel while it was at fault. */
  wasted: Record<string, number>;
}

const CHANNELS = ['slow', 'flaky', 'dead', 'well'] as const;
type Channel = (typeof CHANNELS)[number];
const TIMEOUT_MS = 3_000;
/** A usual answer, with its way through Weir; doubling needs a whole one. */
const ROUND_MS = 50;
const ROUNDS = 6;
const CALM_MS = 3_000;
/** Calls of a channel that is ejected are single: probes, farther apart than this. */
const PROBES_APART_MS = 1_000;

export async function runBrownOut(options: BrownOutOptions): Promise<BrownOutReport> {
  const simulator = await startSimulator();
  const channels = CHANNELS.map((id) => ({
    ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
    ...{ timeout_ms: TIMEOUT_MS, max_concurrency: 1_000, models: { 'gpt-4o-mini': 'physical' } },
  }));
  const config = JSON.stringify({ channels, roles: { standard: 10_000_000 } });
  const weir = await startWeir({ config });
  const statuses: number[] = [];
  let stopping = false;
  const messages = [{ role: 'user', content: 'Hello [[sim tokens=5]]' }];
  const client = async () => {
    while (!stopping) {
      const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
      });
      await response.text();
      statuses.push(response.status);
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
    const { calls } = await simulator.books();
    return report(statuses, calls, began, ended);
  } finally {
    stopping = true;
    await weir.stop();
    await simulator.stop();
  }
}

function report(statuses: number[], calls: Call[], began: number, ended: number): BrownOutReport {
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

/** The probe is the first round; what came in each round from then on. */
function ramp(calls: Call[], from: number): number[] {
  return Array.from({ length: ROUNDS }, (_, round) => {
    const start = from + round * ROUND_MS;
    return calls.filter(({ at }) => at >= start && at < start + ROUND_MS).length;
  });
}

/** When the last call came that was not alone: later ones are probes. */
function lastOfCrowd(calls: Call[]): number {
  let last = calls[0]?.at ?? 0;
  for (const [place, call] of calls.entries()) {
    const before = calls[place - 1];
    if (before && call.at - before.at < PROBES_APART_MS) last = call.at;
  }
  return last;
}
