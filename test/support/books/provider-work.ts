/** What the simulated providers did, from the simulator's books. */
import type { Call, Outcome } from '../../../simulator/shared/books.ts';
import type { JobState } from '../../../simulator/tasks/jobs.ts';
import { until } from '../until.ts';

/** Tokens as usage lines count them: `input_tokens` without the two cache counts. */
export interface LineTokens {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
}

/** A call that a provider answered in whole or in part. */
export interface CallWork {
  readonly type: 'call';
  readonly id: string;
  readonly account: string;
  /** The name of the protocol, e.g. `openai`. */
  readonly protocol: string;
  readonly outcome: Outcome;
  readonly reference: string | null;
  readonly tokens: LineTokens;
  /** Output tokens that the provider wrote to the connection. */
  readonly delivered_tokens: number;
  readonly usage_reported: boolean;
}

/** A job of images, videos, music or sounds that a provider accepted. */
export interface JobWork {
  readonly type: 'job';
  readonly id: string;
  readonly account: string;
  readonly state: JobState;
  /** The idempotency key of the submission, for providers that take one. */
  readonly key: string | null;
  readonly outputs: number;
  /** Length of each output in seconds; undefined for images. */
  readonly seconds: number | undefined;
  readonly tokens: { text_input: number; image_input: number; output: number } | undefined;
  /** True if the connection broke before the provider's answer, by the directive `lose`. */
  readonly lost: boolean;
}

/** The books of the providers, or a part of them. */
export interface ProviderWork {
  calls: CallWork[];
  jobs: JobWork[];
  /** Number of calls that the simulator no longer has. */
  forgotten: number;
}

interface Answer {
  calls: Call[];
  totals: { outcomes: Record<Outcome, number> };
  forgotten: number;
}

interface JobEntry {
  id: string;
  account: string;
  state: JobState;
  key?: string;
  outputs: number;
  duration?: number;
  tokens?: JobWork['tokens'];
}

/**
 * Waits until all calls in the simulator's books have ended, at most `timeout_ms`. Returns them with
 * all jobs. `accounts` limits both to these accounts of the simulator.
 */
export async function readProviderWork(
  simulator_url: string,
  accounts?: readonly string[],
  timeout_ms = 30_000,
): Promise<ProviderWork> {
  await waitForCalls(simulator_url, accounts, timeout_ms);
  const found = await Promise.all(
    queries(accounts).map((query) => json<Answer>(`${simulator_url}/_sim/books?${query}`)),
  );
  const calls = found.flatMap((answer) => answer.calls);
  const lost = new Set(
    calls.flatMap(({ job_id, outcome }) => (outcome === 'lost' && job_id ? [job_id] : [])),
  );
  const { jobs } = await json<{ jobs: JobEntry[] }>(`${simulator_url}/_sim/jobs`);
  const isIncluded = ({ account }: JobEntry) =>
    accounts === undefined || accounts.includes(account);
  return {
    calls: calls.filter(({ job_id }) => job_id === null).map(callWork),
    jobs: jobs.filter(isIncluded).map((job) => jobWork(job, lost)),
    forgotten: found.reduce((sum, { forgotten }) => sum + forgotten, 0),
  };
}

/**
 * Waits as `readProviderWork` does. Then removes the calls of one account from the books and returns
 * them, without jobs. A call that starts later stays in the books for the next time.
 */
export async function takeCalls(
  simulator_url: string,
  account: string,
  timeout_ms = 30_000,
): Promise<ProviderWork> {
  await waitForCalls(simulator_url, [account], timeout_ms);
  const [query] = queries([account]);
  const { calls, forgotten } = await json<Pick<Answer, 'calls' | 'forgotten'>>(
    `${simulator_url}/_sim/books?take=1&${query}`,
    'DELETE',
  );
  const isCall = ({ job_id }: Call) => job_id === null;
  return { calls: calls.filter(isCall).map(callWork), jobs: [], forgotten };
}

async function waitForCalls(
  simulator_url: string,
  accounts: readonly string[] | undefined,
  timeout_ms: number,
): Promise<void> {
  const isAtRest = async () => {
    // The totals are small. All calls are read only once.
    const found = await Promise.all(
      queries(accounts).map((query) =>
        json<Answer>(`${simulator_url}/_sim/books?calls=0&${query}`),
      ),
    );
    return found.every(({ totals }) => totals.outcomes.running === 0);
  };
  // A call that does not end is a difference, not an error.
  await until('every call has ended', isAtRest, timeout_ms).catch(() => undefined);
}

function queries(accounts: readonly string[] | undefined): string[] {
  return accounts?.map((account) => `account=${encodeURIComponent(account)}`) ?? [''];
}

function callWork(call: Call): CallWork {
  const { cached_tokens, cache_write_tokens } = call;
  return {
    type: 'call',
    id: call.id,
    account: call.account,
    protocol: call.protocol,
    outcome: call.outcome,
    reference: call.client_reference,
    tokens: {
      input_tokens: call.prompt_tokens - cached_tokens - cache_write_tokens,
      cached_input_tokens: cached_tokens,
      cache_write_tokens,
      output_tokens: call.completion_tokens,
    },
    delivered_tokens: call.delivered_tokens,
    usage_reported: call.usage_reported,
  };
}

function jobWork(job: JobEntry, lost: ReadonlySet<string>): JobWork {
  return {
    type: 'job',
    id: job.id,
    account: job.account,
    state: job.state,
    key: job.key ?? null,
    outputs: job.outputs,
    seconds: job.duration,
    tokens: job.tokens,
    lost: lost.has(job.id),
  };
}

async function json<Body>(url: string, method = 'GET'): Promise<Body> {
  const response = await fetch(url, { method });
  if (!response.ok) throw new Error(`${response.status} from ${url}`);
  return (await response.json()) as Body;
}
