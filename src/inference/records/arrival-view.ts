import { publicCode } from '../../errors/registry.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { RetryableUpstreamError } from '../../upstreams/contract.ts';
import type { ArrivalSlot } from './arrival-ring.ts';
import { callFault } from './call-fault.ts';
import type { CallRecord } from './call-record.ts';
import { type Moment, momentsOf } from './stages.ts';

/** The name of an API key, and the start of its secret. */
export interface ShownKey {
  readonly name: string;
  readonly key_prefix: string;
}

/** A call for operators, as it is now. */
export interface Arrival {
  readonly object: 'arrival';
  readonly request_id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly replica: string;
  readonly method: string;
  readonly path: string;
  /** `answering`: the response has begun, and its stream has not ended. */
  readonly state: 'running' | 'answering' | 'ended';
  readonly organization_id: string | null;
  readonly api_key_id: string | null;
  readonly api_key_name: string | null;
  /** Of a refused key too. Null if the request had no key, or an API key that is not known yet. */
  readonly api_key_prefix: string | null;
  readonly protocol: string | null;
  readonly program: string | null;
  readonly model: string | null;
  readonly scene: string | null;
  readonly stream: boolean;
  /** The channel of the latest attempt. */
  readonly channel: string | null;
  readonly task_id: string | null;
  /** HTTP status; null while the call runs. */
  readonly status: number | null;
  readonly error: ArrivalError | null;
  readonly stages: readonly Moment[];
  readonly duration_ms: number | null;
}

/** Why a call has no complete answer. */
interface ArrivalError {
  readonly code: string;
  readonly message: string | null;
  readonly param: string | null;
  /** Where the fault is: `caller`, `cap`, `weir`, `account` or `provider`. */
  readonly fault: string;
  /** What to do next. */
  readonly fix: string | null;
  /** What the provider said, if a provider refused the call. */
  readonly provider_message: string | null;
}

/** Texts are cut, because a message between replicas must be short. */
const MAX_TEXT_CHARS = 300;
const MAX_PATH_CHARS = 200;
const MAX_STAGES = 20;
const METHOD_NOT_ALLOWED = 405;
const ORIGIN_MS = performance.timeOrigin;

/** What to do after errors that have no hint of their own. */
const FIXES: Readonly<Record<string, string>> = {
  invalid_api_key:
    'Send a key that this Weir made: Authorization: Bearer sk-…. The page API keys makes one.',
  expired_api_key: 'Use another API key. The page API keys shows which ones are active.',
  rate_limit_exceeded: 'Wait, or raise requests_per_minute of the key or the organization.',
  method_not_allowed: 'Send the request with POST.',
  client_left: 'The client closed the connection. Raise its time limit.',
  internal_error: 'Read the log of the replica at this request id.',
};

const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text;

/** A text that changes whenever something is new about a call. */
export function progressOf({ running, record, ended_ms }: ArrivalSlot): string {
  const known = record ?? running?.record;
  return `${ended_ms === undefined} ${known?.hasEnded ?? ''} ${known?.stage ?? ''} ${known?.channel_id ?? ''}`;
}

/** Returns the API key of a call; undefined if the call has no valid one. */
export function keyOf({ running, record }: ArrivalSlot): string | undefined {
  return (record ?? running?.record)?.key.id;
}

