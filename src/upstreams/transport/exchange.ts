import { WeirError } from '../../errors/weir-error.ts';
import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';
import {
  type AnswerBytes,
  type AnswerCount,
  type CallSignal,
  RetryableUpstreamError,
  TerminalUpstreamError,
  type UpstreamCall,
  type UpstreamTarget,
} from '../contract.ts';
import { MAX_ANSWER_BYTES, MAX_ERROR_BYTES, readText, tooLargeError } from './bounded-body.ts';
import { httpClientFor } from './clients.ts';
import { redact } from './credentials.ts';
import { unwatch, type Watched, watch } from './deadlines.ts';
import type { EncodedBody, HttpRequest, HttpResponse, SentRequest } from './http.ts';
import { encodeForm, jsonBody } from './request-body.ts';
import { inTurn } from './turns.ts';

/**
 * Requests with more characters or bytes are sent one after the other: an edited text of this size
 * is copied before it is sent, which takes milliseconds.
 */
const MAX_UNITS_AT_ONCE = 1024 * 1024;

/** Headers of a request, without the content type. */
type CallHeaders = Readonly<Record<string, string>>;

/** The parts of a call that an exchange uses. */
export interface ExchangeCall {
  readonly target: Pick<UpstreamTarget, 'timeout_ms' | 'stall_timeout_ms' | 'transport'> &
    Partial<Pick<UpstreamTarget, 'api_key'>>;
  /** Aborted when the client leaves or the call's deadline passes. */
  readonly signal: CallSignal;
  /** Counts the bytes of an answer that is read whole. */
  readonly bytes?: AnswerBytes | undefined;
}

/** A request. A form with files is encoded when the request is sent. */
export interface ExchangeRequest extends Omit<HttpRequest, 'body'> {
  readonly body?: EncodedBody | FormData | undefined;
}

/**
 * One HTTP request to an upstream and its response. The exchange is aborted at its deadline, or
 * when the client leaves.
 *
 * An upstream's error text may quote the credentials that the upstream received, and Weir writes
 * this text to logs. So the exchange removes the credentials from the text (see `redact`).
 *
 * The clock runs only while Weir waits for the upstream, so that a slow client does not count as a
 * slow upstream (P9). Each read of a stream sets a new deadline.
 */
export class Exchange implements Watched {
  /**
   * The deadline as a value of `performance.now()`, ms. It is infinite while the clock is stopped.
   */
  private deadline_ms: number;
  private hasTimedOut = false;
  private isClosed = false;
  private isComplete = false;
  private attached: HttpResponse | undefined;
  /** The request that was sent; kept so that the exchange can abort it. */
  private request: SentRequest | undefined;
  private sent_headers: HttpRequest['headers'] = {};
  /** Longest wait for the next bytes, ms. */
  private timeout_ms: number;

  constructor(private readonly call: ExchangeCall) {
    const { timeout_ms } = call.target;
    this.timeout_ms = timeout_ms;
    this.deadline_ms = performance.now() + timeout_ms;
    watch(this);
  }

  /** The attached response. Throws if `attach` was not called before. */
  get response(): HttpResponse {
    if (!this.attached) throw new Error('the exchange has no response yet');
    return this.attached;
  }

  /**
   * Sends a request with the target's HTTP client and resolves after the head of the response. If
   * it throws or rejects, `toUpstreamError` turns the error into an upstream error.
   */
  send(request: ExchangeRequest): Promise<HttpResponse> {
    const { body } = request;
    if (body instanceof FormData)
      return encodeForm(body).then((encoded) => this.sendEncoded({ ...request, body: encoded }));
    const send = () => this.sendEncoded(request as HttpRequest);
    if (!body || body.content.length <= MAX_UNITS_AT_ONCE) return send();
    // The wait for a turn does not count as time of the upstream (P9).
    this.stopClock();
    return inTurn(() => {
      this.startClock();
      return send();
    });
  }

  private sendEncoded(request: HttpRequest): Promise<HttpResponse> {
    const { signal, target } = this.call;
    if (signal.aborted) throw signal.reason;
    if (this.hasTimedOut) throw new Error('the deadline passed before the request was sent');
    this.sent_headers = request.headers;
    this.request = httpClientFor(target)(request);
    return this.request.response;
  }

  /** Sets the response whose body is read later. */
  attach(response: HttpResponse): void {
    this.attached = response;
  }

  /** Starts the clock: Weir waits for the upstream. */
  startClock(): void {
    this.deadline_ms = performance.now() + this.timeout_ms;
  }

  /**
   * Uses the channel's stall timeout, if it has one, for all later waits. Called when the answer
   * has started.
   */
  useStallTimeout(): void {
    this.timeout_ms = this.call.target.stall_timeout_ms ?? this.timeout_ms;
  }

  /** Stops the clock: Weir waits for the client. */
  stopClock(): void {
    this.deadline_ms = Number.POSITIVE_INFINITY;
  }

  /** Marks the answer as read to its end, so that `close` does not abort the request. */
  markComplete(): void {
    this.isComplete = true;
  }

  /** Ends the exchange. If the answer is not complete, aborts the request. */
  close(): void {
    this.isClosed = true;
    unwatch(this);
    if (!this.isComplete) this.request?.abort();
  }

  /** Returns the count of an answer that is read whole; undefined if nothing is counted. */
  countAnswer(): AnswerCount | undefined {
    return this.call.bytes?.countAnswer();
  }

  /** Returns the text without the credentials that the upstream received. */
  redact(text: string): string {
    return redact(text, this.call.target.api_key ?? '', this.sent_headers);
  }

