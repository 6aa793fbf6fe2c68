import type { TaskViewRow } from '../../../db/tasks/rows.ts';
import { ERRORS, type ErrorId, publicCode } from '../../errors/registry.ts';
import { messageFor } from './failures.ts';
import type { StoredOutput, TaskView } from './port.ts';

/**
 * A task that is younger than `age_s` should be polled again after `retry_after_s`. A young task
 * may end sooner than an old one.
 */
const RETRY_AFTER_BY_AGE: readonly (readonly [age_s: number, retry_after_s: number])[] = [
  [10, 1],
  [60, 3],
  [300, 5],
];
const MAX_RETRY_AFTER_S = 10;

/** Returns a task's row as clients see it. */
export function viewOf(row: TaskViewRow): TaskView {
  const { id, scene, status, created, model } = row;
  return {
    id,
    scene,
    status,
    created,
    model,
    outputs: (row.outputs ?? []) as unknown as StoredOutput[],
    tokens: row.tokens as unknown as TaskView['tokens'],
    error: status === 'failed' ? errorOf(row) : null,
    billing_transaction_id: row.billing_id === null ? null : billingTransactionId(row.billing_id),
    retry_after_s:
      RETRY_AFTER_BY_AGE.find(([age_s]) => row.age_s < age_s)?.[1] ?? MAX_RETRY_AFTER_S,
  };
}

/** Returns the error of a failed task as clients see it. */
export function errorOf({
  error_code,
  error_message,
}: Pick<TaskViewRow, 'error_code' | 'error_message'>): NonNullable<TaskView['error']> {
  const code = error_code ?? 'upstream_error';
  return {
    code: code in ERRORS ? publicCode(code as ErrorId) : code,
    message: error_message ?? messageFor(code),
  };
}

/** Returns `txn_` with the usage line's UUID (P15). */
export function billingTransactionId(line_id: string): string {
  return `txn_${line_id.replaceAll('-', '')}`;
}
