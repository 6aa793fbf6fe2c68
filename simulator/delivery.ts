import type { Outcome } from './shared/books.ts';
import type { Directives } from './shared/directives.ts';
import {
  type EarlyEnd,
  type Emission,
  eventStream,
  NO_FAULTS,
  type StreamPlan,
} from './shared/event-stream.ts';

/** A body up to this size is sent at once. A larger one is sent as fast as its reader reads. */
const DIRECT_BODY_CHARS = 65_536;
const SLICE_CHARS = 16_384;

type Ended = (outcome: Outcome, written_tokens: number) => void;

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
};
const JSON_HEADERS = { 'content-type': 'application/json' };

/** Sends an answer as a stream of events, with the faults that the directives request. */
export function deliverEvents(
  events: Iterator<Emission>,
  headers: Record<string, string>,
  directives: Directives,
  error_event: string,
  ended: Ended,
): Response {
  const plan = planOf(directives, error_event);
  return new Response(eventStream(events, plan, ended), {
    headers: { ...headers, ...SSE_HEADERS },
  });
}

/**
 * Sends an answer as one body of `tokens` tokens, with the faults that the directives request. A
 * truncated body is chunked and has no last chunk, because Bun cannot send a `Content-Length` that
 * differs from the sent bytes.
 */
export function deliverBody(
  body: string,
  tokens: number,
  headers: Record<string, string>,
  directives: Directives,
  ended: Ended,
): Response {
  const init = { headers: { ...headers, ...JSON_HEADERS } };
  const how = earlyEndOf(directives)?.how;
  const half = body.slice(0, body.length / 2);
  if (how !== undefined) {
    const after_events = Math.ceil(half.length / SLICE_CHARS);
    const plan = { ...NO_FAULTS, early_end: { after_events, how, error_event: '' } };
    return new Response(eventStream(slices(half, 0), plan, ended), init);
  }
  if (directives.malformed === 1) {
    ended('truncated', 0);
    return new Response(half, init);
  }
  if (directives.split === undefined && body.length <= DIRECT_BODY_CHARS) {
    ended('whole', tokens);
    return new Response(body, init);
  }
  const plan = { ...NO_FAULTS, split_bytes: directives.split ?? 0 };
  return new Response(eventStream(slices(body, tokens), plan, ended), init);
}

/**
 * Yields slices of a body. All tokens count as sent with the last slice, because a client cannot
 * use a part of a body.
 */
function* slices(body: string, tokens: number): Generator<Emission> {
  for (let at = 0; at < body.length; at += SLICE_CHARS) {
    const last = at + SLICE_CHARS >= body.length;
    yield { text: body.slice(at, at + SLICE_CHARS), tokens: last ? tokens : 0 };
  }
}

function planOf(directives: Directives, error_event: string): StreamPlan {
  const early_end = earlyEndOf(directives);
  return {
    pause_ms: directives.chunk_ms ?? 0,
    split_bytes: directives.split ?? 0,
    comments: directives.comment === 1,
    malformed: directives.malformed === 1,
    early_end: early_end && { ...early_end, error_event },
  };
}

function earlyEndOf(directives: Directives): { after_events: number; how: EarlyEnd } | undefined {
  const { truncate_after, truncate_clean, error_after, stall_after } = directives;
  if (truncate_after !== undefined) {
    return { after_events: truncate_after, how: truncate_clean === 1 ? 'clean' : 'reset' };
  }
  if (error_after !== undefined) return { after_events: error_after, how: 'error' };
  if (stall_after !== undefined) return { after_events: stall_after, how: 'stall' };
  return undefined;
}