  /** Returns an upstream error without the credentials that the upstream received. */
  withoutCredentials(error: unknown): unknown {
    if (error instanceof RetryableUpstreamError) {
      const { failure, message } = error;
      const redacted = this.redact(message);
      if (redacted === message) return error;
      // A new error, because the stack of the old one has the message too.
      const { retry_after_ms, status, fault, error_id } = error;
      return new RetryableUpstreamError(failure, redacted, {
        // The public message is shorter. A credential that was cut would not be found in it.
        ...{ retry_after_ms, status, fault, error_id },
      });
    }
    if (!(error instanceof TerminalUpstreamError)) return error;
    const { error_id, public_message, param, status, details } = error;
    const redacted = this.redact(public_message);
    const redacted_param = param === null ? null : this.redact(param);
    if (redacted === public_message && redacted_param === param) return error;
    return new TerminalUpstreamError(error_id, redacted, redacted_param, status, { details });
  }

  /**
   * Converts an error of sending or reading. If the client left or the call's deadline passed,
   * returns the signal's reason. Otherwise returns an upstream error without credentials.
   */
  toUpstreamError(error: unknown): unknown {
    const { signal } = this.call;
    if (signal.aborted) return signal.reason;
    if (this.hasTimedOut) {
      return new RetryableUpstreamError('timeout', 'the upstream did not answer in time');
    }
    // Weir itself has no room for the answer, so this is not a failure of the upstream.
    if (error instanceof WeirError) return error;
    if (error instanceof Error && error.name.endsWith('UpstreamError')) {
      return this.withoutCredentials(error);
    }
    const message = this.redact(`the connection broke: ${String(error)}`);
    return new RetryableUpstreamError('connection', message);
  }

  /**
   * Aborts the request if the client left or the deadline passed. Returns false if the exchange has
   * ended and need not be checked again.
   */
  check(now: number): boolean {
    if (this.isClosed) return false;
    this.hasTimedOut = now >= this.deadline_ms;
    if (!this.hasTimedOut && !this.call.signal.aborted) return true;
    this.request?.abort();
    return false;
  }
}

/** Joins a base URL, with or without a slash at its end, and a path. */
export function joinUrl(base_url: string, path: string): string {
  return (base_url.endsWith('/') ? base_url.slice(0, -1) : base_url) + path;
}

/** The status and headers of a response. */
export type ResponseHead = Pick<HttpResponse, 'ok' | 'status' | 'headers'>;

/**
 * Returns the request that POSTs JSON text, or a form with files, to a path below the target's base
 * URL.
 */
export function postOf(
  { target }: Pick<UpstreamCall, 'target'>,
  path: string,
  headers: CallHeaders,
  content: string | FormData,
): ExchangeRequest {
  const url = joinUrl(target.base_url, path);
  const body = typeof content === 'string' ? jsonBody(content) : content;
  return { method: 'POST', url, headers, body, pool: 'calls', may_repeat: true };
}

/**
 * Sends a request, reads the whole response of any status, and returns the result of `parse`.
 * `parse` must check the status. It may return the promise of another request instead. Throws
 * RetryableUpstreamError, e.g. if a good answer has more than `max_bytes`, the signal's reason, or an
 * error of `parse`.
 */
export async function requestWhole<Result>(
  call: ExchangeCall,
  request: ExchangeRequest,
  parse: (head: ResponseHead, text: string) => Result | Promise<Result>,
  max_bytes = MAX_ANSWER_BYTES,
): Promise<Result> {
  const exchange = new Exchange(call);
  const counted = exchange.countAnswer();
  let response: HttpResponse;
  let text: string;
  try {
    response = await exchange.send(request);
    text = await readText(response, response.ok ? max_bytes : MAX_ERROR_BYTES, counted);
    exchange.markComplete();
  } catch (error) {
    counted?.drop();
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
  try {
    const result = parse(response, response.ok ? text : exchange.redact(text));
    // Another request counts its own answer.
    if (result instanceof Promise) counted?.drop();
    return result;
  } catch (error) {
    counted?.drop();
    throw exchange.withoutCredentials(error);
  }
}

/**
 * Reads the attached error response, at most `max_bytes`, and ends the exchange. Returns the error
 * that `toError` creates from the response's text, without credentials. Throws an upstream error if
 * the response cannot be read.
 */
export async function readFailure(
  exchange: Exchange,
  toError: (text: string) => unknown,
  max_bytes = MAX_ANSWER_BYTES,
): Promise<unknown> {
  const counted = exchange.countAnswer();
  let text: string;
  try {
    text = await readText(exchange.response, max_bytes, counted);
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
    counted?.drop();
  }
  return exchange.withoutCredentials(toError(exchange.redact(text)));
}

/**
 * Yields the bytes of the exchange's response as they arrive, and ends the exchange. Throws an
 * upstream error if the response breaks off or is longer than `max_bytes`.
 */
export async function* readChunks(
  exchange: Exchange,
  max_bytes = MAX_ANSWER_BYTES,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    const reader = exchange.response.body?.getReader();
    while (reader) {
      exchange.startClock();
      const { done, value } = await reader.read();
      exchange.stopClock();
      if (done) break;
      bytes += value.byteLength;
      if (bytes > max_bytes) throw tooLargeError();
      yield value;
    }
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

/**
 * Parses an upstream's JSON object. Big integers keep their digits (see `parseExact`). Throws RetryableUpstreamError `malformed` if the text is not a
 * JSON object.
 */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value = parseExact(text);
    if (isObject(value)) return value;
  } catch {
    // Text that is not JSON gets the same error as JSON that is not an object.
  }
  throw new RetryableUpstreamError('malformed', 'the upstream did not send a JSON object');
}
