import type { DropReason } from '../../../db/repeats/kept-answers.ts';
import { WeirError } from '../../errors/weir-error.ts';

const PARAM = 'Idempotency-Key';
/**
 * If the first call is still running, the client should wait this long before a repeat, seconds.
 */
const RETRY_AFTER_S = 1;
const NEW_KEY_HINT = 'Send a new Idempotency-Key if you accept a second charge.';

/** Returns the error for an idempotency key that was sent before with another request. */
export function reusedKeyError(): WeirError {
  return new WeirError(
    'idempotency_key_reused',
    'This Idempotency-Key was used before with another request.',
    { param: PARAM, hint: 'Use a new Idempotency-Key for each new request.' },
  );
}

/** Returns the error for a repeat of a call that is still running. */
export function inUseError(): WeirError {
  return new WeirError(
    'idempotency_key_in_use',
    'The first request with this Idempotency-Key is still running.',
    {
      param: PARAM,
      hint: 'Send the same request again later. It gets the answer of the first request.',
      retry_after: RETRY_AFTER_S,
    },
  );
}

/** Returns the error for a repeat of a call whose replica died (P10). */
export function unknownOutcomeError(): WeirError {
  return new WeirError(
    'idempotency_outcome_unknown',
    'The first request with this Idempotency-Key was interrupted. Its outcome is unknown.',
    { param: PARAM, hint: NEW_KEY_HINT },
  );
}

const NOT_KEPT_BECAUSE: Record<DropReason, string> = {
  too_large: 'too large to be kept',
  no_room: 'dropped to make room for newer answers of the organization',
  switched_off: 'not kept, because the organization has keep_answers: false',
};

/** Returns the error for a repeat of a charged call whose answer was not kept. */
export function notKeptError(reason: DropReason): WeirError {
  return new WeirError(
    'idempotent_answer_not_kept',
    `The first request with this Idempotency-Key was charged. Its answer was ${NOT_KEPT_BECAUSE[reason]}.`,
    { param: PARAM, hint: NEW_KEY_HINT },
  );
}

/** Returns the error for a call that was charged, but whose answer could not be stored yet. */
export function notKeptYetError(cause: unknown): WeirError {
  return new WeirError(
    'service_unavailable',
    'The answer could not be kept for its Idempotency-Key yet.',
    {
      hint: 'Send the same request with the same Idempotency-Key again. It is not charged twice.',
      retry_after: 2,
    },
    cause,
  );
}
