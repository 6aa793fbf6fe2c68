import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, type UpstreamCall } from '../contract.ts';
import { type Watched, watch } from './deadlines.ts';
import { post } from './http1/post.ts';
import type { HttpResponse } from './http1/response.ts';

/** Largest answer that is read whole. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** What is read of an error's body: more is no message. */
export const MAX_ERROR_BYTES = 1024 * 1024;

/** What a protocol says of its calls, beside the type of their body. */
type CallHeaders = Readonly<Record<string, string>>;

/** Only `fetch` knows how to ask by way of a proxy. */
const IS_PROXIED = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].some(
  (name) => process.env[name],
);

/**
 * One HTTP exchange with an upstream: bounded in time, abandoned when the client leaves.
 *
 * The clock runs only while an upstream is waited for: a client that reads slowly must not make its
 * channel look dead (P9). A stream only moves its deadline.
 */
export class Exchange implements Watched {
  /** ms of `performance.now()`; infinite while nobody waits. */
  private deadline: number;
  private timedOut = false;
  private closed = false;
  private atEnd = false;
  private answer: HttpResponse | undefined;
  /** What was sent, to be given up. */
  private sent: { abort(): void } | undefined;
  /** The longest silence from here on, ms. */
  private patience_ms: number;

  constructor(private readonly call: UpstreamCall) {
    const { timeout_ms } = call.target;
    this.patience_ms = timeout_ms;
    this.deadline = performance.now() + timeout_ms;
    watch(this);
  }

  get response(): HttpResponse {
    if (!this.answer) throw new Error('an exchange is used before it was answered');
    return this.answer;
  }

  /** POSTs the request; resolves with the head of its answer. Throws what `explain` explains. */
  send(path: string, headers: CallHeaders, body: string | FormData): Promise<HttpResponse> {
    const { signal } = this.call;
    if (signal.aborted) throw signal.reason;
    const url = joinUrl(this.call.target.base_url, path);
    if (typeof body !== 'string' || IS_PROXIED) return this.fetch(url, headers, body);
    const posted = post(url, headers, body);
    this.sent = posted;
    return posted.answer;
  }

  /** Forms, and everything where a proxy stands in between. */
  private fetch(url: string, headers: CallHeaders, body: string | FormData): Promise<HttpResponse> {
    const controller = new AbortController();
    this.sent = controller;
    return fetch(url, {
      method: 'POST',
      headers:
        typeof body === 'string' ? { 'content-type': 'application/json', ...headers } : headers,
      body,
      signal: controller.signal,
      // An API that redirects is misconfigured, and the key must not travel to another host.
      redirect: 'manual',
      // The deadline of the channel is the one that counts, not Bun's five minutes.
      timeout: false,
    });
  }

  /** The answer has begun, and will be read piece by piece. */
  attach(answer: HttpResponse): void {
    this.answer = answer;
  }

  /** The upstream is waited for from now on. */
  startClock(): void {
    this.deadline = performance.now() + this.patience_ms;
  }

  /** The answer has begun: from now on silence is measured by what a stream may pause. */
  useStallTimeout(): void {
    this.patience_ms = this.call.target.stall_timeout_ms ?? this.patience_ms;
  }

  /** It spoke; who is waited for now is the client. */
  stopClock(): void {
    this.deadline = Number.POSITIVE_INFINITY;
  }

  /** The answer was read to its end: nothing is left to stop. */
  markComplete(): void {
    this.atEnd = true;
  }

  /** Stops the clock and, unless the answer was read to its end, the upstream. */
  close(): void {
    this.closed = true;
    if (!this.atEnd) this.sent?.abort();
  }

  /** What an error while sending or reading means: the client left, or the upstream failed. */
  toUpstreamError(error: unknown): unknown {
    const { signal } = this.call;
    if (signal.aborted) return signal.reason;
    if (this.timedOut) {
      return new RetryableUpstreamError('timeout', 'the upstream did not answer in time');
    }
    const ours = error instanceof Error && error.name.endsWith('UpstreamError');
    if (ours) return error;
    return new RetryableUpstreamError('connection', `the connection broke: ${String(error)}`);
  }

  /** Gives the upstream up when the client has left, or when it was silent for too long. */
  check(now: number): boolean {
    if (this.closed) return false;
    this.timedOut = now >= this.deadline;
    if (!this.timedOut && !this.call.signal.aborted) return true;
    this.sent?.abort();
    return false;
  }
}

/** Where a path of an upstream is. */
export function joinUrl(base_url: string, path: string): string {
  return (base_url.endsWith('/') ? base_url.slice(0, -1) : base_url) + path;
}

/** What stands before the text of an answer. */
export type ResponseHead = Pick<HttpResponse, 'ok' | 'status' | 'headers'>;

/**
 * POSTs a request, reads its answer whole, whatever it says, and gives back what `make` makes of it.
 * Throws RetryableUpstreamError, the signal's reason, or what `make` throws. Most calls are made so.
 */
export async function requestWhole<Made>(
  call: UpstreamCall,
  path: string,
  headers: CallHeaders,
  body: string | FormData,
  make: (head: ResponseHead, text: string) => Made,
): Promise<Made> {
  const exchange = new Exchange(call);
  let answer: HttpResponse;
  let text: string;
  try {
    answer = await exchange.send(path, headers, body);
    text = await textOf(answer, answer.ok ? MAX_ANSWER_BYTES : MAX_ERROR_BYTES);
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
  return make(answer, text);
}

/** Reads an answer whole, at most `max_bytes`, and ends the exchange. */
export async function readAll(exchange: Exchange, max_bytes = MAX_ANSWER_BYTES): Promise<string> {
  try {
    const text = await textOf(exchange.response, max_bytes);
    exchange.markComplete();
    return text;
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

/** Reads an answer as it comes, at most `max_bytes`; the exchange ends with it. Throws as `readAll`. */
export async function* readPieces(
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
      if (bytes > max_bytes) throw tooLarge();
      yield value;
    }
    exchange.markComplete();
  } catch (error) {
    throw exchange.toUpstreamError(error);
  } finally {
    exchange.close();
  }
}

function textOf(answer: HttpResponse, max_bytes: number): Promise<string> {
  const { headers } = answer;
  const announced = headers.get('content-length');
  // What is compressed says nothing of its size.
  if (announced === null || headers.has('content-encoding')) return readBounded(answer, max_bytes);
  if (Number(announced) > max_bytes) throw tooLarge();
  return answer.text();
}

async function readBounded({ body }: HttpResponse, max_bytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (const reader = body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > max_bytes) throw tooLarge();
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge(): RetryableUpstreamError {
  return new RetryableUpstreamError('malformed', 'the answer is too large');
}

/** Parses an upstream's JSON object. Throws RetryableUpstreamError `malformed`. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below: what the upstream sent is of no use to a client.
  }
  throw new RetryableUpstreamError('malformed', 'the upstream sent no JSON object');
}
