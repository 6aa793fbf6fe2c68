import { isObject } from '../../json/object.ts';
import {
  RetryableUpstreamError,
  type RetryableUpstreamFailure,
  TerminalUpstreamError,
  type UpstreamTarget,
} from '../contract.ts';
import { readEvidence } from './errors/evidence.ts';
import { judge, type Verdict } from './errors/judge.ts';
import { readWaitMs } from './errors/wait.ts';
import { scrub } from './scrub.ts';

const DEFAULT_MESSAGE = 'The request was refused.';
/** Statuses at which an upstream, or a proxy before it, waited too long. */
const TIMEOUTS = [408, 504, 522, 524];
/** The longest code and the most members of details that a client gets. */
const MAX_DETAIL_CHARS = 64;
const MAX_DETAILS = 20;

/** The parts of a call that classification needs. */
export interface RefusedCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  /** The client's request, as JSON. A generation has `input`. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly input?: object;
}

/**
 * Converts an error response of an upstream. An error that proves that the client caused it becomes
 * a TerminalUpstreamError. Every other error becomes a RetryableUpstreamError, because another
 * channel may succeed (P19).
 */
export function classifyFailure(
  call: RefusedCall,
  status: number,
  headers: Pick<Headers, 'get'>,
  text: string,
): RetryableUpstreamError | TerminalUpstreamError {
  const requestText = () => JSON.stringify(call.body ?? call.input ?? {});
  const { protocol } = call.target;
  return errorOf(call, status, headers, judge({ status, headers, text, protocol, requestText }));
}

function errorOf(
  call: RefusedCall,
  status: number,
  headers: Pick<Headers, 'get'>,
  verdict: Verdict,
): RetryableUpstreamError | TerminalUpstreamError {
  const { fault, evidence, error_id } = verdict;
  const message = scrub(evidence.message || DEFAULT_MESSAGE, call);
  if (fault === 'caller') {
    const param = evidence.param ?? paramOf(message);
    return new TerminalUpstreamError(error_id ?? 'invalid_request', message, param, status, {
      details: safeDetails(evidence.details),
    });
  }
  const codes = [...new Set(evidence.codes.map(({ value }) => value))].join(' ');
  const said = evidence.words || DEFAULT_MESSAGE;
  return new RetryableUpstreamError(
    failureOf(status, verdict),
    `upstream ${status} ${codes}: ${said}`,
    {
      status,
      fault,
      retry_after_ms: readWaitMs(headers, evidence),
      public_message: evidence.message === '' ? undefined : message,
      error_id,
    },
  );
}

function failureOf(status: number, { fault, rule }: Verdict): RetryableUpstreamFailure {
  switch (fault) {
    case 'account':
      if (rule?.health === undefined) return 'auth';
      return rule.health === 'model' ? 'server' : 'unclear';
    case 'throttle':
      return 'throttle';
    case 'unclear':
      return 'unclear';
    default:
      if (TIMEOUTS.includes(status)) return 'timeout';
      return status < 400 ? 'malformed' : 'server';
  }
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
 * Converts an error inside a stream or a 200 response. If one of the error's codes is a number from
 * 400 to 599, this number is the status. Otherwise a code determines the status.
 */
export function classifyInlineError(
  call: RefusedCall,
  text: string,
): RetryableUpstreamError | TerminalUpstreamError {
  const headers = new Headers();
  const codes = readEvidence(text, headers).codes.map(({ value }) => value);
  const numeric = codes
    .map(Number)
    .find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  const known = codes.map((code) => STATUS_OF[code]).find((status) => status !== undefined);
  const status = numeric ?? known;
  if (status !== undefined) return classifyFailure(call, status, headers, text);
  const requestText = () => JSON.stringify(call.body ?? call.input ?? {});
  const refusal = { status: 400, headers, text, protocol: call.target.protocol, requestText };
  const verdict = judge(refusal);
  // Without a known code, nothing proves more than that the upstream failed.
  return verdict.rule
    ? errorOf(call, 400, headers, verdict)
    : classifyFailure(call, 500, headers, text);
}

/**
 * True if the body of a 200 response, or an event of a stream, reports a failure: in `error`, or in MiniMax's
 * `base_resp`, whose `status_code` is 0 in a success (adrianlyjak/obsidian-aloud-tts#114).
 */
export function reportsFailure({ error, base_resp }: Readonly<Record<string, unknown>>): boolean {
  const code = isObject(base_resp) ? Number(base_resp['status_code'] ?? 0) : 0;
  return Boolean(error) || code !== 0;
}

/** Anthropic names the parameter only at the start of the message: `messages.0.role: …`. */
function paramOf(message: string): string | null {
  return /^([a-z_]+(?:\.[a-z0-9_]+)*): /i.exec(message)?.[1] ?? null;
}

/**
 * Returns the members of Anthropic's `error.details` that are codes, numbers or lists of codes. They
 * reveal nothing, and Anthropic's SDKs read them. Undefined if there are none.
 */
function safeDetails(
  details: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (details === undefined || typeof details['error_code'] !== 'string') return undefined;
  const isCode = (value: unknown) =>
    typeof value === 'string' && value.length <= MAX_DETAIL_CHARS && /^[a-z0-9_.]+$/.test(value);
  const isSafe = (value: unknown) =>
    isCode(value) ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    (Array.isArray(value) && value.length <= MAX_DETAILS && value.every(isCode));
  const kept = Object.entries(details)
    .filter(([, value]) => isSafe(value))
    .slice(0, MAX_DETAILS);
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
