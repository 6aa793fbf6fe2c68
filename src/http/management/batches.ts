import { type Static, Type } from '@sinclair/typebox';
import type { Sql } from 'postgres';
import { noteChange } from '../../../db/audit/log.ts';
import { type BatchListRow, findListedBatch, listBatchPage } from '../../../db/batches/list.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Batches } from '../../inference/batches/batches.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { resultsBody } from '../messages/batches/view.ts';
import { BATCH_STATUSES, BatchRecordSchema, managedBatchRecord } from './batch-record.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import {
  choiceParameter,
  listAnswer,
  listSchema,
  nameParameter,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from './list-query.ts';

/** Dependencies of the management routes of message batches. */
export interface BatchListDeps extends ManagementDeps {
  readonly batches: () => Pick<Batches, 'cancel' | 'results'>;
  /** The database of the lists. */
  readonly lists: () => Sql;
}

/** The answer of `GET /v1/management/batches`. */
export const BatchListSchema = listSchema(BatchRecordSchema);

/** `GET /v1/management/batches`. */
export const BatchQuerySchema = Type.Object(
  { status: choiceParameter(BATCH_STATUSES), api_key_id: nameParameter(), ...PAGE_PARAMETERS },
  { additionalProperties: false },
);
const validateQuery = validator(BatchQuerySchema);
/** An id that does not match cannot exist, so it is not looked up. */
const BATCH_ID = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * `GET /v1/management/batches`, `…/{id}`, `…/{id}/results` and `POST …/{id}/cancel`. Each query has the organization in its
 * condition, so a stranger's batch answers exactly like a missing one (P6).
 */
export class ManagedBatches {
  constructor(private readonly deps: BatchListDeps) {}

  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const query = readQuery(context.request, validateQuery);
    const request = pageRequestOf(query);
    const page = await listBatchPage(this.deps.lists(), organization_id, query, request);
    const answer: Static<typeof BatchListSchema> = listAnswer(
      page,
      ({ id }) => id,
      managedBatchRecord,
    );
    return json(answer);
  };

  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    return json(managedBatchRecord(await this.require(context, organization_id)));
  };

  /**
   * The results as `GET /v1/messages/batches/{id}/results` has them. They are answers of models, so
   * fewer callers may read them than the list.
   */
  readonly results: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const { id, status, archived_at } = await this.require(context, organization_id);
    if (status !== 'ended') {
      throw new WeirError('invalid_request', 'The batch has no results yet.', {
        param: 'id',
        hint: 'Wait for the status ended.',
      });
    }
    if (archived_at) {
      throw new WeirError('not_found', 'The results of this batch are archived.', { param: 'id' });
    }
    // A slow client may take longer than Bun's idle timeout.
    context.server?.timeout(context.request, 0);
    return new Response(resultsBody(this.deps.batches().results(id)), {
      headers: {
        'content-type': 'application/x-jsonl',
        'content-disposition': `attachment; filename="${id}.jsonl"`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      },
    });
  };

  /** Items that have not started do not run. Those that run end normally, and are charged. */
  readonly cancel: Handler = async (context) => {
    const { organization_id, actor } = await admitManager(this.deps, context);
    const { id, status, cancel_initiated_at } = await this.require(context, organization_id);
    if (status === 'ended' && !cancel_initiated_at) {
      throw new WeirError('invalid_request', 'The batch cannot be canceled: it has ended.', {
        param: 'id',
      });
    }
    if (status !== 'ended') {
      await noteChange(this.deps.sql, {
        ...{ organization_id, actor, action: 'batch.cancel', subject_id: id },
        ...{ before: { status }, after: { status: 'canceling' } },
      });
      await this.deps.batches().cancel(id, organization_id);
    }
    return json(managedBatchRecord(await this.require(context, organization_id)));
  };

  private async require(
    { params }: RequestContext,
    organization_id: string,
  ): Promise<BatchListRow> {
    const id = params['id'] ?? '';
    const row = BATCH_ID.test(id)
      ? await findListedBatch(this.deps.lists(), organization_id, id)
      : undefined;
    if (row) return row;
    throw new WeirError('not_found', 'There is no such batch.', { param: 'id' });
  }
}
