import { promisify } from 'node:util';
import { brotliCompress, constants, deflate, gzip, zstdCompress } from 'node:zlib';

/** A smaller answer is sent as it is: it fits into a few packets, and most answers of chats are small. */
export const COMPRESSED_FROM_BYTES = 8 * 1024;
/** Low levels: they save nearly as much of JSON as high levels, in a fraction of the time. */
const LEVEL = 4;

/** The encoders by content coding, the fastest first. They work in other threads. */
const ENCODERS: readonly [coding: string, encode: (bytes: Uint8Array) => Promise<Uint8Array>][] = [
  ['zstd', (bytes) => promisify(zstdCompress)(bytes)],
  ['gzip', (bytes) => promisify(gzip)(bytes, { level: LEVEL })],
  ['deflate', (bytes) => promisify(deflate)(bytes, { level: LEVEL })],
  [
    'br',
    (bytes) =>
      promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } }),
  ],
];

/**
 * Compresses an answer if its client asks for that (`Accept-Encoding`; RFC 9110, 12.5.3), and if it is
 * JSON of at least 8 kB. Streams and other types are returned unchanged: an event must not wait in a
 * compressor, and images and sounds are compressed already. The decompressed bytes are those of the
 * answer.
 */
export async function compressed(response: Response, accepted: string): Promise<Response> {
  const coding = bestCoding(accepted);
  if (!coding || !isPlainJson(response)) return response;
  const plain = await response.bytes();
  if (plain.byteLength < COMPRESSED_FROM_BYTES) return new Response(plain, response);
  const [name, encode] = coding;
  const answer = new Response((await encode(plain)) as Uint8Array<ArrayBuffer>, response);
  answer.headers.set('content-encoding', name);
  answer.headers.append('vary', 'accept-encoding');
  return answer;
}

/** Only whole answers have this type: streams have `text/event-stream` or the type of a file. */
function isPlainJson({ headers }: Response): boolean {
  const type = headers.get('content-type');
  return type?.startsWith('application/json') === true && !headers.has('content-encoding');
}

/** The latest value of `Accept-Encoding` and its coding. Most requests have one of a few values. */
let latest: { accepted: string; coding: (typeof ENCODERS)[number] | undefined } = {
  accepted: 'identity',
  coding: undefined,
};

function bestCoding(accepted: string): (typeof ENCODERS)[number] | undefined {
  if (latest.accepted !== accepted) latest = { accepted, coding: chooseCoding(accepted) };
  return latest.coding;
}

/**
 * Returns the encoder with the highest weight, and the fastest of several; undefined if the client
 * prefers the plain answer, or takes no coding that Weir knows.
 */
function chooseCoding(accepted: string): (typeof ENCODERS)[number] | undefined {
  const weights = new Map<string, number>();
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((each) => each.startsWith('q='))?.slice(2);
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  let best: (typeof ENCODERS)[number] | undefined;
  let best_weight = weights.get('identity') ?? 0;
  for (const encoder of ENCODERS) {
    const weight = weightOf(encoder[0]);
    // `identity;q=1, gzip;q=1` is a wish for compression too: the client names the coding.
    const isBetter = best === undefined ? weight >= best_weight : weight > best_weight;
    if (weight > 0 && isBetter) [best, best_weight] = [encoder, weight];
  }
  return best;
}
