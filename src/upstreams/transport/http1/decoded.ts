import type { HttpBody, HttpResponse } from './response.ts';
import { MalformedResponse } from './response-parser.ts';

/** Codings of a body (RFC 9110, 8.4.1), by the names of the platform's decoders. */
const DECODERS: Record<string, Bun.CompressionFormat> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'brotli',
  zstd: 'zstd',
};

/**
 * An answer with its body decoded: none was asked for, and some servers compress all the same.
 * Throws MalformedAnswer where the coding is not known.
 */
export function decompressed(answer: HttpResponse): HttpResponse {
  const coding = answer.headers.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (coding === 'identity' || !answer.body) return answer;
  const format = DECODERS[coding];
  if (!format) throw new MalformedResponse('an unknown coding of a body');
  const decoder = new DecompressionStream(format);
  const plain = new Response(streamOf(answer.body).pipeThrough(decoder));
  const { status, ok, headers } = answer;
  return { status, ok, headers, body: plain.body, text: () => plain.text() };
}

/** A body as a stream of the platform, which reads ahead of nobody. */
export function streamOf(body: HttpBody): ReadableStream<Uint8Array<ArrayBuffer>> {
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