/** Returns a call for operators. `key` is the call's API key, if it is known. */
export function arrivalOf(slot: ArrivalSlot, replica: string, key: ShownKey | undefined): Arrival {
  const { uuid, path, method, arrived_ms, ended_ms, running, stranger } = slot;
  const record = slot.record ?? running?.record;
  const isAnswered = ended_ms !== undefined;
  const hasEnded = isAnswered && record?.hasEnded !== false;
  const stages = stagesOf(slot, record, hasEnded);
  const sentPath = stranger?.path ?? (path === '' ? pathIn(running?.request.url) : path);
  return {
    object: 'arrival',
    request_id: requestIdOf(uuid),
    at: new Date(ORIGIN_MS + arrived_ms).toISOString(),
    ...{ replica, method, path: cut(sentPath, MAX_PATH_CHARS) },
    state: hasEnded ? 'ended' : isAnswered ? 'answering' : 'running',
    organization_id: record?.key.organization_id ?? null,
    api_key_id: record?.key.id ?? null,
    api_key_name: key?.name ?? null,
    api_key_prefix: key?.key_prefix ?? stranger?.key_prefix ?? null,
    protocol: record?.request.protocol ?? null,
    program: (record?.request.program ?? stranger?.program) || null,
    model: record?.model || null,
    scene: record?.scene || null,
    stream: record?.stream ?? false,
    channel: record?.channel_id || null,
    task_id: record?.task_id ?? null,
    status: isAnswered ? (hasEnded && record ? record.status : slot.status) : null,
    error: isAnswered ? errorOf(slot, record) : null,
    stages,
    duration_ms: hasEnded ? (stages.at(-1)?.at_ms ?? null) : null,
  };
}

function stagesOf(
  { arrived_ms, ended_ms }: ArrivalSlot,
  record: CallRecord | undefined,
  hasEnded: boolean,
): readonly Moment[] {
  if (record) {
    const { ended_ms: _, ...begun } = record.facts();
    const facts = hasEnded ? record.facts() : { ...begun, ended_ms: null };
    const moments = momentsOf(facts);
    const left_out = Math.max(0, moments.length - MAX_STAGES);
    // The first stages and the latest ones say the most.
    return moments.toSpliced(MAX_STAGES / 2, left_out);
  }
  const arrived = { stage: 'arrived', at_ms: 0 };
  if (ended_ms === undefined) return [arrived];
  return [
    arrived,
    { stage: 'refused', at_ms: Math.round((ended_ms - arrived_ms) * 1_000) / 1_000 },
  ];
}

function errorOf(
  { error, status }: ArrivalSlot,
  record: CallRecord | undefined,
): ArrivalError | null {
  const code = record ? record.error_code : error === undefined ? null : codeOf(error);
  // A handler may answer with an error body without throwing.
  if (code === null) return status < 400 ? null : plainError(status);
  const known = error instanceof WeirError ? error : undefined;
  const fault = record?.fault ?? callFault(error);
  return {
    ...{ code, message: known ? cut(known.message, MAX_TEXT_CHARS) : null },
    param: known?.details.param ?? null,
    ...{ fault, fix: fixOf(code, fault, known, record?.channel_id) },
    provider_message: providerMessageOf(known),
  };
}

function plainError(status: number): ArrivalError {
  const code = status === METHOD_NOT_ALLOWED ? 'method_not_allowed' : `http_${status}`;
  return {
    ...{ code, message: null, param: null, provider_message: null },
    ...{ fault: status < 500 ? 'caller' : 'weir', fix: FIXES[code] ?? null },
  };
}

const codeOf = (error: unknown) =>
  error instanceof WeirError ? publicCode(error.id) : 'internal_error';

function fixOf(
  code: string,
  fault: string,
  error: WeirError | undefined,
  channel_id: string | undefined,
): string | null {
  if (fault === 'account' && channel_id) {
    return `The provider refuses the account of the channel ${channel_id}. Test the channel, and give it a key that works.`;
  }
  const hint = error?.details.hint;
  if (hint !== undefined) return cut(hint, MAX_TEXT_CHARS);
  if (fault === 'provider' && channel_id) return `Test the channel ${channel_id}.`;
  return FIXES[code] ?? null;
}

/** Returns what the latest provider said; it has no credentials (see `redact`). */
function providerMessageOf(error: WeirError | undefined): string | null {
  const cause = error?.cause;
  const causes = cause instanceof AggregateError ? cause.errors : [cause];
  const said = causes.findLast((each) => each instanceof RetryableUpstreamError);
  return said instanceof RetryableUpstreamError ? cut(said.message, MAX_TEXT_CHARS) : null;
}

function pathIn(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : '';
}
