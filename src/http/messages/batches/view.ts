import type { BatchRow } from '../../../../db/batches/batches.ts';
import type { ItemEnd } from '../../../../db/batches/items.ts';

const NO_COUNTS = { succeeded: 0, errored: 0, canceled: 0, expired: 0 };

/**
 * The batch record (Anthropic docs: The MessageBatch object). `origin` must be Weir's own origin,
 * because the SDK sends the client's key to `results_url`.
 */
export function batchRecord(batch: BatchRow, origin: string) {
  const { id, total, counts } = batch;
  const isEnded = batch.status === 'ended';
  return {
    id,
    type: 'message_batch' as const,
    processing_status: batch.status,
    // Until the batch ends, all its requests count as processing (Anthropic docs).
    request_counts: { processing: isEnded ? 0 : total, ...(counts ?? NO_COUNTS) },
    created_at: batch.created_at.toISOString(),
    expires_at: batch.expires_at.toISOString(),
    ended_at: batch.ended_at?.toISOString() ?? null,
    cancel_initiated_at: batch.cancel_initiated_at?.toISOString() ?? null,
    archived_at: batch.archived_at?.toISOString() ?? null,
    results_url:
      isEnded && !batch.archived_at ? `${origin}/v1/messages/batches/${id}/results` : null,
  };
}

/**
 * Returns one line of JSON for each item. The body reads items only as fast as the client reads.
 */
export function resultsBody(results: AsyncGenerator<ItemEnd[]>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await results.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.map(resultLine).join('')));
    },
    async cancel() {
      await results.return(undefined);
    },
  });
}

/**
 * Returns the line of one item. An answer is stored as JSON, so its text is copied without parsing.
 */
function resultLine({ custom_id, result, answer }: ItemEnd): string {
  const member =
    result === 'succeeded'
      ? `,"message":${answer}`
      : result === 'errored'
        ? `,"error":${answer}`
        : '';
  return `{"custom_id":${JSON.stringify(custom_id)},"result":{"type":"${result}"${member}}}\n`;
}
