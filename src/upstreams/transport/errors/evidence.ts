import { isObject } from '../../../json/object.ts';

/** A code in an error, in lower case, and the path of the member that holds it. */
interface ErrorCode {
  readonly value: string;
  readonly at: string;
}

/** What an error response says. */
export interface ErrorEvidence {
  /** '' if the response has no message in the form of a model API, e.g. if a proxy answered. */
  readonly message: string;
  /** All messages of the error, for a search of words. */
  readonly words: string;
  readonly codes: readonly ErrorCode[];
  /** The parameter that the error names. */
  readonly param: string | null;
  /** The wait that the body requests, ms. */
  readonly retry_after_ms: number | undefined;
  /** Structured details of the Anthropic API (`error.details`). */
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

/** Members that hold a code, at any provider. */
const CODE_MEMBERS = [
  ...['code', 'type', '__type', 'status', 'status_code', 'reason', 'error_code', 'error_type'],
  ...['name', 'errorCode', 'err_code', 'Code', 'title', 'failureCode', 'kind'],
];
/** Members that hold a message, the best first. */
const MESSAGE_MEMBERS = [
  ...['message', 'msg', 'Message', 'error_msg', 'status_msg', 'detail', 'error_description'],
  ...['description', 'error_message'],
];
/** Members that hold the error itself, or more about it. */
const NESTED = [
  ...['error', 'errors', 'Error', 'detail', 'details', 'base_resp', 'ResponseMetadata'],
  ...['Response', 'innererror', 'inner_error', 'metadata', 'raw', 'issues', 'output', 'header'],
];
/** OpenRouter's error has a provider's error as text, with details of its own. */
const MAX_DEPTH = 10;
const MAX_ITEMS = 5;
/** The longest text that counts as a code; xAI puts sentences into `code`. */
const MAX_CODE_CHARS = 120;
/** Headers in which providers put the kind of an error (AWS: common errors; fal docs: Errors). */
const CODE_HEADERS = ['x-amzn-errortype', 'x-fal-error-type', 'x-ms-error-code'];

/** Reads the evidence from an error response. `text` need not be JSON. */
export function readEvidence(text: string, headers: Pick<Headers, 'get'>): ErrorEvidence {
  const reader = new Reader();
  for (const name of CODE_HEADERS) reader.addCode(headers.get(name), `header ${name}`);
  reader.read(parsed(text), '', 0);
  const { messages, codes, param, retry_after_ms, details } = reader;
  if (messages.length === 0 && reader.title !== '') messages.push(reader.title);
  const words = [...messages, reader.title].filter((each) => each !== '').join('\n');
  return { message: best(messages), words, codes, param, retry_after_ms, details };
}

/**
 * Returns the message. OpenRouter's own message says only that its provider failed; the provider's
 * message is inside.
 */
function best(messages: readonly string[]): string {
  const [first = ''] = messages;
  return /^provider returned error\.?$/i.test(first) ? (messages[1] ?? first) : first;
}

class Reader {
  readonly messages: string[] = [];
  readonly codes: ErrorCode[] = [];
  /** The title of a problem (RFC 9457). It is the message if there is no other one. */
  title = '';
  param: string | null = null;
  retry_after_ms: number | undefined;
  details: Readonly<Record<string, unknown>> | undefined;

  read(value: unknown, path: string, depth: number): void {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(value)) {
      for (const each of value.slice(0, MAX_ITEMS)) this.read(each, path, depth + 1);
    } else if (typeof value === 'string') {
      this.readText(value, path, depth);
    } else if (isObject(value)) {
      this.readObject(value, path, depth);
    }
  }

  addCode(value: unknown, at: string): void {
    if (typeof value !== 'string' && typeof value !== 'number') return;
    // AWS writes `com.amazon.coral.service#Name` and `Name:http://…`.
    const code = String(value)
      .replace(/^[\w.]+#/, '')
      .replace(/:https?:\/\/.*$/, '')
      .trim();
    if (code === '' || code.length > MAX_CODE_CHARS) return;
    this.codes.push({ value: code.toLowerCase(), at });
  }

  private readText(text: string, path: string, depth: number): void {
    const inner = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
    if (inner !== undefined) {
      this.read(inner, path, depth + 1);
      return;
    }
    // `{"error": "invalid_grant"}` holds a code; `{"error": "Incorrect key"}` holds a message.
    if (/^[\w.-]+$/.test(text)) this.addCode(text, path);
    if (text !== '') this.messages.push(text);
  }

  private readObject(object: Record<string, unknown>, path: string, depth: number): void {
    const at = (key: string) => (path === '' ? key : `${path}.${key}`);
    for (const key of MESSAGE_MEMBERS) {
      const text = object[key];
      if (typeof text !== 'string' || text === '' || NESTED.includes(key)) continue;
      if (/^\s*\{/.test(text) && parsed(text) !== undefined)
        this.read(parsed(text), at(key), depth);
      else this.messages.push(text);
      break;
    }
    for (const key of CODE_MEMBERS) this.addCode(object[key], at(key));
    if (typeof object['title'] === 'string') this.title = object['title'];
    this.param ??= paramIn(object);
    this.retry_after_ms ??= waitIn(object);
    if (path === 'error' && isObject(object['details'])) this.details ??= object['details'];
    for (const key of NESTED) this.read(object[key], at(key), depth + 1);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Where there is no parameter, a proxy in Python writes `None`, and a relay writes the status. */
const NOTHING = /^(?:none|null|undefined|\d+)?$/i;

/** `param` of OpenAI; `loc` of FastAPI, without its first step; `field` of Google's BadRequest. */
function paramIn({ param, loc, field, path }: Record<string, unknown>): string | null {
  if (typeof param === 'string' && !NOTHING.test(param)) return param;
  if (Array.isArray(loc))
    return loc.filter((step) => !PLACES.includes(String(step))).join('.') || null;
  if (typeof field === 'string' && !NOTHING.test(field)) return field;
  // Zod's issues (Runway docs: Errors).
  if (Array.isArray(path) && path.length > 0) return path.join('.');
  return null;
}

/** The first step of FastAPI's `loc`, which names the part of the request. */
const PLACES = ['body', 'query', 'path', 'header'];

/** The wait in the body, ms: `RetryInfo` of Google, or `retry_after` of Replicate and others, seconds. */
function waitIn(object: Record<string, unknown>): number | undefined {
  const { retryDelay, retry_after, retry_after_seconds } = object;
  const text =
    typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined;
  const seconds = isObject(retryDelay)
    ? Number(retryDelay['seconds'] ?? 0) + Number(retryDelay['nanos'] ?? 0) / 1e9
    : Number(text ?? retry_after ?? retry_after_seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}
