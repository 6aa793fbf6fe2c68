import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { scrub } from './scrub.ts';

/** The fields of an upstream's error, from a body in the format of OpenAI or of Anthropic. */
interface ErrorBody {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** False if the body is not an error of a model API, for example if a proxy answered. */
  isFromModelApi: boolean;
}

type Retryable = RetryableUpstreamError['failure'];

/** Error codes and types about the channel's key or quota. The operator must fix these errors. */
const OPERATOR_CODES = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'invalid_api_key',
];
/** Anthropic reports an exhausted quota with status 400. Only the message shows the cause. */
const OPERATOR_MESSAGE =
  /your credit balance is too low|reached your specified (?:api )?usage limits/i;
/**
 * Words for objects that a client names by id. If the message of a 404 contains such a word, the
 * client caused the error. Otherwise the model or the address is wrong, and the operator must fix
 * the configuration.
 */
const CLIENT_OBJECTS = /\b(?:files?|container|document|image|skill|prompt|response)\b/i;
const TOO_LONG =
  /prompt is too long|maximum context length|context window|input token count|input is too long/i;
const FILTER_CODES = ['content_filter', 'content_policy_violation', 'moderation_blocked'];
/**
 * Statuses that mean that the channel's key or address is wrong. The only exception is a content
 * filter that refuses a client's request with such a status.
 */
const OPERATOR_STATUSES = [401, 402, 403, 405, 407, 410, 421];

/**
 * Converts an error response of an upstream. A 4xx that the client caused becomes a
 * TerminalUpstreamError. All other errors, e.g. about keys, quotas and rates, become a
 * RetryableUpstreamError, because another channel may succeed.
 */
export function classifyFailure(
  call: UpstreamCall,
  status: number,
  headers: Pick<Headers, 'get'>,
  text: string,
): RetryableUpstreamError | TerminalUpstreamError {
  const error = readErrorBody(text);
  const failure = retryableClass(call, status, error);
  if (failure === null) return terminalError(call, status, error);
  const { type, code, message } = error;
  return new RetryableUpstreamError(
    failure,
    `upstream ${status} ${type} ${code}: ${message}`,
    readRetryAfterMs(headers),
    status,
  );
}

/** Returns the class of the failure; null if the client caused the error. */
function retryableClass(
  { body }: UpstreamCall,
  status: number,
  { type, code, message, isFromModelApi }: ErrorBody,
): Retryable | null {
  if (OPERATOR_CODES.includes(code) || OPERATOR_CODES.includes(type)) return 'auth';
  // A message may quote the request. A client must not disable a channel by sending these words.
  if (OPERATOR_MESSAGE.test(message) && !OPERATOR_MESSAGE.test(JSON.stringify(body))) return 'auth';
  // If one request is larger than the account's rate limit, waiting does not help.
  if (status === 429) return /^request too large/i.test(message) ? null : 'throttle';
  if (OPERATOR_STATUSES.includes(status)) return isFiltered(code, message) ? null : 'auth';
  // The physical model comes from the configuration, so the operator must fix it.
  if (code === 'model_not_found') return 'server';
  if (status === 404) return isFromModelApi && CLIENT_OBJECTS.test(message) ? null : 'server';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'server';
  return status < 400 ? 'malformed' : null;
}

function terminalError(
  call: UpstreamCall,
  status: number,
  { message: upstreamMessage, code, param: reportedParam }: ErrorBody,
): TerminalUpstreamError {
  const message = scrub(upstreamMessage, call);
  const param = reportedParam ?? paramOf(message);
  const errorOf = (id: TerminalUpstreamError['error_id']) =>
    new TerminalUpstreamError(id, message, param, status);
  if (code === 'context_length_exceeded' || TOO_LONG.test(upstreamMessage)) {
    return errorOf('context_length_exceeded');
  }
  if (status === 413 || status === 429) return errorOf('payload_too_large');
  return errorOf(
    isFiltered(code, upstreamMessage) ? 'content_policy_violation' : 'invalid_request',
  );
}

function isFiltered(code: string, message: string): boolean {
  return (
    FILTER_CODES.includes(code) || /\bflagged\b|content policy|content management/i.test(message)
  );
}

/** The HTTP status for an error that came without a status, by the error's code or type. */
const STATUS_OF: Record<string, number> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  content_filter: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  overloaded_error: 529,
};

/**
 * Converts an error inside a stream or a 200 response. If the error's code is a number from 400 to
 * 599, this number is the status. Otherwise the code or the type determines the status.
 */
export function classifyInlineError(call: UpstreamCall, text: string) {
  const { type, code } = readErrorBody(text);
  const numeric = Number(code);
  const isStatus = Number.isInteger(numeric) && numeric >= 400 && numeric < 600;
  const status = isStatus ? numeric : (STATUS_OF[code] ?? STATUS_OF[type] ?? 500);
  return classifyFailure(call, status, new Headers(), text);
}

function readErrorBody(text: string): ErrorBody {
  let error: unknown;
  try {
    const body: unknown = JSON.parse(text);
    // Some servers send the error without the `error` envelope.
    error = isObject(body) ? (body['error'] ?? body) : undefined;
  } catch {
    // The text is not JSON, so a proxy answered.
  }
  const read = (key: string) => {
    const value = isObject(error) ? error[key] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const message = typeof error === 'string' ? error : read('message');
  return {
    message: message || 'The request was refused.',
    type: read('type'),
    code: read('code'),
    param: read('param') || null,
    isFromModelApi: message !== '',
  };
}

/** Anthropic names the parameter only at the start of the message: `messages.0.role: …`. */
function paramOf(message: string): string | null {
  return /^([a-z_]+(?:\.[a-z0-9_]+)*): /i.exec(message)?.[1] ?? null;
}

/**
 * Returns the wait that an upstream requests, ms: `retry-after-ms`, or `Retry-After` in seconds or
 * as a date.
 */
export function readRetryAfterMs(headers: Pick<Headers, 'get'>): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms'));
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds;
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
