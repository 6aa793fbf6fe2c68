import { WeirError } from '../errors/weir-error.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import {
  type BytesInFlight,
  type CountedBody,
  SMALL_BODY_BYTES,
} from '../upstreams/transport/body-budget.ts';
import { WorkWait, whileWatched } from '../upstreams/transport/deadlines.ts';
import { contentCodingOf, decodeBody } from './decoded-body.ts';

/**
 * A body must arrive within this time. It is enough for the largest body over a slow connection.
 */
const BODY_TIMEOUT_MS = 120_000;

/** `checkStart` gets at most this many bytes, so that it takes less than a millisecond. */
const MAX_START_BYTES = 64 * 1024;

/** The limits of one body. */
export interface BodyLimits {
  readonly max_bytes: number;
  /**
   * Returns the error for a body that is too large. Its argument is the limit: `max_bytes` above,
   * or the largest body that the budget of all bodies allows if that is less.
   */
  readonly tooLarge: (max_bytes: number) => WeirError;
  /** Checks the first bytes of a large body. Throws if the body can be refused without the rest. */
  readonly checkStart?: ((start: Uint8Array) => void) | undefined;
  /** Counts the bytes of the request in the budget of all bodies. */
  readonly counted: BytesInFlight;
  /** Aborted when the client leaves, or when its deadline passes. */
  readonly signal: CallSignal;
  readonly timeout_ms?: number | undefined;
}

/**
 * Reads the bytes of a body, decodes them if the request has a content coding, and counts them in the
 * budget of all bodies. Both the sent and the decoded bytes must be within the limit. A declared length
 * is counted first, so that a body without room is refused before it is read. Throws `tooLarge()`,
 * WeirError 503 if there is no room, WeirError 400 if the body is too slow, and the signal's reason
 * if the signal is aborted before the body is complete.
 */
export function readBodyBytes(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { onBody } = limits.counted;
  const body = readDecoded(request, limits);
  if (!onBody) return body;
  return body.then((bytes) => {
    onBody(bytes);
    return bytes;
  });
}

function readDecoded(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { counted, signal, timeout_ms = BODY_TIMEOUT_MS } = limits;
  const max_bytes = Math.min(limits.max_bytes, counted.max_body_bytes);
  const content_length = request.headers.get('content-length');
  const declared_bytes = content_length === null ? 0 : Number(content_length) || 0;
  if (declared_bytes > max_bytes) throw limits.tooLarge(max_bytes);
  const body = counted.countBody();
  if (declared_bytes > 0) body.add(declared_bytes);
  // Bun's `bytes()` is the faster way for a small body. A large body is read in chunks, so that
  // Weir can stop at the limit.
  const isWhole = content_length !== null && declared_bytes <= SMALL_BODY_BYTES;
  if (isWhole) counted.hasWholeBody = true;
  const coding = contentCodingOf(request.headers);
  const checkStart = coding === undefined ? limits.checkStart : undefined;
  const bytes = isWhole
    ? request.bytes()
    : readChunks(request, { ...limits, checkStart }, { declared_bytes, max_bytes, body });
  if (coding === undefined) return withTimeout(bytes, timeout_ms, signal);
  const decoded = bytes.then(async (encoded) => {
    const plain = await decodeBody(encoded, coding, { ...limits, max_bytes });
    body.drop();
    return plain;
  });
  return withTimeout(decoded, timeout_ms, signal);
}

interface Arriving {
  /** The bytes that were counted before the body is read. */
  declared_bytes: number;
  max_bytes: number;
  body: CountedBody;
}

/**
 * Reads a body in chunks. It stops reading at the limit, so that no larger body is in memory.
 */
async function readChunks(
  request: Request,
  { counted, tooLarge, checkStart }: BodyLimits,
  { declared_bytes, max_bytes, body }: Arriving,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  // Joining the chunks of a large body at its end would stop all other calls for a while.
  const whole = declared_bytes > 0 ? Buffer.allocUnsafeSlow(declared_bytes) : undefined;
  let size = 0;
  let counted_bytes = declared_bytes;
  // Without `preventCancel`, the loop would cancel a refused body. Bun discards a cancelled body as
  // fast as it arrives, instead of waiting until Weir reads it (`closeAfter`).
  for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
    // The request was refused meanwhile, e.g. because the body was too slow.
    if (counted.hasEnded) return Buffer.alloc(0);
    size += chunk.byteLength;
    if (size > max_bytes) throw tooLarge(max_bytes);
    if (size === chunk.byteLength) checkStart?.(chunk.subarray(0, MAX_START_BYTES));
    if (size > counted_bytes) {
      body.add(size - counted_bytes);
      counted_bytes = size;
    }
    if (whole) whole.set(chunk, size - chunk.byteLength);
    else chunks.push(chunk);
  }
  counted.hasWholeBody = true;
  return whole?.subarray(0, size) ?? Buffer.concat(chunks);
}

/**
 * Rejects if the body is incomplete after the timeout. So a slow client cannot hold its connection
 * and its bytes for long.
 */
function withTimeout(
  body: Promise<Uint8Array>,
  timeout_ms: number,
  signal: CallSignal,
): Promise<Uint8Array> {
  if (Bun.peek.status(body) !== 'pending') return body;
  return whileWatched(body, new PendingBody(timeout_ms, signal));
}

/**
 * The wait for a body that has not arrived yet. `withTimeout` creates no wait for a body that is
 * already complete. Nearly all bodies arrive before the first check, so only then the time begins.
 */
class PendingBody extends WorkWait {
  private deadline: number | undefined;

  constructor(
    private readonly timeout_ms: number,
    private readonly signal: CallSignal,
  ) {
    super();
  }

  check(now: number): boolean {
    this.deadline ??= now + this.timeout_ms;
    if (this.signal.aborted) this.reject(this.signal.reason);
    else if (now < this.deadline) return true;
    else this.reject(tooSlowError());
    return false;
  }
}

function tooSlowError(): WeirError {
  return new WeirError('invalid_json', 'The body did not arrive in time.', { param: 'body' });
}
