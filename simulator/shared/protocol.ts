import type { Answer, Question } from './answer.ts';
import type { Directives } from './directives.ts';
import type { Emission } from './event-stream.ts';

/** An error in a provider's own words, to be rendered in its own envelope. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    /** OpenAI only. */
    readonly param: string | null = null,
    /** OpenAI only. */
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
  /** Of those, what is kept for an hour. */
  cache_write_1h_tokens: number;
  completion_tokens: number;
}

/** What there is to render: one answer, or several choices of it. */
export interface Reply<Asked extends Question> {
  /** As in the request-id header; the ids in the body are made from it. */
  request_id: string;
  question: Asked;
  answers: Answer[];
  /** Undefined when the directive `no_usage` says so. */
  usage: Usage | undefined;
  /** Tokens in one event of a stream. */
  chunk_tokens: number;
}

/** One provider's wire protocol; one folder implements it. `Asked` is what it reads from a body. */
export interface Protocol<Asked extends Question> {
  readonly name: string;
  /** Tokens of input that its models take. */
  readonly context_tokens: number;
  /** Of a request's body. */
  readonly max_body_bytes: number;
  /** The key of a request. @throws {ProviderError} when there is none. */
  keyIn(headers: Headers): string;
  /** What a valid key does not excuse. @throws {ProviderError} */
  checkHeaders(headers: Headers): void;
  /** @throws {ProviderError} for what the provider would refuse. */
  read(body: unknown, headers: Headers, account: string): Asked;
  body(reply: Reply<Asked>): string;
  events(reply: Reply<Asked>): Iterator<Emission>;
  /** On every answer, errors included. */
  headers(request_id: string, elapsed_ms: number): Record<string, string>;
  errorBody(error: ProviderError, request_id: string): string;
  /** A whole SSE event. */
  errorEvent(error: ProviderError, request_id: string): string;
  wrongKey(key: string): ProviderError;
  badJson(): ProviderError;
  bodyTooLarge(): ProviderError;
  tooLong(question: Asked, context_tokens: number): ProviderError;
  /** What the provider says with a status that the simulator was told to give. */
  errorFor(status: number, directives: Pick<Directives, 'quota' | 'retry_after'>): ProviderError;
}
