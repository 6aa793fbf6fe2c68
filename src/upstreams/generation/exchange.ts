import { isObject } from '../../json/object.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../contract.ts';
import { classifyFailure } from '../transport/failures.ts';
import { UnsentRequestError } from '../transport/http.ts';
import { type Failed, type GenerationCall, type JobCall, LostSubmissionError } from './contract.ts';
import {
  type JsonObject,
  type ProviderAnswer,
  type ProviderRequest,
  requestProvider,
} from './provider-request.ts';

export type { JsonObject, ProviderAnswer };

/** Words in an error message that mean: the content was refused. */
const MODERATION_WORDS =
  /moderat|safety|content[ _-]?(?:policy|filter)|sensitive|nsfw|prohibited|risk control|flagged|banned/i;
/** Statuses that mean: the provider refused the submission before it did any work. */
const NOT_BEGUN_STATUSES = [404, 405, 429, 503, 529];
/**
 * Statuses at which a refusal may be about the content. Status 403 means this at Stability, and also
 * a key without permission.
 */
const CONTENT_STATUSES = [400, 403, 422, 451];

/** True if the provider's message means that the content was refused. */
export function isModerated(...words: unknown[]): boolean {
  return words.some((each) => typeof each === 'string' && MODERATION_WORDS.test(each));
}

/**
 * Returns the failure of a job. `message` is for the log only; the client gets a fixed text. If no
 * reason is given, the words of `message` decide between `moderation` and `upstream`.
 */
export function failed(message: string, reason?: Failed['reason']): Failed {
  const why = reason ?? (isModerated(message) ? 'moderation' : 'upstream');
  const public_message =
    why === 'moderation'
      ? 'The request was refused by a content safety check.'
      : why === 'input'
        ? 'The inputs could not be used.'
        : 'The generation failed.';
  return { type: 'failed', reason: why, public_message, message };
}

/**
 * Sends a submission and returns the response, or `Failed` if the content was refused. Throws
 *
 * - TerminalUpstreamError if the request is wrong,
 * - RetryableUpstreamError if the submission failed in another way and created no job,
 * - LostSubmissionError if the job may exist: the response broke off, or its status is 500 or higher
 *   (but not 503 or 529).
 *
 * The caller must check the body of the response, which may still report a refusal.
 */
export async function submitJob(
  call: GenerationCall,
  ask: ProviderRequest,
): Promise<ProviderAnswer | Failed> {
  let answer: ProviderAnswer;
  try {
    // A reused connection may close before the response, and the request would have to be sent again.
    // That could start a second job, so a submission always gets a new connection.
    answer = await requestProvider(call, { method: 'POST', ...ask }, false);
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    if (error instanceof UnsentRequestError) throw connectionError(error);
    throw new LostSubmissionError(`the response broke off: ${String(error)}`);
  }
  const refusal = failureFromAnswer(call, answer);
  if (!refusal) return answer;
  if ('type' in refusal) return refusal;
  const isRefused = NOT_BEGUN_STATUSES.includes(answer.status) || answer.status < 500;
  if (refusal instanceof RetryableUpstreamError && !isRefused) {
    throw new LostSubmissionError(refusal.message);
  }
  throw refusal;
}

/**
 * Sends a request about an accepted job. Returns the response if `readable` lists its status.
 * Otherwise throws RetryableUpstreamError.
 */
export async function queryJob(
  call: JobCall,
  ask: ProviderRequest,
  readable: readonly number[] = [200],
): Promise<ProviderAnswer> {
  let answer: ProviderAnswer;
  try {
    answer = await requestProvider(call, ask, true);
  } catch (error) {
    if (call.signal.aborted) throw call.signal.reason;
    throw error instanceof RetryableUpstreamError ? error : connectionError(error);
  }
  if (readable.includes(answer.status)) return answer;
  throw refusalOfQuery(call, answer);
}

/**
 * Returns the failure that the response to a submission reports; undefined if its HTTP status is
 * below 400.
 */
