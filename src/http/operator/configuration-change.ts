import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import {
  type ConfiguredKind,
  type RowState,
  recordConfigurationChange,
} from '../../../db/configuration/changes.ts';
import type { Operator } from '../../access/manager.ts';
import type { RequestContext } from '../endpoint.ts';
import { type ChangeDeps, changeOnce } from '../management/change-once.ts';
import type { OperatorDeps } from './operator-parts.ts';

/** One change: its route, and the body as the operator sent it. */
interface Change {
  readonly route: string;
  readonly body: string;
}

/** Dependencies of the routes that change rows of the configuration. */
export type ConfigurationDeps = OperatorDeps & Pick<ChangeDeps, 'answers_key'>;

/**
 * Makes a change of a row, and notifies all replicas, also if Weir does not know whether it was
 * committed. This replica has applied the change before the answer.
 */
export async function changeConfiguration(
  { operator, answers_key }: ConfigurationDeps,
  context: RequestContext,
  { actor }: Operator,
  { route, body }: Change,
  change: (tx: TransactionSql) => Promise<Response>,
): Promise<Response> {
  const { sql, announceChannels, applyChannels } = operator();
  const request = { organization_id: null, actor_id: actor.id, route, body };
  try {
    return await changeOnce({ sql, answers_key }, context, request, change);
  } finally {
    announceChannels();
    // If this read fails, it is repeated in the background; the change stands.
    await applyChannels().catch(() => undefined);
  }
}

/** A change of one row. */
interface RowChange {
  readonly kind: ConfiguredKind;
  readonly id: string;
  /** The object and the verb, e.g. `channel.update`. */
  readonly action: string;
  /** The whole row, which may have an encrypted key; null = there is none. */
  readonly before: RowState | null;
  readonly after: RowState | null;
  /** The changed members for the audit log, without secrets. */
  readonly shown: { readonly before: object | null; readonly after: object | null };
  /** The change that this one takes back. */
  readonly takes_back?: number;
}

/**
 * Writes the audit line of a change, and what is needed to take it back. Call it last in the
 * transaction. Returns the number of the change.
 */
export async function recordChange(
  tx: TransactionSql,
  { actor }: Operator,
  { kind, id, action, before, after, shown, takes_back = undefined }: RowChange,
): Promise<number> {
  const line = { organization_id: null, actor, action, subject_id: id, ...shown };
  const seq = await appendAudit(tx, line);
  const change = { seq, kind, id, before, after, takes_back: takes_back ?? null };
  await recordConfigurationChange(tx, change);
  return seq;
}

/** Returns a row as JSON: times as text. */
export function stateOf(row: object): RowState {
  return JSON.parse(JSON.stringify(row)) as RowState;
}
