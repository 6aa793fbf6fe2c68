/** Headers of a stream of server-sent events. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Without this header, nginx sends no event to the client before its buffer is full.
  'x-accel-buffering': 'no',
};
/**
 * While a stream has no event, it sends a comment at this interval, so that proxies keep it open.
 */
export const STREAM_HEARTBEAT_MS = 15_000;
/** A connection whose client read nothing for this long is closed. */
export const STALLED_AFTER_S = 60;
/** A stream ends after this time. Its client resumes, e.g. on a replica with fewer streams. */
export const MAX_STREAM_MS = 60 * 60 * 1_000;
