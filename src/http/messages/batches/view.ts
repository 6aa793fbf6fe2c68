import type { BatchRow } from '../../../../db/batches/batches.ts';
import type { ItemEnd } from '../../../../db/batches/items.ts';

const NONE = { succeeded: 0, errored: 0, canceled: 0, expired: 0 };

/**
 * A batch as the vendor's SDK knows it (Anthropic docs: The MessageBatch object). `origin` is ours:
 * the SDK sends the caller's key to wherever the results are said to be (contracts 0).
 */
export function batchRecord(batch: BatchRow, origin: string) {
  const { id, total, counts } = batch;
  const isEnded = batch.status === 'ended';
  return {
    id,
    type: 'message_batch' as const,
    processing_status: batch.status,
    // Until its end all of it counts as being processed.
    request_counts: { processing: isEnded ? 0 : total, ...(counts ?? NONE) },
    created_at: batch.created_at.toISOString(),
    expires_at: batch.expires_at.toISOString(),
    ended_at: batch.ended_at?.toISOString() ?? null,
    cancel_initiated_at: batch.cancel_initiated_at?.toISOString() ?? null,
    archived_at: batch.archived_at?.toISOString() ?? null,
    results_url:
      isEnded && !batch.archived_at ? `${origin}/v1/messages/batches/${id}/results` : null,
  };
}

/** One line of JSON for each item, read as fast as the client reads. */
export function resultsBody(results: AsyncGenerator<ItemEnd[]>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await results.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value.map(line).join('')));
    },
    async cancel() {
      await results.return(undefined);
    },
  });
}

/** Answers are stored as JSON: they are laid into the line as they are. */
function line({ custom_id, result, answer }: ItemEnd): string {
  const member =
    result === 'succeeded'
      ? `,"message":${answer}`
      : result === 'errored'
        ? `,"error":${answer}`
        : '';
  return `{"custom_id":${JSON.stringify(custom_id)},"result":{"type":"${result}"${member}}}\n`;
}
