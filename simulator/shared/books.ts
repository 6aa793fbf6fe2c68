/**
 * How a call ended.
 * - `whole`: the last byte was sent to a connected client
 * - `aborted`: the client disconnected before the end
 * - `truncated`: a directive ended the answer early or made its JSON invalid
 * - `refused`: the client received an error instead of an answer
 * - `lost`: the work was done, and the connection was reset before any answer
 */
export type Outcome = 'running' | 'whole' | 'aborted' | 'truncated' | 'refused' | 'lost';

/** One call in the provider's books. Tokens are counted with `o200k_base`. */
export interface Call {
  /** The id of the call, equal to the response's header `x-request-id` or `request-id`. */
  readonly id: string;
  /** Time of the call, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** The account; empty if the key belongs to no account. */
  readonly account: string;
  readonly protocol: string;
  /** The physical model; empty if the request was refused before it was parsed. */
  model: string;
  stream: boolean;
  /** The response's status; 0 if the connection was reset instead. */
  status: number;
  outcome: Outcome;
  /** All input, including tokens read from and written to the cache. */
  prompt_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  /** Tokens of the full answer, reasoning included, delivered or not. */
  completion_tokens: number;
  /** Tokens written until the end or the abort. */
  delivered_tokens: number;
  /**
   * Milliseconds from the start of the request until the disconnect was noticed; null without a
   * disconnect.
   */
  aborted_at_ms: number | null;
  /** The request's `user` or `metadata.user_id`. */
  client_reference: string | null;
  /** The job that this submission made or repeated; null for all other calls. */
  job_id: string | null;
  /** False if the answer contained no usage, by the directive `no_usage`. */
  usage_reported: boolean;
  /** The recorded request; present if the call has the directive `record`. */
  request?: RecordedRequest;
}

export interface RecordedRequest {
  path: string;
  headers: Record<string, string>;
  body: unknown;
}

export interface Totals {
  calls: number;
  /** Calls by outcome. */
  outcomes: Record<Outcome, number>;
  prompt_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  completion_tokens: number;
  delivered_tokens: number;
}

export interface BookFilter {
  account?: string;
  /**
   * Returns only calls after the call with this id. An id that is not in the books filters nothing.
   */
  since?: string;
}

const KEPT_CALLS = 200_000;

/** Keeps the newest `kept_calls` calls. Lists them with the oldest first. */
export class Books {
  #calls: Call[] = [];
  /** Index of the oldest call once the list is full. The next new call replaces that call. */
  #next = 0;
  #forgotten = 0;

  constructor(readonly kept_calls = KEPT_CALLS) {}

  /** The number of calls that newer calls have replaced since the books were empty. */
  get forgotten(): number {
    return this.#forgotten;
  }

  open(call: Call): void {
    if (this.#calls.length < this.kept_calls) {
      this.#calls.push(call);
      return;
    }
    this.#forgotten += 1;
    this.#calls[this.#next] = call;
    this.#next = (this.#next + 1) % this.kept_calls;
  }

  list(filter: BookFilter): Call[] {
    const calls = [...this.#calls.slice(this.#next), ...this.#calls.slice(0, this.#next)];
    const after =
      filter.since === undefined ? 0 : calls.findLastIndex(({ id }) => id === filter.since) + 1;
    return calls
      .slice(after)
      .filter((call) => filter.account === undefined || call.account === filter.account);
  }

  clear(): void {
    this.#calls = [];
    this.#next = 0;
    this.#forgotten = 0;
  }
}

export function newCall(id: string, account: string, protocol: string): Call {
  return {
    id,
    at: Date.now(),
    account,
    protocol,
    model: '',
    stream: false,
    status: 200,
    outcome: 'running',
    prompt_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    completion_tokens: 0,
    delivered_tokens: 0,
    aborted_at_ms: null,
    client_reference: null,
    job_id: null,
    usage_reported: true,
  };
}

export function totalsOf(calls: readonly Call[]): Totals {
  const totals: Totals = {
    calls: calls.length,
    outcomes: { running: 0, whole: 0, aborted: 0, truncated: 0, refused: 0, lost: 0 },
    prompt_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    completion_tokens: 0,
    delivered_tokens: 0,
  };
  for (const call of calls) {
    totals.outcomes[call.outcome] += 1;
    totals.prompt_tokens += call.prompt_tokens;
    totals.cached_tokens += call.cached_tokens;
    totals.cache_write_tokens += call.cache_write_tokens;
    totals.completion_tokens += call.completion_tokens;
    totals.delivered_tokens += call.delivered_tokens;
  }
  return totals;
}
