import { type HttpBody, type HttpResponse, MalformedResponse } from '../http.ts';

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
  const format = contentCoding(response.headers);
  if (!format || !response.body) return response;
  const decoder = new DecompressionStream(format);
  const plain = new Response(toReadableStream(response.body).pipeThrough(decoder));
  const { status, ok, headers } = response;
  return { status, ok, headers, body: plain.body, text: () => plain.text() };
}

/**
 * Returns the format of a compressed body; undefined if the body is not compressed. Throws
 * MalformedResponse if the content coding is unknown.
 */
export function contentCoding(headers: HttpResponse['headers']): Bun.CompressionFormat | undefined {
  const coding = headers.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return undefined;
  const format = DECODERS[coding];
  if (!format) throw new MalformedResponse('the response has an unknown content coding');
  return format;
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
