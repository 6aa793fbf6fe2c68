import type { Answer, ParsedRequest } from './answer.ts';
import type { Directives } from './directives.ts';
import type { Emission } from './event-stream.ts';

/** An error with a provider's message, rendered in the provider's envelope. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    /** The parameter. Only OpenAI's errors have one. */
    readonly param: string | null = null,
    /** The code. Only OpenAI's errors have one. */
    readonly code: string | null = null,
    /** Whole seconds for the `Retry-After` header. */
    readonly retry_after?: number,
  ) {
    super(message);
  }
}

/** Tokens of one call. `prompt_tokens` includes both cache counts. */
export interface Usage {
  prompt_tokens: number;
  cached_tokens: number;
  cache_write_tokens: number;
  /** The part of `cache_write_tokens` that is kept for an hour. */
  cache_write_1h_tokens: number;
  completion_tokens: number;
}

/** The data for one response: a request with its answers. */
export interface Reply<Parsed extends ParsedRequest> {
  /**
   * The id of the request, equal to the request-id header. The ids in the body are derived from it.
   */
  request_id: string;
  parsed: Parsed;
  answers: Answer[];
  /** Undefined if the request has the directive `no_usage`. */
  usage: Usage | undefined;
  /** Tokens in one event of a stream. */
  chunk_tokens: number;
}

/**
 * One provider's wire protocol. One folder implements it. `Parsed` is its type of a parsed request.
 */
export interface Protocol<Parsed extends ParsedRequest> {
  readonly name: string;
  /** The largest number of input tokens. */
  readonly context_tokens: number;
  /** The largest size of a request's body. */
  readonly max_body_bytes: number;
  /** The key of a request. @throws {ProviderError} if there is none. */
  keyIn(headers: Headers): string;
  /** Checks all headers except the key. @throws {ProviderError} */
  checkHeaders(headers: Headers): void;
  /** Reads a request. @throws {ProviderError} for what the provider would refuse. */
  read(body: unknown, headers: Headers, account: string): Parsed;
  body(reply: Reply<Parsed>): string;
  events(reply: Reply<Parsed>): Iterator<Emission>;
  /** The headers of every response, errors included. */
  headers(request_id: string, elapsed_ms: number): Record<string, string>;
  errorBody(error: ProviderError, request_id: string): string;
  /** An error as one server-sent event. */
  errorEvent(error: ProviderError, request_id: string): string;
  wrongKey(key: string): ProviderError;
  badJson(): ProviderError;
  bodyTooLarge(): ProviderError;
  tooLong(parsed: Parsed, context_tokens: number): ProviderError;
  /** The provider's error for a status from a directive or a control. */
  errorFor(status: number, directives: Pick<Directives, 'quota' | 'retry_after'>): ProviderError;
}
