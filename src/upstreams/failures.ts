import { RetryableUpstreamError, TerminalUpstreamError, type UpstreamCall } from './contract.ts';
import { isObject } from './http.ts';

/** What an upstream's error body says, whichever of the two dialects it speaks. */
interface Complaint {
  message: string;
  type: string;
  code: string;
  param: string | null;
}

const MAX_MESSAGE_CHARS = 500;

/**
 * Turns an upstream's refusal into one of ours (upstreams: error mapping). A 4xx that the caller
 * caused is terminal; keys, quotas and rates are the operator's and another channel may serve.
 */
export function failureOf(
  call: UpstreamCall,
  status: number,
  headers: Headers,
  text: string,
): RetryableUpstreamError | TerminalUpstreamError {
  const complaint = readComplaint(text);
  const internal = `upstream ${status} ${complaint.type} ${complaint.code}: ${complaint.message}`;
  const retryAfterMs = retryAfter(headers);
  const retryable = (failure: RetryableUpstreamError['failure']) =>
    new RetryableUpstreamError(failure, internal, retryAfterMs, status);
  if (status === 429 || complaint.type === 'rate_limit_error') {
    const outOfMoney = [complaint.type, complaint.code].includes('insufficient_quota');
    return retryable(outOfMoney ? 'auth' : 'throttle');
  }
  if ([401, 402, 403, 404].includes(status)) return retryable('auth');
  if (status === 408 || status === 504) return retryable('timeout');
  if (status >= 500 || status < 400) return retryable(status < 400 ? 'malformed' : 'server');
  const message = scrub(complaint.message, call);
  if (isTooLong(complaint)) {
    return new TerminalUpstreamError('context_length_exceeded', message, complaint.param, status);
  }
  if (status === 413) {
    return new TerminalUpstreamError('payload_too_large', message, complaint.param, status);
  }
  const filtered = ['content_filter', 'content_policy_violation'].includes(complaint.code);
  const id = filtered ? 'content_policy_violation' : 'invalid_request';
  return new TerminalUpstreamError(id, message, complaint.param ?? paramOf(message), status);
}

/** An error that came inside a stream or a 200: its type stands in for the status. */
export function failureInside(call: UpstreamCall, text: string) {
  const { type } = readComplaint(text);
  const status = type === 'invalid_request_error' ? 400 : type === 'rate_limit_error' ? 429 : 500;
  return failureOf(call, status, new Headers(), text);
}

function readComplaint(text: string): Complaint {
  let error: unknown;
  try {
    const body: unknown = JSON.parse(text);
    error = isObject(body) ? body['error'] : undefined;
  } catch {
    // Not JSON: a proxy in between answered.
  }
  const read = (key: string) => {
    const value = isObject(error) ? error[key] : undefined;
    return typeof value === 'string' ? value : '';
  };
  return {
    message: read('message') || (typeof error === 'string' ? error : 'The request was refused.'),
    type: read('type'),
    code: read('code'),
    param: read('param') || null,
  };
}

function isTooLong({ code, message }: Complaint): boolean {
  return (
    code === 'context_length_exceeded' || /prompt is too long|maximum context length/i.test(message)
  );
}

/** The native dialect names the field only in its message: `messages.0.role: …`. */
function paramOf(message: string): string | null {
  return /^([a-z_]+(?:\.[a-z0-9_]+)*): /i.exec(message)?.[1] ?? null;
}

/**
 * Keeps what helps the caller and takes out what names the upstream (P5): the physical model,
 * addresses, request and organization ids, fragments of keys.
 */
export function scrub(message: string, call: UpstreamCall): string {
  return message
    .replaceAll(call.physical_model, call.public_model)
    .replaceAll(call.target.api_key, '***')
    .replace(/https?:\/\/\S+/gi, '')
    .replace(/\b(req|request|org|proj|sk|key|acct)[-_][A-Za-z0-9*_-]{4,}/g, '***')
    .replace(/\b(openai|anthropic|azure)\b/gi, 'the provider')
    .slice(0, MAX_MESSAGE_CHARS)
    .trim();
}

function retryAfter(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get('retry-after-ms'));
  if (milliseconds > 0) return milliseconds;
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
