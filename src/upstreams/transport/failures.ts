import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { scrub } from './scrub.ts';

/** What an upstream's error body says, whichever of the two dialects it speaks. */
interface Complaint {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** False if the body was no error of a model API: a proxy in between answered. */
  isSpoken: boolean;
}

type Retryable = RetryableUpstreamError['failure'];

/** Money and keys are the operator's business (upstreams: error mapping). */
const OPERATORS_CODES = [
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'invalid_api_key',
];
/** The native dialect says the same in a 400, in words only. */
const OPERATORS_WORDS =
  /your credit balance is too low|reached your specified (?:api )?usage limits/i;
/** What a caller names by an id that may not exist; a missing model or address is the operator's. */
const CALLERS_THINGS = /\b(?:files?|container|document|image|skill|prompt|response)\b/i;
const TOO_LONG = /prompt is too long|maximum context length|context window/i;
const FILTERED = ['content_filter', 'content_policy_violation', 'moderation_blocked'];
/** Nothing that a caller can cause: the key is wrong, or the address is. */
const OPERATORS_STATUSES = [401, 402, 403, 405, 407, 410, 421];

/**
 * Turns an upstream's refusal into one of ours (upstreams: error mapping). A 4xx that the caller
 * caused is terminal; keys, quotas and rates are the operator's and another channel may serve.
 */
export function classifyFailure(
  call: UpstreamCall,
  status: number,
  headers: Pick<Headers, 'get'>,
  text: string,
): RetryableUpstreamError | TerminalUpstreamError {
  const complaint = readComplaint(text);
  const failure = retryableClass(call, status, complaint);
  if (failure === null) return terminal(call, status, complaint);
  const { type, code, message } = complaint;
  return new RetryableUpstreamError(
    failure,
    `upstream ${status} ${type} ${code}: ${message}`,
    readRetryAfterMs(headers),
    status,
  );
}

/** null = the caller caused it. */
function retryableClass(
  { body }: UpstreamCall,
  status: number,
  { type, code, message, isSpoken }: Complaint,
): Retryable | null {
  if (OPERATORS_CODES.includes(code) || OPERATORS_CODES.includes(type)) return 'auth';
  // A message may quote the request: nobody closes a channel by putting these words into a field.
  if (OPERATORS_WORDS.test(message) && !OPERATORS_WORDS.test(JSON.stringify(body))) return 'auth';
  // One call that is larger than the account's whole rate can never be served by waiting.
  if (status === 429) return /^request too large/i.test(message) ? null : 'throttle';
  if (OPERATORS_STATUSES.includes(status)) return isFiltered(code, message) ? null : 'auth';
  // The model is named by the configuration, files are named by the caller.
  if (code === 'model_not_found') return 'server';
  if (status === 404) return isSpoken && CALLERS_THINGS.test(message) ? null : 'server';
  if (status === 408 || status === 504) return 'timeout';
  if (status >= 500) return 'server';
  return status < 400 ? 'malformed' : null;
}

function terminal(
  call: UpstreamCall,
  status: number,
  { message: said, code, param: named }: Complaint,
): TerminalUpstreamError {
  const message = scrub(said, call);
  const param = named ?? paramOf(message);
  const is = (id: TerminalUpstreamError['error_id']) =>
    new TerminalUpstreamError(id, message, param, status);
  if (code === 'context_length_exceeded' || TOO_LONG.test(said)) {
    return is('context_length_exceeded');
  }
  if (status === 413 || status === 429) return is('payload_too_large');
  return is(isFiltered(code, said) ? 'content_policy_violation' : 'invalid_request');
}

function isFiltered(code: string, message: string): boolean {
  return FILTERED.includes(code) || /\bflagged\b|content policy|content management/i.test(message);
}

/** Statuses that the types and codes of an error stand for where there is no status. */
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

/** An error that came inside a stream or a 200: its type, or a numeric code, is its status. */
export function classifyInlineError(call: UpstreamCall, text: string) {
  const { type, code } = readComplaint(text);
  const numeric = Number(code);
  const isStatus = Number.isInteger(numeric) && numeric >= 400 && numeric < 600;
  const status = isStatus ? numeric : (STATUS_OF[code] ?? STATUS_OF[type] ?? 500);
  return classifyFailure(call, status, new Headers(), text);
}

function readComplaint(text: string): Complaint {
  let error: unknown;
  try {
    const body: unknown = JSON.parse(text);
    // A few servers leave the envelope out.
    error = isObject(body) ? (body['error'] ?? body) : undefined;
  } catch {
    // Not JSON: a proxy in between answered.
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
    isSpoken: message !== '',
  };
}

/** The native dialect names the field only in its message: `messages.0.role: …`. */
function paramOf(message: string): string | null {
  return /^([a-z_]+(?:\.[a-z0-9_]+)*): /i.exec(message)?.[1] ?? null;
}

/** What an upstream asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date. */
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
