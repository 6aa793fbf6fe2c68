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

/** Returns what the directive `record` keeps of a request. */
export function recordedRequest(request: Request, body: unknown): RecordedRequest {
  const { pathname, search } = new URL(request.url);
  return { path: pathname + search, headers: Object.fromEntries(request.headers), body };
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
   * Returns only calls after the call with this id. If the id is not in the books, returns all
   * calls.
   */
  since?: string;
}

const KEPT_CALLS = 500_000;

/** A call with its place in the order of all calls. */
interface Entry {
  readonly number: number;
  readonly call: Call;
}

/**
 * Keeps the newest `kept_calls` calls of each account, so that a busy account cannot push out the
 * calls of another. Lists them with the oldest first.
 */
export class Books {
  readonly #accounts = new Map<string, Ring>();
  #opened = 0;

  constructor(readonly kept_calls = KEPT_CALLS) {}

  /** The number of calls that newer calls have replaced since the last `take` or `clear`. */
  forgotten(account?: string): number {
    return this.#rings(account).reduce((sum, { replaced }) => sum + replaced, 0);
  }

  open(call: Call): void {
    const ring = this.#accounts.get(call.account) ?? new Ring(this.kept_calls);
    this.#accounts.set(call.account, ring);
    this.#opened += 1;
    ring.push({ number: this.#opened, call });
  }

  list({ account, since }: BookFilter): Call[] {
    const entries = this.#rings(account).flatMap((ring) => ring.entries());
    const calls = entries.sort((a, b) => a.number - b.number).map(({ call }) => call);
    const after = since === undefined ? 0 : calls.findLastIndex(({ id }) => id === since) + 1;
    return calls.slice(after);
  }

  /**
   * Removes and returns the calls that have ended, and resets the count of forgotten calls. A
   * running call stays in the books, so that a later `take` returns it.
   */
  take(account?: string): { calls: Call[]; forgotten: number } {
    const hasEnded = ({ outcome }: Call) => outcome !== 'running';
    const taken = {
      calls: this.list(account === undefined ? {} : { account }).filter(hasEnded),
      forgotten: this.forgotten(account),
    };
    for (const ring of this.#rings(account)) ring.remove(({ call }) => hasEnded(call));
    return taken;
  }

  clear(): void {
    this.#accounts.clear();
  }

  #rings(account: string | undefined): Ring[] {
    if (account === undefined) return [...this.#accounts.values()];
    const ring = this.#accounts.get(account);
    return ring === undefined ? [] : [ring];
  }
}

/** The newest entries of one account. */
class Ring {
  #entries: Entry[] = [];
  /** Index of the oldest entry once the list is full. The next new entry replaces it. */
  #next = 0;
  /** The number of replaced entries. */
  replaced = 0;

  constructor(readonly size: number) {}

  push(entry: Entry): void {
    if (this.#entries.length < this.size) {
      this.#entries.push(entry);
      return;
    }
    this.replaced += 1;
    this.#entries[this.#next] = entry;
    this.#next = (this.#next + 1) % this.size;
  }

  /** The entries, with the oldest first. */
  entries(): Entry[] {
    return [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)];
  }

  remove(isRemoved: (entry: Entry) => boolean): void {
    this.#entries = this.entries().filter((entry) => !isRemoved(entry));
    this.#next = 0;
    this.replaced = 0;
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
