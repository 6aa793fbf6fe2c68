import { deliverBody, deliverEvents } from './delivery.ts';
import { type Account, type Accounts, controlledFailure } from './shared/accounts.ts';
import { type Answer, answerTo, type ParsedRequest } from './shared/answer.ts';
import { type Books, type Call, newCall, type Outcome, recordedRequest } from './shared/books.ts';
import { DirectiveError, type Directives, directivesIn } from './shared/directives.ts';
import { type Protocol, ProviderError, type Reply, type Usage } from './shared/protocol.ts';
import { newId } from './shared/random.ts';
import { connectionReset } from './shared/resets.ts';
import { disconnectsWithin } from './shared/waiting.ts';

export interface Simulator {
  readonly accounts: Accounts;
  readonly books: Books;
}

const THROTTLED = 429;
const INTERNAL_ERROR = 500;

/** Thrown if the account's control resets its connections. */
class Unreachable extends Error {}
/** Thrown if the client disconnected before the answer. */
class ClientLeft extends Error {}

/** Runs one call of a text endpoint, from the check of its key to its last byte. */
export async function answerCall<Parsed extends ParsedRequest>(
  simulator: Simulator,
  protocol: Protocol<Parsed>,
  request: Request,
): Promise<Response> {
  const exchange = new Exchange(simulator, protocol, request);
  try {
    return await exchange.answer();
  } catch (error) {
    return exchange.refuse(error);
  }
}

class Exchange<Parsed extends ParsedRequest> {
  readonly #started = performance.now();
  readonly #id = newId('req_');
  #account: Account | undefined;
  /** The number of this call, counted in its account. */
  #nth = 0;
  #call: Call | undefined;

  constructor(
    readonly simulator: Simulator,
    readonly protocol: Protocol<Parsed>,
    readonly request: Request,
  ) {}

  async answer(): Promise<Response> {
    const account = this.#admit();
    const body = await this.#body();
    const parsed = this.protocol.read(body, this.request.headers, account.id);
    const call = this.#open(account.id);
    call.model = parsed.model;
    call.stream = parsed.stream;
    call.client_reference = parsed.client_reference;
    const directives = directivesIn(parsed.last_user_text, account.id);
    if (directives.record === 1) call.request = recordedRequest(this.request, body);
    await this.#wait(directives.latency_ms ?? account.control.latency_ms ?? 0);
    this.#refuseIfRequested(account, directives, parsed);
    return this.#produce(call, parsed, directives);
  }

  /** Returns an error in the provider's format. Unexpected errors go to stderr. */
  refuse(error: unknown): Response {
    if (error instanceof ClientLeft || this.request.signal.aborted) {
      this.#end('aborted', 0);
      return connectionReset();
    }
    const call = this.#call ?? this.#open(this.#account?.id ?? '');
    if (error instanceof Unreachable) {
      call.status = 0;
      this.#end('refused', 0);
      return connectionReset();
    }
    const refusal = this.#providerError(error);
    call.status = refusal.status;
    this.#end('refused', 0);
    const headers = this.#headers();
    headers['content-type'] = 'application/json';
    if (refusal.retry_after !== undefined) headers['retry-after'] = String(refusal.retry_after);
    const body = this.protocol.errorBody(refusal, this.#id);
    return new Response(body, { status: refusal.status, headers });
  }

  #admit(): Account {
    const key = this.protocol.keyIn(this.request.headers);
    const account = this.simulator.accounts.findByKey(key);
    if (account === undefined) throw this.protocol.wrongKey(key);
    this.#account = account;
    account.calls += 1;
    this.#nth = account.calls;
    account.running += 1;
    const { down, revoked, max_concurrency } = account.control;
    if (down) throw new Unreachable();
    if (revoked) throw this.protocol.wrongKey(key);
    if (max_concurrency !== undefined && account.running > max_concurrency) {
      throw this.protocol.errorFor(THROTTLED, account.control);
    }
    this.protocol.checkHeaders(this.request.headers);
    return account;
  }

