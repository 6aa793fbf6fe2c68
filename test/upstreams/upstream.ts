/**
 * A made-up upstream for the tests of the protocols. It answers with exactly the bytes that a test
 * sets, and keeps the requests that it received.
 */
import type { StreamEvent, UpstreamCall, UpstreamProtocol } from '../../src/upstreams/contract.ts';

export interface Asked {
  path: string;
  headers: Headers;
  text: string;
  /** Resolves when the gateway has canceled the request. */
  aborted: Promise<void>;
}

export interface Upstream {
  url: string;
  asked: Asked[];
  /** Returns the answer to the next calls. */
  answer: (asked: Asked) => Response | Promise<Response>;
  stop(): Promise<void>;
}

export function startUpstream(): Upstream {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    development: false,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const asked: Asked = {
        path: new URL(request.url).pathname,
        headers: request.headers,
        text: await request.text(),
        aborted: new Promise((resolve) =>
          request.signal.addEventListener('abort', () => resolve()),
        ),
      };
      upstream.asked.push(asked);
      return upstream.answer(asked);
    },
  });
  const upstream: Upstream = {
    url: `http://127.0.0.1:${server.port}`,
    asked: [],
    answer: () => new Response('nothing is set', { status: 500 }),
    stop: () => server.stop(true),
  };
  return upstream;
}

/** A call of the public model `gpt-test`, which the upstream calls `physical-9`. */
export function callOf(
  url: string,
  body: Record<string, unknown> | string,
  changes: Partial<UpstreamCall> = {},
): UpstreamCall {
  const body_text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    target: { channel_id: 'main', base_url: url, api_key: 'sim-main', timeout_ms: 20_000 },
    physical_model: 'physical-9',
    public_model: 'gpt-test',
    answer_id: 'answer-of-weir',
    body_text,
    body: JSON.parse(body_text),
    mostAnswers: () => 1,
    model_context_window: 100_000,
    model_max_output_tokens: 1_000,
    headers: {},
    signal: new AbortController().signal,
    ...changes,
  };
}

/**
 * Returns an answer that streams these bytes, piece by piece. If `cut` is true, the connection is
 * reset after the last piece.
 */
export function streamed(pieces: (string | Uint8Array | Promise<string>)[], cut = false): Response {
  const encoder = new TextEncoder();
  let next = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await pieces[next];
      next += 1;
      if (piece === undefined) {
        if (!cut) return controller.close();
        // A reset discards the bytes that the other side has not read yet.
        await Bun.sleep(50);
        return controller.error(new Error('cut'));
      }
      controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
      // This pause makes each piece leave on its own.
      await Bun.sleep(1);
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

interface Read {
  events: StreamEvent[];
  text: string;
  produced: string;
  /** The texts of the first final event and of all events after it. */
  held: string;
  error: unknown;
}

/** Reads a stream to its end or to its error. */
export async function readStream(protocol: UpstreamProtocol, call: UpstreamCall) {
  const stream = await protocol.stream(call);
  const events: StreamEvent[] = [];
  let error: unknown;
  try {
    for await (const batch of stream.events) events.push(...batch);
  } catch (thrown) {
    error = thrown;
  }
  const first = events.findIndex((event) => event.final);
  const join = (some: StreamEvent[]) => some.map((event) => event.text).join('');
  const read: Read = {
    events,
    text: join(events),
    produced: events.map((event) => event.produced).join(''),
    held: first < 0 ? '' : join(events.slice(first)),
    error,
  };
  return { ...read, stream };
}

/** Returns the error with which a promise was rejected. Throws if the promise was not rejected. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('this should have failed');
}
