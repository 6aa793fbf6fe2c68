import type { AnswerBytes, AnswerCount } from '../contract.ts';
import { SMALL_BODY_BYTES } from '../transport/body-budget.ts';
import type { OnPiece } from '../transport/bounded-body.ts';
import type { HttpResponse } from '../transport/http.ts';

/** The assumed size of a large answer whose length is not known. Most images are smaller. */
const ASSUMED_BYTES = 8 * 1024 * 1024;
/** The longest time that the reading of a large answer waits for room in the body budget. */
const MAX_ROOM_WAIT_MS = 10_000;
const ROOM_POLL_MS = 50;

/**
 * Returns the function that counts an answer while it is read. Weir never refuses such an answer
 * for lack of room, because the provider has already billed the generation. Instead, the reading of
 * a large answer waits until the body budget has room, at most MAX_ROOM_WAIT_MS. Then it continues
 * in any case. The returned function throws the signal's reason if the signal is aborted during the
 * wait.
 */
export function countAnswer(
  { headers }: Pick<HttpResponse, 'headers'>,
  bytes: AnswerBytes | undefined,
  signal: AbortSignal,
): OnPiece {
  if (!bytes) return () => undefined;
  const counted = bytes.countAnswer();
  const declared_bytes = Number(headers.get('content-length')) || ASSUMED_BYTES;
  const wanted_bytes = Math.min(declared_bytes, bytes.max_body_bytes);
  let read_bytes = 0;
  let counted_bytes = 0;
  return async (piece_bytes) => {
    read_bytes += piece_bytes;
    if (read_bytes <= counted_bytes) return;
    const isFirstLarge = read_bytes > SMALL_BODY_BYTES && counted_bytes <= SMALL_BODY_BYTES;
    const more_bytes =
      (isFirstLarge ? Math.max(wanted_bytes, read_bytes) : read_bytes) - counted_bytes;
    if (isFirstLarge) await addWhenFree(counted, more_bytes, signal);
    else counted.addAlways(more_bytes);
    counted_bytes += more_bytes;
  };
}

async function addWhenFree(
  counted: AnswerCount,
  bytes: number,
  signal: AbortSignal,
): Promise<void> {
  const end_ms = performance.now() + MAX_ROOM_WAIT_MS;
  while (performance.now() < end_ms) {
    signal.throwIfAborted();
    if (counted.tryAdd(bytes)) return;
    await Bun.sleep(ROOM_POLL_MS);
  }
  counted.addAlways(bytes);
}
