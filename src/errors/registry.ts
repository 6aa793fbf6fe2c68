/**
 * Every error that a client can see. Each entry has the status, the type, and whether a retry can
 * help (spec: Errors). `render.ts` turns an entry into the envelope of a route.
 */

/** The public properties of one error. */
export interface ErrorEntry {
  /** HTTP status. */
  readonly status: number;
  /** `error.type` of the OpenAI-style envelope. */
  readonly type: string;
  /** `error.type` of the native messages envelope (Anthropic docs: Errors; spec: Errors). */
  readonly nativeType: string;
  /** `error.retryable`. If true, the same request can succeed later without a change. */
  readonly retryable: boolean;
}

const entry = (
  status: number,
  type: string,
  nativeType: string,
  retryable = false,
): ErrorEntry => ({ status, type, nativeType, retryable });

/** The entry of each error id. */
export const ERRORS = {
  invalid_request: entry(400, 'invalid_request_error', 'invalid_request_error'),
  invalid_json: entry(400, 'invalid_request_error', 'invalid_request_error'),
  context_length_exceeded: entry(400, 'invalid_request_error', 'invalid_request_error'),
  content_policy_violation: entry(400, 'invalid_request_error', 'invalid_request_error'),
  model_not_found: entry(400, 'invalid_request_error', 'invalid_request_error'),
  /**
   * The model detail route answers 404 with the public code `model_not_found` (spec: Model
   * catalogue).
   */
  model_detail_not_found: entry(404, 'invalid_request_error', 'not_found_error'),
  currency_retired: entry(400, 'invalid_request_error', 'invalid_request_error'),
  invalid_api_key: entry(401, 'invalid_request_error', 'authentication_error'),
  expired_api_key: entry(401, 'invalid_request_error', 'authentication_error'),
  /** The e-mail address or the password is wrong. The error does not say which. */
  sign_in_failed: entry(401, 'invalid_request_error', 'authentication_error'),
  /** The request has the cookie of no session, or of one that has ended. */
  session_ended: entry(401, 'invalid_request_error', 'authentication_error'),
  insufficient_balance: entry(402, 'insufficient_balance', 'insufficient_balance_error'),
  quota_exceeded: entry(402, 'quota_exceeded', 'billing_error'),
  /**
   * All money that the key has left is reserved for calls in flight, so a retry can help. If the
   * key has no money left, Weir uses the entry `quota_exceeded`. Both entries have the same public
   * code.
   */
  quota_in_flight: entry(402, 'quota_exceeded', 'billing_error', true),
  /**
   * All money that the organization has left is reserved for calls in flight, so a retry can help.
   * If the organization has no money left, Weir uses the entry `insufficient_balance`.
   */
  balance_in_flight: entry(402, 'insufficient_balance', 'insufficient_balance_error', true),
  access_denied: entry(403, 'access_denied', 'permission_error'),
  model_not_allowed: entry(403, 'access_denied', 'permission_error'),
  organization_suspended: entry(403, 'access_denied', 'permission_error'),
  organization_closed: entry(403, 'access_denied', 'permission_error'),
  not_found: entry(404, 'invalid_request_error', 'not_found_error'),
  async_task_not_found: entry(404, 'invalid_request_error', 'not_found_error'),
  /**
   * The idempotency key was sent before with another request (IETF draft: The Idempotency-Key HTTP
   * Header Field).
   */
  idempotency_key_reused: entry(422, 'invalid_request_error', 'invalid_request_error'),
  /** The first call with the idempotency key is still running. */
  idempotency_key_in_use: entry(409, 'invalid_request_error', 'invalid_request_error', true),
  /**
   * The replica that ran the first call with the idempotency key died. Nobody knows whether that
   * call was charged, so it does not run again (P10).
   */
  idempotency_outcome_unknown: entry(409, 'invalid_request_error', 'invalid_request_error'),
  /** The first call with the idempotency key was charged, but its answer was not kept. */
  idempotent_answer_not_kept: entry(410, 'invalid_request_error', 'invalid_request_error'),
  method_not_allowed: entry(405, 'invalid_request_error', 'invalid_request_error'),
  /** Another object has the value, e.g. an external id. */
  already_exists: entry(409, 'invalid_request_error', 'invalid_request_error'),
  /** The object is in a state that does not allow the change. */
  conflict: entry(409, 'invalid_request_error', 'invalid_request_error'),
  /** The object is no longer what the client read (`If-Match`; RFC 9110, 13.1.1). */
  precondition_failed: entry(412, 'invalid_request_error', 'invalid_request_error'),
  payload_too_large: entry(413, 'invalid_request_error', 'request_too_large'),
  unsupported_media_type: entry(415, 'invalid_request_error', 'invalid_request_error'),
  rate_limit_exceeded: entry(429, 'rate_limit_exceeded', 'rate_limit_error', true),
  internal_error: entry(500, 'api_error', 'api_error', true),
  upstream_error: entry(502, 'upstream_error', 'api_error', true),
  /** Every provider of the model has too many requests at the moment. */
  upstream_overloaded: entry(503, 'upstream_error', 'overloaded_error', true),
  all_channels_failed: entry(503, 'upstream_error', 'overloaded_error', true),
  service_unavailable: entry(503, 'service_unavailable', 'overloaded_error', true),
  timeout_error: entry(504, 'timeout_error', 'timeout_error', true),
} as const satisfies Record<string, ErrorEntry>;

/** Internal id of an error; `publicCode` returns its public code. */
export type ErrorId = keyof typeof ERRORS;

/**
 * The public codes that differ from the entry's id. Several entries can have the same public code,
 * e.g. `quota_exceeded` and `quota_in_flight`.
 */
const PUBLIC_CODES: Partial<Record<ErrorId, string>> = {
  invalid_request: 'invalid_request_error',
  invalid_json: 'invalid_request_error',
  model_detail_not_found: 'model_not_found',
  quota_in_flight: 'quota_exceeded',
  balance_in_flight: 'insufficient_balance',
  upstream_overloaded: 'upstream_error',
};

/** Returns the `error.code` of an entry. */
export function publicCode(id: ErrorId): string {
  return PUBLIC_CODES[id] ?? id;
}
