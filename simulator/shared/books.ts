/**
 * What a call came to.
 * - `whole`: the last byte was handed to a client that was still there
 * - `aborted`: the client left first
 * - `truncated`: the simulator cut, broke or failed the answer, as it was told to
 * - `refused`: an error instead of an answer
 * - `lost`: the work was done and nobody was told
 */
export type Outcome = 'running' | 'whole' | 'aborted' | 'truncated' | 'refused' | 'lost';

/** One call, as the provider's own accounting sees it. Tokens by `o200k_base`. */
export interface Call {
  /** As in the answer's `x-request-id` or `request-id`. */
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** Empty when no account has the key. */
  readonly account: string;
  readonly protocol: string;
  /** The physical model; empty when the request was refused before it was read. */
  model: string;
  stream: boolean;
  /** Of the answer; 0 when the connection was reset instead. */
  status: number;
  outcome: Outcome;
  /** All input, the cached and the newly written parts included. */
  prompt_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  /** Of the full answer, reasoning included, whether it was delivered or not. */
  completion_tokens: number;
  /** Written until the end or the abort. */
  delivered_tokens: number;
  /** From the start of the request to the sight of the client's abort; null without one. */
  aborted_at_ms: number | null;
  /** What the request gave as `user` or `metadata.user_id`. */
  client_reference: string | null;
  /** With the directive `record`. */
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
  /** Only calls after the one with this id; an id that is not in the books filters nothing. */
  since?: string;
}

const KEPT_CALLS = 200_000;

/** The last calls, oldest first. */
export class Books {
  #calls: Call[] = [];
  /** Where the next call goes once the ring is full: the oldest's place. */
  #next = 0;

  constructor(readonly kept_calls = KEPT_CALLS) {}

  open(call: Call): void {
    if (this.#calls.length < this.kept_calls) {
      this.#calls.push(call);
      return;
    }
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
