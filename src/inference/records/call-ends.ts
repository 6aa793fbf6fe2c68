import { publicCode } from '../../errors/registry.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { callFault } from './call-fault.ts';
import type { CallRecord } from './call-record.ts';

/** The status that logs give a call whose client left (nginx docs: 499). */
export const CLIENT_LEFT = 499;

/** Ends the record of a call with a response. A stream ends its record itself. */
export function endRecord(record: CallRecord, response: Response): void {
  record.status = response.status;
  if (record.lasts) return;
  record.end();
}

/** Ends the record of a call with an error. */
export function failRecord(record: CallRecord, error: unknown, hasClientLeft: boolean): void {
  noteFailure(record, error, hasClientLeft);
  record.end();
}

/** Notes why a call has no complete answer. */
export function noteFailure(record: CallRecord, error: unknown, hasClientLeft: boolean): void {
  if (hasClientLeft) {
    record.outcome = 'canceled';
    record.status = CLIENT_LEFT;
    record.error_code = 'client_left';
    record.fault = 'caller';
    return;
  }
  const known = error instanceof WeirError ? error : undefined;
  record.status = known?.entry.status ?? 500;
  record.outcome = record.status < 500 ? 'refused' : 'failed';
  record.fault = callFault(error);
  record.error_code = known ? publicCode(known.id) : 'internal_error';
}