  async #body(): Promise<unknown> {
    const text = await this.request.text();
    if (Buffer.byteLength(text) > this.protocol.max_body_bytes) throw this.protocol.bodyTooLarge();
    try {
      return JSON.parse(text);
    } catch {
      throw this.protocol.badJson();
    }
  }

  /**
   * @throws {ProviderError} if the account's control, a directive or the prompt's length requires
   * it.
   */
  #refuseIfRequested(account: Account, directives: Directives, parsed: Parsed): void {
    const controlled = controlledFailure(account, this.#nth);
    if (controlled !== undefined) throw this.protocol.errorFor(controlled, account.control);
    if (directives.status !== undefined)
      throw this.protocol.errorFor(directives.status, directives);
    if (directives.error_after !== undefined && !parsed.stream) {
      throw this.protocol.errorFor(INTERNAL_ERROR, {});
    }
    const context_tokens = directives.context_tokens ?? this.protocol.context_tokens;
    if (parsed.prompt_tokens > context_tokens) {
      throw this.protocol.tooLong(parsed, context_tokens);
    }
  }

  async #produce(call: Call, parsed: Parsed, directives: Directives): Promise<Response> {
    const answers: Answer[] = [];
    for (let choice = 0; choice < parsed.choices; choice += 1) {
      answers.push(answerTo(parsed, directives, choice));
    }
    const usage = usageOf(parsed, answers, directives);
    Object.assign(call, usage);
    call.usage_reported = directives.no_usage !== 1;
    if (directives.lose === 1) {
      call.status = 0;
      this.#end('lost', 0);
      return connectionReset();
    }
    if (directives.hang === 1) await this.#wait(Number.POSITIVE_INFINITY);
    const reply: Reply<Parsed> = {
      request_id: this.#id,
      parsed,
      answers,
      usage: directives.no_usage === 1 ? undefined : usage,
      chunk_tokens: Math.max(1, directives.chunk_tokens ?? 1),
    };
    return this.#deliver(reply, directives, usage.completion_tokens);
  }

  #deliver(reply: Reply<Parsed>, directives: Directives, tokens: number): Response {
    const { protocol } = this;
    const ended = (outcome: Outcome, written: number) => {
      this.#end(outcome, outcome === 'whole' ? tokens : written);
    };
    if (!reply.parsed.stream) {
      return deliverBody(protocol.body(reply), tokens, this.#headers(), directives, ended);
    }
    const error_event =
      directives.error_after === undefined
        ? ''
        : protocol.errorEvent(protocol.errorFor(INTERNAL_ERROR, {}), this.#id);
    return deliverEvents(protocol.events(reply), this.#headers(), directives, error_event, ended);
  }

  /** @throws {ClientLeft} as soon as the client disconnects. */
  async #wait(wait_ms: number): Promise<void> {
    if (wait_ms > 0 && (await disconnectsWithin(this.request.signal, wait_ms)))
      throw new ClientLeft();
  }

  #open(account_id: string): Call {
    this.#call = newCall(this.#id, account_id, this.protocol.name);
    this.simulator.books.open(this.#call);
    return this.#call;
  }

  /** Ends the call in the books. If a call ends twice, only the first end counts. */
  #end(outcome: Outcome, delivered_tokens: number): void {
    const call = this.#call;
    if (this.#account !== undefined) this.#account.running -= 1;
    this.#account = undefined;
    if (call === undefined || call.outcome !== 'running') return;
    call.outcome = outcome;
    call.delivered_tokens = delivered_tokens;
    if (outcome === 'aborted') call.aborted_at_ms = this.#elapsedMs();
  }

  #providerError(error: unknown): ProviderError {
    if (error instanceof ProviderError) return error;
    if (error instanceof DirectiveError) {
      return new ProviderError(400, 'invalid_request_error', `Simulator: ${error.message}`);
    }
    console.error(error);
    return this.protocol.errorFor(INTERNAL_ERROR, {});
  }

  #headers(): Record<string, string> {
    return this.protocol.headers(this.#id, this.#elapsedMs());
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#started);
  }
}

function usageOf(parsed: ParsedRequest, answers: Answer[], directives: Directives): Usage {
  const { prompt_tokens } = parsed;
  const cached_tokens = Math.min(directives.cached ?? 0, prompt_tokens);
  const cache_write_tokens = Math.min(directives.cache_write ?? 0, prompt_tokens - cached_tokens);
  let completion_tokens = 0;
  for (const { tokens } of answers) completion_tokens += tokens;
  const cache_write_1h_tokens = Math.min(directives.cache_write_1h ?? 0, cache_write_tokens);
  return {
    ...{ prompt_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens },
    completion_tokens,
  };
}
