/** Bun reads the rest of a smaller body, so that its connection can be used again. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
/** The time that a client has to read the answer before its connection is closed. */
const LINGER_MS = 1_000;
/**
 * So many connections may wait for their clients at once. Each can fill buffers of the kernel with
 * megabytes, and a flood of them would slow all other connections (measured).
 */
const MAX_LINGERING = 8;

let lingering = 0;

/** True if the request has a body that may be larger than 1 MB. */
export function mayHaveLargeBody({ headers }: Request): boolean {
  if (headers.has('transfer-encoding')) return true;
  return Number(headers.get('content-length')) > MAX_DISCARDED_BYTES;
}

/**
 * Returns the response to a request whose body was not read to its end. The connection is closed
 * after the response: reading a flood of refused bodies would keep Weir busy (P20). A client that
 * is still sending when the connection closes can lose the response. So Weir sends the whole content
 * of the response at once, but ends the response only when the client has sent its request, or after
 * a second. Meanwhile at most 1 MB more of the request is read. In a flood, most connections are
 * closed at once.
 */
export function closeAfter(response: Response, request: Request): Response {
  response.headers.set('connection', 'close');
  const { body } = response;
  if (!body || lingering >= MAX_LINGERING) return response;
  return new Response(thenLinger(body, request), response);
}

async function* thenLinger(content: ReadableStream<Uint8Array>, request: Request) {
  lingering += 1;
  try {
    yield* content;
    await shortRest(request);
  } finally {
    lingering -= 1;
  }
}

/** Resolves when the body has ended, but after a second at the latest. */
async function shortRest(request: Request): Promise<void> {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, LINGER_MS);
  // Without a `catch`, a client that leaves would be reported as a defect of Weir.
  discard(request, end).catch(end);
  await isOver;
  clearTimeout(timer);
}

/**
 * Reads at most 1 MB of the rest of a body. Calls `onEnd` if the body ends there. Bun gives Weir no
 * body of a GET, and reads it without a stop: its connection is closed at once.
 */
async function discard({ body }: Request, onEnd: () => void): Promise<void> {
  if (!body) return onEnd();
  if (body.locked) return;
  const reader = body.getReader();
  for (let size = 0; size < MAX_DISCARDED_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return onEnd();
    size += value.byteLength;
  }
}
