import type { Sql } from 'postgres';
import {
  type BatchPage,
  type BatchRow,
  deleteBatch,
  deleteUnopenedBatch,
  findBatch,
  insertBatch,
  listBatches,
  openBatch,
} from '../../../db/batches/batches.ts';
import { type ItemEnd, insertItems, listResults, type NewItem } from '../../../db/batches/items.ts';
import {
  type CreateRequest,
  findCreateRequest,
  insertCreateRequest,
} from '../../../db/tasks/requests.ts';
import { isUniqueViolation } from '../../../db/unique-violation.ts';
import type { IdSource } from '../../actors/clock.ts';
import type { ActorCommand, CommandResult } from '../../actors/durable/command.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { BatchEvent } from '../../machines/batch.ts';
import type { Caller } from '../call.ts';
import type { CallRecord } from '../records/call-record.ts';
import { reusedKeyError } from '../repeats/refusals.ts';
import { BATCH_KIND } from './kind.ts';

/** One query of the results reads at most this many items. */
const RESULTS_PER_QUERY = 32;

/** Dependencies of `Batches`. */
export interface BatchesDeps {
  readonly sql: Sql;
  readonly ids: IdSource;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
}

/** A create request with an idempotency key. */
export type RepeatableBatch = Pick<CreateRequest, 'route' | 'idempotency_key' | 'body_hash'>;

/**
 * Message batches for the routes. A call for a batch of another organization throws the same error
 * as a call for a batch that does not exist (P6).
 */
export class Batches {
  constructor(private readonly deps: BatchesDeps) {}

  /**
   * Creates a batch and returns it. `items` arrives in chunks, so a large body is never whole in
   * memory. The batch becomes visible after its last item is stored. If `items` throws, this method
   * throws the same error, and creates no batch. If the idempotency key of `repeatable` was sent
   * before, returns the first batch. Throws WeirError: `service_unavailable` if the batch cannot be
   * opened now, `idempotency_key_reused` if the first body was another one, `not_found` if the first
   * batch was deleted. `record` notes the batch.
   */
  async create(
    key: Caller,
    headers: Record<string, string>,
    items: AsyncIterable<readonly Omit<NewItem, 'request_id'>[]>,
    repeatable?: RepeatableBatch,
    record?: CallRecord,
  ): Promise<BatchRow> {
    const { sql, ids, send } = this.deps;
    const { organization_id } = key;
    const id = `msgbatch_${ids.uuid().replaceAll('-', '')}`;
    const request = repeatable && { ...repeatable, key_id: key.id, organization_id, task_id: id };
    const earlier = request && (await this.findEarlier(request));
    if (earlier !== undefined) {
      record?.becomeBatch(earlier, true);
      return this.get(earlier, organization_id);
    }
    const program = record?.request.program ?? '';
    await insertBatch(sql, { id, organization_id, key_id: key.id, headers, program });
    let total = 0;
    for await (const chunk of items) {
      await insertItems(
        sql,
        id,
        chunk.map((item) => ({ ...item, request_id: ids.uuid() })),
      );
      total += chunk.length;
    }
    const event = { type: 'OPENED' } satisfies BatchEvent;
    const result = await send({
      kind: BATCH_KIND,
      id,
      event,
      create: true,
      organization_id,
      async inTransaction(tx) {
        await openBatch(tx, id, total);
        if (request) await insertCreateRequest(tx, request);
      },
    }).catch(async (error: unknown) => {
      // Another request with the same idempotency key was committed first.
      const first =
        request && isUniqueViolation(error) ? await this.findEarlier(request) : undefined;
      if (first === undefined) throw error;
      await deleteUnopenedBatch(sql, id);
      return first;
    });
    if (typeof result === 'string') {
      record?.becomeBatch(result, true);
      return this.get(result, organization_id);
    }
    if (result.type !== 'committed') throw unavailableError();
    record?.becomeBatch(id, false);
    return this.get(id, organization_id);
  }

  /**
   * Returns the id of the batch that an earlier request with this idempotency key created. Throws
   * WeirError if that request had another body.
   */
  private async findEarlier(request: CreateRequest): Promise<string | undefined> {
    const earlier = await findCreateRequest(this.deps.sql, request);
    if (earlier && earlier.body_hash !== request.body_hash) throw reusedKeyError();
    return earlier?.task_id;
  }

  /** Returns a batch of the organization. Throws WeirError `not_found`. */
  async get(id: string, organization_id: string): Promise<BatchRow> {
    const batch = await findBatch(this.deps.sql, id, organization_id);
    if (!batch) throw notFoundError(id);
    return batch;
  }

  /** Returns one page of the organization's batches, newest first. */
  list(organization_id: string, page: BatchPage): Promise<BatchRow[]> {
    return listBatches(this.deps.sql, organization_id, page);
  }

  /**
   * Cancels the items that have not started, and returns the batch. Throws WeirError: `not_found`,
   * or 400 if the batch has ended. `by` is on record with the event.
   */
  async cancel(id: string, organization_id: string, by?: 'operator'): Promise<BatchRow> {
    const { status } = await this.get(id, organization_id);
    if (status === 'ended') {
      const message = `Batch ${id} cannot be canceled: its processing has ended.`;
      throw new WeirError('invalid_request', message, { param: 'message_batch_id' });
    }
    const event = { type: 'CANCEL', ...(by ? { by } : {}) } satisfies BatchEvent;
    const result = await this.deps.send({ kind: BATCH_KIND, id, event });
    if (result.type === 'fenced') throw unavailableError();
    return this.get(id, organization_id);
  }

  /**
   * Deletes a batch that has ended. Throws WeirError: `not_found`, or 400 if the batch has not
   * ended.
   */
  async delete(id: string, organization_id: string): Promise<void> {
    if (await deleteBatch(this.deps.sql, id, organization_id)) return;
    await this.get(id, organization_id);
    throw new WeirError('invalid_request', `Batch ${id} cannot be deleted before it has ended.`, {
      param: 'message_batch_id',
      hint: 'Cancel the batch, then wait until its processing_status is ended.',
    });
  }

  /**
   * Yields the outcome of each item of an ended batch, in order. The caller must have checked that
   * the batch has ended and belongs to the organization. The next rows are read only when the
   * consumer requests the next list.
   */
  async *results(id: string): AsyncGenerator<ItemEnd[]> {
    for (let after = -1; ; ) {
      const results = await listResults(this.deps.sql, id, after, RESULTS_PER_QUERY);
      const last = results.at(-1);
      if (!last) return;
      yield results;
      after = last.position;
    }
  }
}

const MAX_QUOTED_CHARS = 100;

function notFoundError(id: string): WeirError {
  const message = `Message batch ${id.slice(0, MAX_QUOTED_CHARS)} not found.`;
  return new WeirError('not_found', message, { param: 'message_batch_id' });
}

function unavailableError(): WeirError {
  return new WeirError('service_unavailable', 'The batch cannot be changed now.', {
    retry_after: 2,
  });
}
