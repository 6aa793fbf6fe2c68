import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { organizationHeaders } from '../api/client.ts';
import { errorOf } from '../api/error.ts';

/** The first and the longest pause before a stream is opened again, ms. */
const PAUSE_MS = { first: 500, longest: 10_000 };
/** A stream that is silent for longer is broken: the server writes every 15 s. */
const SILENT_MS = 40_000;

/** An event of a stream of the API. */
export interface LiveEvent {
  readonly type: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

/** Who listens to a stream. */
export interface StreamListener {
  readonly onEvent: (event: LiveEvent) => void;
  /** Called with true when events arrive, and with false when the stream broke. */
  readonly onState: (isLive: boolean) => void;
}

/**
 * Follows the events of a path until `signal` aborts. A broken stream is opened again and resumed by the id
 * of its last event. Returns when the server refuses, e.g. because the session has ended.
 * `last_id` resumes the stream of another tab.
 */
export async function followEvents(
  path: string,
  { onEvent, onState }: StreamListener,
  signal: AbortSignal,
  last_id: string | undefined,
): Promise<void> {
  let resumed = last_id;
  let pause = PAUSE_MS.first;
  let isFirst = true;
  while (!signal.aborted) {
    const broken = new AbortController();
    const stop = () => broken.abort();
    signal.addEventListener('abort', stop);
    // A connection of a network that went away stays open and silent.
    addEventListener('offline', stop);
    try {
      const response = await fetch(path, {
        headers: {
          ...organizationHeaders(),
          ...(resumed === undefined ? {} : { 'last-event-id': resumed }),
        },
        signal: broken.signal,
      });
      if (!response.ok || !response.body) {
        const { status } = await errorOf(response);
        if (status === 400) resumed = undefined;
        if (status === 401 || status === 403) return;
        throw new Error(`the stream was refused with ${status}`);
      }
      onState(true);
      pause = PAUSE_MS.first;
      // Nothing names what happened before this stream, so pages must read everything again.
      if (!isFirst && resumed === undefined) onEvent({ type: 'reset', data: {}, id: undefined });
      await read(response.body, stop, ({ event, data, id }) => {
        resumed = id ?? resumed;
        onEvent({ type: event ?? 'message', data: JSON.parse(data) as unknown, id });
      });
    } catch {
      // The stream is opened again below.
    } finally {
      signal.removeEventListener('abort', stop);
      removeEventListener('offline', stop);
    }
    if (signal.aborted) return;
    isFirst = false;
    onState(false);
    await sleep(pause, signal);
    pause = Math.min(pause * 2, PAUSE_MS.longest);
  }
}

async function read(
  body: ReadableStream<Uint8Array>,
  giveUp: () => void,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const silence = setTimeout(giveUp, SILENT_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}

/** Waits, but not longer than until the connection is back. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    signal.addEventListener('abort', done);
  });
}
