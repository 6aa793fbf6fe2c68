/** The channels of asynchronous providers, and the jobs in the simulator. */
import type { RunningSimulator } from '../test/support/simulator.ts';
import type { RunningWeir } from '../test/support/weir.ts';

/** The simulator's account of all jobs. */
const ACCOUNT = 'bench';

const MODELS = [
  ['veo', '/google/v1beta', 'veo-3.1', 'videos'],
  ['kling', '/kling', 'kling-3.0', 'videos'],
  ['ark', '/ark/api/v3', 'seedance-2.0', 'videos'],
  ['suno', '/suno', 'suno_music', 'music'],
] as const;

/** Number of providers. `createTask` uses them in turn. */
export const PROVIDERS = MODELS.length;

/** A job in the simulator's books. */
export interface SimulatedJob {
  id: string;
  /** Time of the submission, in milliseconds since the Unix epoch. */
  began_at: number;
  /** Number of polls so far. */
  polls: number;
}

/** One channel for each provider, for `weir.yaml`. */
export const taskChannels = (simulatorUrl: string) =>
  MODELS.map(([protocol, path, model]) => ({
    id: protocol,
    protocol,
    base_url: simulatorUrl + path,
    api_key: `sim-${ACCOUNT}`,
    max_concurrency: 10_000,
    models: { [model]: `${model}-physical` },
  }));

/**
 * Creates a task whose job takes `task_ms`, at the provider number `at`. Returns its id.
 *
 * @throws if Weir does not accept it.
 */
export async function createTask(weir: RunningWeir, at: number, task_ms: number): Promise<string> {
  const [, , model, route] = MODELS[at % PROVIDERS] as (typeof MODELS)[number];
  const response = await fetch(`${weir.base_url}/v1/${route}/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, prompt: `A lighthouse [[sim task_ms=${task_ms}]]` }),
  });
  const { id } = (await response.json()) as { id?: string };
  if (id === undefined) throw new Error(`Weir created no task: status ${response.status}`);
  return id;
}

/** All jobs that the simulator accepted. */
export async function jobsOf({ url }: RunningSimulator): Promise<SimulatedJob[]> {
  const response = await fetch(`${url}/_sim/jobs?account=${ACCOUNT}`);
  return ((await response.json()) as { jobs: SimulatedJob[] }).jobs;
}

/** The number of polls that the simulator received so far. */
export async function pollCount(simulator: RunningSimulator): Promise<number> {
  return (await jobsOf(simulator)).reduce((sum, { polls }) => sum + polls, 0);
}

/** Returns the polls of each second, for `duration_ms`. */
export async function watchPolls(
  simulator: RunningSimulator,
  duration_ms: number,
): Promise<number[]> {
  const seen: number[] = [];
  let polled = await pollCount(simulator);
  for (let at = 0; at < duration_ms; at += 1_000) {
    await Bun.sleep(1_000);
    const now = await pollCount(simulator);
    seen.push(now - polled);
    polled = now;
  }
  return seen;
}
