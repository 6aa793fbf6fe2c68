import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import { type Watched, watch } from './deadlines.ts';
import { post } from './http1/post.ts';
import type { HttpResponse } from './http1/response.ts';

/** The most bytes of an answer's body. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** The most bytes of an error response's body. Such bodies contain only a message. */
export const MAX_ERROR_BYTES = 1024 * 1024;

/** Headers of a request, without the content type. */
type CallHeaders = Readonly<Record<string, string>>;

/** True if a proxy is configured. Only `fetch` supports proxies. */
const HAS_PROXY = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some(
  (name) => process.env[name],
);

/**
 * One HTTP exchange with an upstream. It is aborted at its deadline, or when the client leaves.
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
  /** The request that was sent. The exchange needs it to abort the request. */
  private request: { abort(): void } | undefined;
  /** Longest wait for the next bytes, ms. */
  private timeout_ms: number;

  constructor(private readonly call: UpstreamCall) {
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
   * POSTs the request and resolves after the head of the response. If it rejects, `toUpstreamError`
   * turns the error into an upstream error.
   */
  send(path: string, headers: CallHeaders, body: string | FormData): Promise<HttpResponse> {
    const { signal } = this.call;
    if (signal.aborted) throw signal.reason;
    const url = joinUrl(this.call.target.base_url, path);
    if (typeof body !== 'string' || HAS_PROXY) return this.sendWithFetch(url, headers, body);
    const posted = post(url, headers, body);
    this.request = posted;
    return posted.response;
  }

  /**
   * Sends the request with `fetch`. Used for multipart forms, and for all requests if a
   * proxy is configured.
   */
  private sendWithFetch(
    url: string,
    headers: CallHeaders,
    body: string | FormData,
  ): Promise<HttpResponse> {
    const controller = new AbortController();
    this.request = controller;
    return fetch(url, {
      method: 'POST',
      headers:
        typeof body === 'string' ? { 'content-type': 'application/json', ...headers } : headers,
      body,
      signal: controller.signal,
      // A redirect would send the channel's key to another host.
      redirect: 'manual',
      // The channel's timeout replaces Bun's default of five minutes.
      timeout: false,
    });
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
   * Uses the channel's stall timeout, if it has one, for all later waits. Called when the answer has
   * started.
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

  /** Ends the exchange. Aborts the request unless the answer is complete. */
  close(): void {
    this.isClosed = true;
    if (!this.isComplete) this.request?.abort();
  }

  /**
   * Converts an error of sending or reading. If the client left, returns the signal's reason,
   * otherwise an upstream error.
   */
  toUpstreamError(error: unknown): unknown {
    const { signal } = this.call;
    if (signal.aborted) return signal.reason;
    if (this.hasTimedOut) {
      return new RetryableUpstreamError('timeout', 'the upstream did not answer in time');
    }
    if (error instanceof Error && error.name.endsWith('UpstreamError')) return error;
    return new RetryableUpstreamError('connection', `the connection broke: ${String(error)}`);
  }

  /**
   * Aborts the request if the client left or the deadline passed. Returns false if the wait is
   * over.
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
 * POSTs a request, reads the whole response of any status, and returns the result of `parse`.
 * `parse` must check the status. Throws RetryableUpstreamError, the signal's reason, or an error of
 * `parse`.
 */
export async function requestWhole<Result>(
  call: UpstreamCall,
  path: string,
  headers: CallHeaders,
  body: string | FormData,
  parse: (head: ResponseHead, text: string) => Result,
): Promise<Result> {
  const exchange = new Exchange(call);
  let response: HttpResponse;
  let text: string;
  try {
    response = await exchange.send(path, headers, body);
    text = await readText(response, response.ok ? MAX_ANSWER_BYTES : MAX_ERROR_BYTES);
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
  return parse(response, text);
}

/**
 * Reads the whole attached response, at most `max_bytes`, and ends the exchange. Throws an upstream
 * error.
 */
export async function readAll(exchange: Exchange, max_bytes = MAX_ANSWER_BYTES): Promise<string> {
  try {
    const text = await readText(exchange.response, max_bytes);
    exchange.markComplete();
    return text;
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

/**
 * Yields the bytes of the attached response as they arrive, at most `max_bytes`. Throws as
 * `readAll`.
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

function readText(response: HttpResponse, max_bytes: number): Promise<string> {
  const { headers } = response;
  const content_length = headers.get('content-length');
  // If the body is compressed, `Content-Length` counts compressed bytes, so the text can be longer.
  if (content_length === null || headers.has('content-encoding'))
    return readBounded(response, max_bytes);
  if (Number(content_length) > max_bytes) throw tooLargeError();
  return response.text();
}

async function readBounded({ body }: HttpResponse, max_bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > max_bytes) throw tooLargeError();
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

function tooLargeError(): RetryableUpstreamError {
  return new RetryableUpstreamError('malformed', 'the answer is too large');
}

/**
 * Parses an upstream's JSON object. Throws RetryableUpstreamError `malformed` if the text is not a
 * JSON object.
 */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Throws the same error as for JSON that is not an object.
  }
  throw new RetryableUpstreamError('malformed', 'the upstream did not send a JSON object');
}
