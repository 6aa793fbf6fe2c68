import type { Sql } from 'postgres';
import {
  type BatchPage,
  type BatchRow,
  deleteBatch,
  findBatch,
  insertBatch,
  listBatches,
  openBatch,
} from '../../../db/batches/batches.ts';
import { type ItemEnd, insertItems, listResults, type NewItem } from '../../../db/batches/items.ts';
import type { IdSource } from '../../actors/clock.ts';
import type { ActorCommand, CommandResult } from '../../actors/durable/command.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { BatchEvent } from '../../machines/batch.ts';
import type { Caller } from '../call.ts';
import { BATCH_KIND } from './kind.ts';

/** Results that are read at once. */
const RESULTS_A_READ = 32;

export interface BatchesDeps {
  readonly sql: Sql;
  readonly ids: IdSource;
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
}

/** Message batches as clients use them. A stranger's id answers like one that does not exist (P6). */
export class Batches {
  constructor(private readonly deps: BatchesDeps) {}

  /**
   * Makes a batch of items as they come, some at a time. Nothing of it is seen before all of them
   * are there. Throws what `items` throws; then there is no batch.
   */
  async create(
    key: Caller,
    headers: Record<string, string>,
    items: AsyncIterable<readonly Omit<NewItem, 'request_id'>[]>,
  ): Promise<BatchRow> {
    const { sql, ids, send } = this.deps;
    const { organization_id } = key;
    const id = `msgbatch_${ids.uuid().replaceAll('-', '')}`;
    await insertBatch(sql, { id, organization_id, key_id: key.id, headers });
    let total = 0;
    for await (const some of items) {
      await insertItems(
        sql,
        id,
        some.map((item) => ({ ...item, request_id: ids.uuid() })),
      );
      total += some.length;
    }
    const event = { type: 'OPENED' } satisfies BatchEvent;
    const result = await send({
      kind: BATCH_KIND,
      id,
      event,
      create: true,
      inTransaction: (tx) => openBatch(tx, id, total),
    });
    if (result.type !== 'committed') throw away();
    return this.get(id, organization_id);
  }

  /** Throws WeirError `not_found`. */
  async get(id: string, organization_id: string): Promise<BatchRow> {
    const found = await findBatch(this.deps.sql, id, organization_id);
    if (!found) throw unknown(id);
    return found;
  }

  /** The newest first. */
  list(organization_id: string, page: BatchPage): Promise<BatchRow[]> {
    return listBatches(this.deps.sql, organization_id, page);
  }

  /** Begins nothing more of it. Throws WeirError (400) where it has ended. */
  async cancel(id: string, organization_id: string): Promise<BatchRow> {
    const { status } = await this.get(id, organization_id);
    if (status === 'ended') {
      const message = `Batch ${id} cannot be canceled: its processing has ended.`;
      throw new WeirError('invalid_request', message, { param: 'message_batch_id' });
    }
    const event = { type: 'CANCEL' } satisfies BatchEvent;
    const result = await this.deps.send({ kind: BATCH_KIND, id, event });
    if (result.type === 'fenced') throw away();
    return this.get(id, organization_id);
  }

  /** Throws WeirError (400) where it has not ended. */
  async delete(id: string, organization_id: string): Promise<void> {
    if (await deleteBatch(this.deps.sql, id, organization_id)) return;
    await this.get(id, organization_id);
    throw new WeirError('invalid_request', `Batch ${id} cannot be deleted before it has ended.`, {
      param: 'message_batch_id',
      hint: 'Cancel it first, and wait for processing_status ended.',
    });
  }

  /** How each item of a batch that has ended came out, some at a time, as fast as they are taken. */
  async *results(id: string): AsyncGenerator<ItemEnd[]> {
    for (let after = -1; ; ) {
      const found = await listResults(this.deps.sql, id, after, RESULTS_A_READ);
      const last = found.at(-1);
      if (!last) return;
      yield found;
      after = last.position;
    }
  }
}

const MAX_QUOTED_CHARS = 100;

function unknown(id: string): WeirError {
  const message = `Message batch ${id.slice(0, MAX_QUOTED_CHARS)} not found.`;
  return new WeirError('not_found', message, { param: 'message_batch_id' });
}

function away(): WeirError {
  return new WeirError('service_unavailable', 'The service is busy.', { retry_after: 2 });
}
