import type { CallDetail, CallFacts } from '../../../db/records/record.ts';
import type { TaskEnd } from '../../../db/tasks/record.ts';
import { ERRORS, type ErrorId, publicCode } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { CLIENT_LEFT } from '../records/call-ends.ts';
import { callFault } from '../records/call-fault.ts';
import type { TaskWork } from './deps.ts';

const US_PER_MS = 1_000;
/** The largest value of the columns of offsets. */
const MAX_INT4 = 2_147_483_647;
const clamped = (count: number) => Math.min(MAX_INT4, Math.round(count));

/**
 * Returns what the usage line of a completed task says of its call, beside the money. `made` is
 * added to the detail. Undefined if nobody recorded the create call.
 */
export function factsOfTask(
  { id, record, created_ms, age_ms }: Pick<TaskWork, 'id' | 'record' | 'created_ms' | 'age_ms'>,
  made: Pick<CallDetail, 'units' | 'charge' | 'paid_nano_usd'>,
): CallFacts | undefined {
  if (!record) return undefined;
  const { vendor: _, protocol, program, authenticated_us, reserved_us, ...rest } = record;
  const latest = record.attempts.at(-1);
  return {
    at_ms: created_ms,
    ...{ protocol, program, authenticated_us, reserved_us },
    routed_us: latest ? clamped(latest.started_ms * US_PER_MS) : null,
    first_token_ms: null,
    ended_ms: clamped((reserved_us ?? 0) / US_PER_MS + age_ms),
    detail: { ...rest, task_id: id, ...made },
  };
}

/** Returns how the record of a failed task's call ends. `code` is the error code of the task. */
export function endOfTask(code: string): TaskEnd {
  if (code === 'request_cancelled') {
    return { outcome: 'canceled', status: CLIENT_LEFT, error_code: code, fault: 'caller' };
  }
  const id = code in ERRORS ? (code as ErrorId) : 'upstream_error';
  const { status } = ERRORS[id];
  const fault = callFault(new WeirError(id, ''));
  return {
    outcome: status < 500 ? 'refused' : 'failed',
    status,
    error_code: publicCode(id),
    // A task reserved its money. So the only limit that it can reach is one of the provider.
    fault: fault === 'cap' ? 'provider' : fault,
  };
}
