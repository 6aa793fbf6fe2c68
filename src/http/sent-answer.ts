import type { BytesInFlight } from '../upstreams/transport/body-budget.ts';

/** The client of a large answer gets slices of this size, as fast as it reads. */
const SLICE_BYTES = 64 * 1024;

/**
 * Sends a large answer in slices. A client may read slowly, so the bytes of the answer stay counted
 * until the client has received them or has left. The bytes of the request's own body are given
 * back at once.
 */
export async function sendCounted(
  response: Response,
  request: Request,
  counted: BytesInFlight,
): Promise<Response> {
  const bytes = await response.bytes();
  counted.keepOnly(bytes.byteLength);
  const endUse = counted.share();
  const onEnd = () => {
    request.signal.removeEventListener('abort', onEnd);
    endUse();
  };
  // If a client leaves, Bun does not always cancel the body. So Weir listens to the signal too.
  request.signal.addEventListener('abort', onEnd);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(client) {
      client.enqueue(bytes.subarray(sent, sent + SLICE_BYTES));
      sent += SLICE_BYTES;
      if (sent < bytes.byteLength) return;
      client.close();
      onEnd();
    },
    cancel: onEnd,
  });
  return new Response(body, response);
}
