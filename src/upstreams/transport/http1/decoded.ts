import type { HttpBody, HttpResponse } from './response.ts';
import { MalformedResponse } from './response-parser.ts';

/** The platform's decoders by content coding (RFC 9110, 8.4.1). */
const DECODERS: Record<string, Bun.CompressionFormat> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
};

/**
 * Returns a response with its body decompressed. Weir requests no compression, but some servers
 * compress anyway. Throws MalformedResponse if the content coding is unknown.
 */
export function decompress(response: HttpResponse): HttpResponse {
  const coding = response.headers.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (coding === 'identity' || !response.body) return response;
  const format = DECODERS[coding];
  if (!format) throw new MalformedResponse('the response has an unknown content coding');
  const decoder = new DecompressionStream(format);
  const plain = new Response(toReadableStream(response.body).pipeThrough(decoder));
  const { status, ok, headers } = response;
  return { status, ok, headers, body: plain.body, text: () => plain.text() };
}

/**
 * Returns a body as a stream of the platform. The stream reads from the body only when its own
 * reader reads.
 */
export function toReadableStream(body: HttpBody): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
