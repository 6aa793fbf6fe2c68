import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { BatchListRow } from '../../../db/batches/list.ts';
import { usd } from '../../json/usd.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();
export const BATCH_STATUSES = ['in_progress', 'canceling', 'ended'] as const;

/** A message batch in the management routes. */
export const BatchRecordSchema = Type.Object(
  {
    object: Type.Literal('batch'),
    id: Type.String(),
    status: Type.Union(BATCH_STATUSES.map((status) => Type.Literal(status))),
    api_key_id: Type.String(),
    /** How many items have each result; `remaining` items have none yet. */
    progress: Type.Object(
      {
        total: Type.Integer(),
        succeeded: Type.Integer(),
        errored: Type.Integer(),
        canceled: Type.Integer(),
        expired: Type.Integer(),
        remaining: Type.Integer(),
      },
      closed,
    ),
    /** USD that the ended items cost so far; null if an earlier version did not record it. */
    charged_amount: Nullable(Type.Number()),
    created_at: Time,
    expires_at: Time,
    cancel_requested_at: Nullable(Time),
    ended_at: Nullable(Time),
    /** The route with the results, which needs an API key; null while there are none. */
    results_path: Nullable(Type.String()),
  },
  closed,
);
export type BatchRecord = Static<typeof BatchRecordSchema>;

/** Returns a batch as its organization sees it. */
export function managedBatchRecord(row: BatchListRow): BatchRecord {
  const { succeeded, errored, canceled, expired } = row.counts ?? {
    succeeded: row.succeeded,
    errored: row.errored,
    canceled: 0,
    expired: 0,
  };
  const remaining = Math.max(0, row.total - succeeded - errored - canceled - expired);
  return {
    object: 'batch',
    id: row.id,
    status: row.status,
    api_key_id: row.key_id,
    progress: { total: row.total, succeeded, errored, canceled, expired, remaining },
    charged_amount: row.charged_nano_usd === null ? null : usd(row.charged_nano_usd),
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
    cancel_requested_at: row.cancel_initiated_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    results_path:
      row.status === 'ended' && !row.archived_at ? `/v1/messages/batches/${row.id}/results` : null,
  };
}