function failureFromAnswer(
  call: GenerationCall,
  answer: ProviderAnswer,
): RetryableUpstreamError | TerminalUpstreamError | Failed | undefined {
  const { status, headers } = answer;
  if (status < 400) return undefined;
  const error = classifyFailure(call, status, headers, textOf(answer));
  const isTerminal = error instanceof TerminalUpstreamError;
  const message = messageIn(answer);
  if (isTerminal && error.error_id === 'content_policy_violation') {
    return failed(message, 'moderation');
  }
  const isUnproven = isTerminal ? error.param === null : error.fault === 'unclear';
  const isContent = CONTENT_STATUSES.includes(status) && isModerated(message);
  return isUnproven && isContent ? failed(message, 'moderation') : error;
}

/** Returns the text of an error response. */
function textOf({ body, bytes }: Pick<ProviderAnswer, 'body' | 'bytes'>): string {
  return bytes.byteLength > 0 ? new TextDecoder().decode(bytes) : JSON.stringify(body);
}

/**
 * Returns the failure of a request about a job. Weir wrote this request, so its client is not at fault
 * for it. If the provider blames the client, `error_id` is set: the fault is in the job's input. `status`
 * is the HTTP status, or the status with the meaning of a refusal in a 200 response.
 */
export function refusalOfQuery(
  call: JobCall,
  answer: ProviderAnswer,
  status = answer.status,
): RetryableUpstreamError {
  const refused = { ...call, public_model: '' };
  const error = classifyFailure(refused, status, answer.headers, textOf(answer));
  if (error instanceof RetryableUpstreamError) return error;
  const { public_message, error_id } = error;
  return new RetryableUpstreamError('unclear', `upstream ${status}: ${public_message}`, {
    ...{ status, public_message, error_id },
  });
}

/** Classifies a refusal in the body of a 200 response as if the HTTP status were `status`. */
export function classifyRefusalInBody(
  call: GenerationCall,
  status: number,
  message: string,
): RetryableUpstreamError | TerminalUpstreamError | Failed {
  const answer = { status, headers: new Headers(), body: { message }, bytes: new Uint8Array() };
  return failureFromAnswer(call, answer) ?? failed(message);
}

/**
 * Returns the texts of the usual error members at any depth up to `MAX_DEPTH`, joined. If there are
 * none, returns the start of the body.
 */
export function messageIn({ body, bytes }: Pick<ProviderAnswer, 'body' | 'bytes'>): string {
  const words: string[] = [];
  collectWords(body, words, 0);
  if (words.length > 0) return words.join(' ');
  return new TextDecoder().decode(bytes.slice(0, 200)) || 'The request was refused.';
}

const MESSAGE_MEMBERS = [
  'message',
  'msg',
  'detail',
  'description',
  'error',
  'type',
  'code',
  'title',
  'reason',
];
const MAX_DEPTH = 3;

function collectWords(value: unknown, words: string[], depth: number): void {
  if (typeof value === 'string') words.push(value);
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value))
    for (const each of value.slice(0, 5)) collectWords(each, words, depth + 1);
  if (!isObject(value)) return;
  for (const key of MESSAGE_MEMBERS)
    if (value[key] !== undefined) collectWords(value[key], words, depth + 1);
}

function connectionError(error: unknown): RetryableUpstreamError {
  return new RetryableUpstreamError('connection', String(error));
}

export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const asNumber = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

/**
 * Returns a provider's progress as the member `progress` of `Progress`, in whole percent. A text
 * such as `45%` is percent. A number is a part of `whole`, e.g. of 1 or 100. Returns `{}` if the
 * value is unreadable or the provider reports none.
 */
export function progressIn(value: unknown, whole = 100): { progress?: number } {
  const [, text] = /^(\d+(?:\.\d+)?) ?%$/.exec(asText(value) ?? '') ?? [];
  const number = asNumber(text ?? value);
  if (number === undefined) return {};
  // Rounding to 9 digits first, because 0.29 * 100 is 28.999999999999996.
  const percent = Number(((number / (text === undefined ? whole : 100)) * 100).toFixed(9));
  return { progress: Math.floor(Math.min(100, Math.max(0, percent))) };
}
