import { followEvents, type LiveEvent, type StreamListener } from './stream.ts';

const PATH = '/v1/management/events';
/** The events that show the whole state of something. A tab that opens later gets the latest of each. */
const STATES: ReadonlySet<string> = new Set(['balance', 'calls', 'keys']);

type Message =
  | { readonly kind: 'event'; readonly event: LiveEvent }
  | { readonly kind: 'state'; readonly is_live: boolean }
  | { readonly kind: 'hello' };

/**
 * Follows the events of an organization with one stream for all tabs of the browser: a browser opens at most
 * six connections to a server over HTTP/1.1, so ten streams would block every request. One tab holds a lock
 * and the stream, and tells the others. When it closes, the next tab gets the lock and resumes. If the server refuses
 * the stream, the tab waits for the lock again when another tab has a stream.
 */
export function followShared(organization_id: string, listener: StreamListener): () => void {
  if (!('locks' in navigator)) return followAlone(listener);
  const name = `weir-events ${organization_id}`;
  const channel = new BroadcastChannel(name);
  const end = new AbortController();
  const latest = new Map<string, LiveEvent>();
  let last_id: string | undefined;
  let is_live = false;
  let isLeader = false;
  const note = (event: LiveEvent) => {
    last_id = event.id ?? last_id;
    if (STATES.has(event.type)) latest.set(event.type, event);
    listener.onEvent(event);
  };
  const setLive = (value: boolean) => {
    is_live = value;
    listener.onState(value);
  };
  const tell = (message: Message) => channel.postMessage(message);
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'event') note(data.event);
    else if (data.kind === 'state') {
      setLive(data.is_live);
      // This tab may have been refused before, e.g. because its person was signed out.
      if (data.is_live) queue();
    } else if (isLeader) {
      tell({ kind: 'state', is_live });
      for (const event of latest.values()) tell({ kind: 'event', event });
    }
  };
  tell({ kind: 'hello' });
  const lead = async () => {
    isLeader = true;
    const leader: StreamListener = {
      onEvent: (event) => {
        note(event);
        tell({ kind: 'event', event });
      },
      onState: (value) => {
        setLive(value);
        tell({ kind: 'state', is_live: value });
      },
    };
    await followEvents(PATH, leader, end.signal, last_id);
    isLeader = false;
  };
  let isQueued = false;
  const queue = () => {
    if (isQueued) return;
    isQueued = true;
    const leading = navigator.locks.request(name, { signal: end.signal }, lead);
    leading
      .catch((error: unknown) => {
        if (!end.signal.aborted) throw error;
      })
      .finally(() => {
        isQueued = false;
      });
  };
  queue();
  return () => {
    end.abort();
    channel.close();
  };
}

/** Browsers have locks only over HTTPS and on localhost. Elsewhere each tab has a stream of its own. */
function followAlone(listener: StreamListener): () => void {
  const end = new AbortController();
  followEvents(PATH, listener, end.signal, undefined);
  return () => end.abort();
}
