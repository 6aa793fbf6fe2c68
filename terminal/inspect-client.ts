import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { Address } from './address.ts';

/** Weir refused a request, or it cannot be reached. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    message: string,
    /** The HTTP status; 0 = no answer. */
    readonly status: number,
  ) {
    super(message);
  }

  /** True if the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** An answer, and the time of Weir when it was sent, ms since the epoch. */
export interface Answer<Body> {
  readonly body: Body;
  readonly now_ms: number;
}

/** What a stream says. */
export type News =
  /** The stream is open, or some frames of it are missing. */
  | { readonly name: 'opened' | 'gap' | 'skipped' }
  | {
      readonly name: 'frame';
      /** The number of the event in its actor's past. */
      readonly seq: number;
      readonly replica: string;
      readonly event: string | undefined;
      readonly hasEnded: boolean;
    };

/** A server-sent event. Frames have no name. */
interface StreamEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

interface Frame {
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly status: string };
  readonly _weir: { readonly actor_seq: number; readonly replica: string };
}

function newsOf(name: string | undefined, data: string): News {
  if (data === '') return { name: 'opened' };
  if (name !== undefined) return { name: name === 'gap' ? 'gap' : 'skipped' };
  const { event, snapshot, _weir } = JSON.parse(data) as Frame;
  return {
    ...{ name: 'frame', seq: _weir.actor_seq, replica: _weir.replica, event: event?.type },
    hasEnded: snapshot !== undefined && snapshot.status !== 'active',
  };
}

/** A client of the routes that show actors. */
export class InspectClient {
  private readonly root: string;

  constructor(private readonly address: Address) {
    const side = address.token.startsWith('mt-') ? 'management' : 'operator';
    this.root = `${address.url.href.replace(/\/+$/, '')}/v1/${side}/inspect`;
  }

  /** Reads a route. Parameters that are undefined are left out. Throws RequestError. */
  async get<Body>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>> = {},
  ): Promise<Answer<Body>> {
    const response = await this.request(path, query, 'application/json');
    const now_ms = timeOf(response);
    try {
      return { body: (await response.json()) as Body, now_ms };
    } catch {
      throw new RequestError(`The answer of ${this.address.url.origin} is not complete.`, 0);
    }
  }

  /**
   * Opens the stream of the events of actors and yields its news, first `opened`. Ends when the connection ends.
   * Throws RequestError if Weir refuses the stream.
   */
  async *watch(query: Readonly<Record<string, string | undefined>>): AsyncGenerator<News> {
    for await (const { event, data } of this.stream(query)) yield newsOf(event, data);
  }

  /** Opens the stream and yields its events as they came, first one without data. Throws like `watch`. */
  async *stream(query: Readonly<Record<string, string | undefined>>): AsyncGenerator<StreamEvent> {
    const response = await this.request('/events', query, 'text/event-stream');
    yield { data: '' };
    const events = (response.body ?? new ReadableStream<Uint8Array>())
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(new EventSourceParserStream());
    try {
      for await (const each of events as unknown as AsyncIterable<StreamEvent>) yield each;
    } catch {
      // The connection broke. The caller opens another.
    }
  }

  private async request(
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    accept: string,
  ): Promise<Response> {
    const parameters = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );
    const search = new URLSearchParams(Object.fromEntries(parameters)).toString();
    const headers = { authorization: `Bearer ${this.address.token}`, accept };
    const url = `${this.root}${path}${search === '' ? '' : `?${search}`}`;
    const response = await fetch(url, { headers, redirect: 'error' }).catch((error: unknown) => {
      const { origin } = this.address.url;
      throw new RequestError(`Weir at ${origin} cannot be reached: ${(error as Error).message}`, 0);
    });
    if (response.ok) return response;
    throw await errorOf(response);
  }
}

/** How old a `date` may be, ms: it has only seconds, and Bun renews it once a second. */
const DATE_AGE_MS = 2_000;

/** Returns Weir's time: that of this machine's clock, as far as `date` agrees. */
function timeOf(response: Response): number {
  const now = Date.now();
  const date = Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(date) ? now : Math.min(Math.max(now, date), date + DATE_AGE_MS);
}

async function errorOf(response: Response): Promise<RequestError> {
  const { status } = response;
  const text = await response.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error: { message: string; hint?: string | null } };
    const hint = error.hint ? `\n${error.hint}` : '';
    return new RequestError(`${error.message}${hint}`, status);
  } catch {
    return new RequestError(`The server answered ${status}. Is it Weir?`, status);
  }
}
