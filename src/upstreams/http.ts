import { RetryableUpstreamError, type UpstreamCall } from './contract.ts';

/** Largest answer that is read whole. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A stream that sends nothing for this long is dead. */
export const STREAM_IDLE_MS = 60_000;

/** One HTTP exchange with an upstream, bounded in time, abandoned when the client leaves. */
export interface Exchange {
  readonly response: Response;
  /** Restarts the clock: a stream may live long as long as it talks. */
  alive(): void;
  /** The answer was read to its end: nothing is left to stop. */
  finished(): void;
  /** Stops the clock and, unless the answer was read to its end, the upstream. */
  close(): void;
  /** What an error while reading means. */
  explain(error: unknown): unknown;
}

/**
 * POSTs to an upstream. Throws RetryableUpstreamError (`connection`, `timeout`) or the signal's
 * reason. Redirects are not followed: an API that redirects is misconfigured, and the key must not
 * travel to another host.
 */
export async function post(
  call: UpstreamCall,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<Exchange> {
  const abort = new AbortController();
  let timedOut = false;
  const expire = () => {
    timedOut = true;
    abort.abort();
  };
  let timer = setTimeout(expire, call.target.timeout_ms);
  const leave = () => abort.abort();
  call.signal.addEventListener('abort', leave, { once: true });
  if (call.signal.aborted) abort.abort();
  let isFinished = false;
  const finished = () => {
    isFinished = true;
  };
  const close = () => {
    clearTimeout(timer);
    call.signal.removeEventListener('abort', leave);
    if (!isFinished) abort.abort();
  };
  const explain = (error: unknown) => {
    if (call.signal.aborted) return call.signal.reason;
    if (timedOut)
      return new RetryableUpstreamError('timeout', 'the upstream did not answer in time');
    if (error instanceof RetryableUpstreamError) return error;
    return new RetryableUpstreamError('connection', `the connection broke: ${String(error)}`);
  };
  try {
    const response = await fetch(call.target.base_url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: abort.signal,
      redirect: 'manual',
    });
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(STREAM_IDLE_MS, call.target.timeout_ms));
    };
    return { response, alive, finished, close, explain };
  } catch (error) {
    close();
    throw explain(error);
  }
}

/** Reads an answer whole, within `MAX_ANSWER_BYTES`. */
export async function readAll(exchange: Exchange): Promise<string> {
  const announced = Number(exchange.response.headers.get('content-length') ?? 0);
  if (announced > MAX_ANSWER_BYTES) {
    exchange.close();
    throw new RetryableUpstreamError('malformed', 'the answer is too large');
  }
  try {
    const text = await exchange.response.text();
    exchange.finished();
    if (text.length > MAX_ANSWER_BYTES) {
      throw new RetryableUpstreamError('malformed', 'the answer is too large');
    }
    return text;
  } catch (error) {
    throw exchange.explain(error);
  } finally {
    exchange.close();
  }
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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A count that an upstream reported; anything else counts as zero. */
export function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
