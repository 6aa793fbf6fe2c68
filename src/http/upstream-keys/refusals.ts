/** Why requests about own keys are refused. */
import { MAX_OWN_KEYS, MAX_OWN_KEYS_EVER } from '../../../db/upstream-keys/rows.ts';
import { WeirError } from '../../errors/weir-error.ts';

/** Members that never change, because the key is for this account. */
const FIXED = ['protocol', 'base_url', 'dialect', 'api_version', 'api_key'];

/** Throws WeirError if a change is empty, or names what never changes. */
export function refuseFixed(value: Readonly<Record<string, unknown>>): void {
  const param = FIXED.find((name) => Object.hasOwn(value, name));
  if (param !== undefined) {
    const hint =
      param === 'api_key'
        ? 'Send POST /v1/management/upstream-keys/{id}/rotate.'
        : 'Create another upstream key, and revoke this one.';
    const message = `${param} of an upstream key cannot change here.`;
    throw new WeirError('invalid_request', message, { param, hint });
  }
  if (Object.keys(value).length > 0) return;
  throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
}

/** The same error for another organization's key and for a missing key (P6). */
export function keyNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such upstream key.', { param: 'id' });
}

export function revokedError(): WeirError {
  return new WeirError('invalid_request', 'This upstream key is revoked.', {
    ...{ param: 'id', hint: 'Create another upstream key.' },
  });
}

/** The error if the installation's secret key was changed. */
export function unreadableError(): WeirError {
  return new WeirError('conflict', 'This upstream key cannot be decrypted any more.', {
    ...{ param: 'id', hint: 'Rotate it: send the key again.' },
  });
}

export function tooManyKeys(): WeirError {
  const message = `There can be at most ${MAX_OWN_KEYS} upstream keys, and ${MAX_OWN_KEYS_EVER} with the revoked ones.`;
  return new WeirError('conflict', message, { hint: 'Revoke a key that is not used.' });
}

/** The error of a protocol whose models Weir cannot list. */
export function modelsRequired(protocol: string): WeirError {
  return new WeirError('invalid_request', `models is required for the protocol ${protocol}.`, {
    ...{ param: 'models', hint: 'Name the models: public id → id at the provider.' },
  });
}

/** The error if the kept answer of a repeat expired while the repeat ran. */
export function lateRepeat(): WeirError {
  const message = 'The answer of the first request is no longer kept.';
  return new WeirError('service_unavailable', message, { retry_after: 1 });
}
