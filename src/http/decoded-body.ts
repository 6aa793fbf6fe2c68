import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import { WeirError } from '../errors/weir-error.ts';
import type { BytesInFlight } from '../upstreams/transport/body-budget.ts';

/** The size of one decompressed piece. After each piece its bytes are counted. */
const PIECE_BYTES = 64 * 1024;
/** The largest window of `zstd` over HTTP is 8 MB (RFC 9659). The platform would allow 128 MB. */
const MAX_ZSTD_WINDOW_LOG = 23;

/** A stream of zlib: compressed bytes go in, decompressed bytes come out. */
type Decoder = ReturnType<typeof createGunzip>;

/** The decoders by content coding (RFC 9110, 8.4.1; RFC 7932; RFC 8878). */
const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: () => createGunzip({ chunkSize: PIECE_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: PIECE_BYTES }),
  deflate: () => createInflate({ chunkSize: PIECE_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: PIECE_BYTES }),
  zstd: () =>
    createZstdDecompress({
      chunkSize: PIECE_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG },
    }),
};

/** The content codings that a request may have. */
export const REQUEST_CODINGS: readonly string[] = ['gzip', 'deflate', 'br', 'zstd'];

/**
 * Returns the name of a request's content coding if Weir can decode it, else undefined. Some clients
 * send other values, e.g. `utf-8`, with plain JSON. So another value alone is no reason to refuse.
 */
export function contentCodingOf(headers: Headers): string | undefined {
  const coding = headers.get('content-encoding')?.trim().toLowerCase();
  return coding !== undefined && Object.hasOwn(DECODERS, coding) ? coding : undefined;
}

/** The limits of a decoded body. */
export interface DecodedLimits {
  readonly max_bytes: number;
  readonly tooLarge: (max_bytes: number) => WeirError;
  readonly checkStart?: ((start: Uint8Array) => void) | undefined;
  readonly counted: BytesInFlight;
}

/**
 * Decodes a body. Each decoded piece counts against the limit and in the budget of all bodies before
 * the next piece is decoded. So a few bytes that decode to gigabytes take no more memory than another
 * body (a "decompression bomb"). The work is done in other threads. Throws `tooLarge()`, WeirError 503
 * if there is no room, and WeirError 400 if the bytes do not have the coding.
 */
export async function decodeBody(
  encoded: Uint8Array,
  coding: string,
  { max_bytes, tooLarge, checkStart, counted }: DecodedLimits,
): Promise<Uint8Array> {
  const decoder = DECODERS[coding]?.();
  if (!decoder) return encoded;
  const body = counted.countBody();
  const pieces: Uint8Array[] = [];
  let size = 0;
  decoder.end(encoded);
  try {
    for await (const piece of decoder as AsyncIterable<Uint8Array>) {
      // The request was refused meanwhile, e.g. because its deadline passed.
      if (counted.hasEnded) return Buffer.alloc(0);
      size += piece.byteLength;
      if (size > max_bytes) throw tooLarge(max_bytes);
      if (size === piece.byteLength) checkStart?.(piece);
      body.add(piece.byteLength);
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof WeirError) throw error;
    throw new WeirError('invalid_json', `The body is not valid ${coding}.`, {
      param: 'Content-Encoding',
      hint: 'Send the compressed bytes, or remove the header Content-Encoding.',
    });
  } finally {
    decoder.destroy();
  }
  return Buffer.concat(pieces);
}
