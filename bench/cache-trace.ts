/** Replays a trace of repeated questions through Weir, and a herd of identical calls. */
import { until } from '../test/support/until.ts';
import type { RunningWeir } from '../test/support/weir.ts';
import { SimulatorBooks } from './books.ts';
import type { CacheFindings } from './cache-verdict.ts';
import { WEIR_ACCOUNT } from './contenders.ts';
import { expectedOf, zipfTrace } from './zipf.ts';

/** The model of the trace. No other call of the run uses it. */
export const TRACE_MODEL = 'bench-trace';
/** Its price, nano-USD of one token. */
const NANO_USD = { input: 100, output: 400 };
export const TRACE_PRICE = { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.4 };
/** Ten calls for each question that may be asked. */
const CALLS_A_QUESTION = 10;
const SEED = 24;
const LANES = 32;
/** The first call of a herd takes so long, so that the others arrive while it runs, ms. */
const HERD_LATENCY_MS = 1_000;
const NANO_PER_USD = 1e9;

interface Sent {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Sends one question and returns its usage. Throws if the answer is not complete. */
async function ask(
  { base_url, api_key }: RunningWeir,
  model: string,
  content: string,
  stream: boolean,
): Promise<Sent> {
  const response = await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model, messages: [{ role: 'user', content }] },
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    }),
  });
  const text = await response.text();
  const last = stream ? text.slice(text.lastIndexOf('data: {') + 6).split('\n')[0] : text;
  const usage = response.ok ? (JSON.parse(last ?? '') as { usage?: Sent }).usage : undefined;
  if (!usage || (stream && !text.trimEnd().endsWith('[DONE]'))) {
    throw new Error(
      `an answer of the trace is not complete: ${response.status} ${text.slice(0, 200)}`,
    );
  }
  return usage;
}

/** The question with a number. Answers differ in length, so that hits save different amounts. */
const questionOf = (number: number) =>
  `Question ${number}: what is written in chapter ${number}? [[sim tokens=${5 + ((number * 7) % 40)}]]`;

/** Replays the trace, every second call as a stream. Compares Weir's records and the simulator's count. */
export async function replayTrace(
  weir: RunningWeir,
  simulator_url: string,
  calls: number,
): Promise<CacheFindings['trace']> {
  const trace = zipfTrace(calls, Math.ceil(calls / CALLS_A_QUESTION), SEED);
  const costs = new Map<number, number>();
  const upstream = await countingUpstream(simulator_url);
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < trace.length; at = next++) {
      const question = trace[at] ?? 0;
      const usage = await ask(weir, TRACE_MODEL, questionOf(question), at % 2 === 1);
      const { prompt_tokens, completion_tokens } = usage;
      costs.set(question, prompt_tokens * NANO_USD.input + completion_tokens * NANO_USD.output);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const upstream_calls = await upstream();
  const total = (metric: string) => totalOf(weir, metric, `&logicalModel=${TRACE_MODEL}`);
  // Records of calls without a charge are written soon after the call.
  await until('all calls of the trace are on record', async () => {
    return (await total('cache_lookups')) >= calls;
  });
  return {
    expected: expectedOf(trace, costs),
    measured: {
      upstream_calls,
      hits: await total('cache_hits'),
      saved_nano_usd: Math.round((await total('saved')) * NANO_PER_USD),
    },
  };
}

/** Sends identical calls at once. Returns how many calls reached the simulator. */
export async function sendHerd(
  weir: RunningWeir,
  simulator_url: string,
  calls: number,
  stream: boolean,
): Promise<number> {
  const upstream = await countingUpstream(simulator_url);
  const question = `A herd of ${calls} asks this at once: ${stream} [[sim tokens=20 latency_ms=${HERD_LATENCY_MS}]]`;
  await Promise.all(Array.from({ length: calls }, () => ask(weir, TRACE_MODEL, question, stream)));
  return upstream();
}

/** Returns a function that returns how many calls the simulator has got since. */
async function countingUpstream(simulator_url: string): Promise<() => Promise<number>> {
  const before = new SimulatorBooks(simulator_url, WEIR_ACCOUNT);
  await before.collect();
  return async () => {
    const books = new SimulatorBooks(simulator_url, WEIR_ACCOUNT);
    await books.collect();
    return books.work.calls.length + books.work.forgotten;
  };
}

/** Returns the sum of a metric over all calls on record. */
export async function totalOf(weir: RunningWeir, metric: string, more = ''): Promise<number> {
  const answer = await fetch(
    `${weir.base_url}/v1/management/usage/query?metric=${metric}&bucket=none${more}`,
    { headers: { authorization: `Bearer ${weir.management_token}` } },
  );
  const { total } = (await answer.json()) as { total: { value: number | null } };
  return total.value ?? 0;
}
