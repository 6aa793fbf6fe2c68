/**
 * The canonical form of a request: two requests have the same form if and only if the same answer is
 * right for both. The order of keys, spaces, and members that cannot change the answer are left out.
 */
import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';
import { skipString } from '../../json/strings.ts';
import { isOwnControl } from '../../protocols/cache-controls.ts';
import { type CachedKind, CallOrdinal, neutralize } from './neutral-ids.ts';

/** Members about the caller, the transport and the provider's own cache. */
const OPENAI = [
  ...['model', 'stream', 'stream_options', 'user', 'metadata', 'safety_identifier'],
  ...['prompt_cache_key', 'prompt_cache_retention'],
];
/** The top-level members of each kind that cannot change the answer. */
const LEFT_OUT: Record<CachedKind, readonly string[]> = {
  openai: OPENAI,
  anthropic: ['model', 'stream', 'metadata'],
  // Weir stores responses itself, and has put the items of the previous response into `input`.
  responses: [...OPENAI, 'store', 'previous_response_id', 'client_metadata', 'background'],
  gemini: ['model', 'stream', 'labels'],
  embedding: ['model', 'user'],
  rerank: ['model'],
  translation: ['model'],
  stt: ['model'],
};

/** All that decides which answers are right for a call, but for the body. Many calls share one such object. */
export interface RequestPlace {
  /** The organization, or the organization and the key, whose answers the call may get. */
  readonly scope: string;
  readonly kind: CachedKind;
  readonly model_id: string;
  /** The version of the model's mapping (`mapping-version.ts`). */
  readonly version: string;
  /** Changes when the organization purges its entries (`cache-rules.ts`). */
  readonly generation?: string;
  /** The request headers that go to the upstream. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Everything that decides which answers are right for a call. */
export interface RequestIdentity {
  readonly place: RequestPlace;
  /** The JSON text of the body. */
  readonly body_text: string;
}

/**
 * Returns the SHA-256 of a request's identity, hex. Each part has its length before it, so no text in
 * one part can pass for another part. Returns undefined if an object of the body has a key twice: the
 * upstream may read another value than Weir.
 */
export function digestOf({ place, body_text }: RequestIdentity): string | undefined {
  const { scope, kind, model_id, version, generation = '', headers } = place;
  const body = canonicalBody(kind, body_text);
  if (body === undefined) return undefined;
  let parts = '';
  for (const part of [scope, kind, model_id, version, generation, write(headers), body]) {
    parts += `${part.length}:${part}`;
  }
  return new Bun.CryptoHasher('sha256').update(parts).digest('hex');
}

/** True if two requests are the same to the byte. Then their digests are the same too. */
export function isSameRequest(a: RequestIdentity, b: RequestIdentity): boolean {
  return a.body_text === b.body_text && isSamePlace(a.place, b.place);
}

/** True if two requests differ in their bodies at most. */
export function isSamePlace(a: RequestPlace, b: RequestPlace): boolean {
  if (a === b) return true;
  return (
    a.scope === b.scope &&
    a.kind === b.kind &&
    a.model_id === b.model_id &&
    a.version === b.version &&
    a.generation === b.generation &&
    haveSameValues(a.headers, b.headers)
  );
}

function haveSameValues(a: RequestPlace['headers'], b: RequestPlace['headers']): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
  );
}

/** Returns the canonical text of a body; undefined if an object has a key twice. */
export function canonicalBody(kind: CachedKind, text: string): string | undefined {
  const body = parseExact(text);
  if (!isObject(body) || countKeys(body) !== countWrittenKeys(text)) return undefined;
  for (const name of LEFT_OUT[kind]) delete body[name];
  if (isOwnControl(body['cache_control'])) delete body['cache_control'];
  if (kind === 'anthropic') leaveOutStreaming(body['tools']);
  neutralize(kind, body);
  return write(body);
}

/**
 * Removes what says how the input of a tool is streamed (Anthropic docs: fine-grained tool streaming). The AI SDK
 * adds it to streams only. Changes the tools.
 */
function leaveOutStreaming(tools: unknown): void {
  for (const tool of Array.isArray(tools) ? tools.filter(isObject) : []) {
    delete tool['eager_input_streaming'];
  }
}

/**
 * Writes a value with sorted keys. Two values that differ give different texts, also integers that a
 * number cannot hold.
 */
function write(value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'number' ? String(value) : JSON.stringify(value);
  }
  if (value instanceof CallOrdinal) return `@${value.ordinal}`;
  if (Array.isArray(value)) return `[${value.map(write).join()}]`;
  // An exact integer.
  if ('toJSON' in value && typeof value.toJSON === 'function') return String(value);
  const names = Object.keys(value).sort();
  const members = value as Readonly<Record<string, unknown>>;
  return `{${names.map((name) => `${JSON.stringify(name)}:${write(members[name])}`).join()}}`;
}

function countKeys(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + countKeys(each), 0);
  if (typeof value !== 'object' || value === null || typeof toJsonOf(value) === 'function')
    return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + countKeys(each), 0);
}

/** The method with which an exact integer writes itself. A JSON body has no functions. */
const toJsonOf = (value: object) => ('toJSON' in value ? value.toJSON : undefined);

const QUOTE = 34;
const COLON = 58;

/** Counts the keys of all objects in a JSON text: each has one colon outside of strings. */
function countWrittenKeys(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === COLON) count += 1;
  }
  return count;
}
