/**
 * Directives in the last user text, e.g. `[[sim tokens=20 chunk_ms=5]]`. This table is the only
 * list of all directives. The parser and `--help` read it, and a test compares the README with it.
 */
import { WORK_DIRECTIVES } from './work-directives.ts';

/** Each row has the key, an example value and the meaning. */
export const CHAT_DIRECTIVES = {
  channel: ['ID', 'apply the rest of this directive on the account `sim-ID` only'],
  times: ['N', 'apply it only to the first N calls of an account with this directive'],
  latency_ms: ['500', 'wait before the answer'],
  tokens: ['200', 'length of the answer in tokens (max_tokens of the request still cuts it)'],
  unicode: ['1', 'the text has characters of several bytes'],
  tools: ['2', 'number of parallel tool calls'],
  reasoning: ['64', 'reasoning or thinking tokens'],
  cached: ['100', 'prompt tokens read from the cache'],
  cache_write: ['100', 'prompt tokens written to the cache'],
  cache_write_1h: ['50', 'the part of cache_write that is kept for an hour'],
  no_usage: ['1', 'send no usage'],
  context_tokens: ['1000', 'size of the model’s context in tokens'],
  chunk_ms: ['20', 'pause between the events of a stream'],
  chunk_tokens: ['4', 'tokens in one event of a stream (1)'],
  split: ['3', 'write the bytes in pieces of this size, even inside characters'],
  comment: ['1', 'SSE comment lines between the events of a stream'],
  nocomment: ['1', 'cancel an earlier `comment`'],
  status: ['429', 'refuse with this status and the provider’s own error'],
  retry_after: ['2', 'Retry-After of that refusal, in seconds'],
  quota: ['1', 'with status=429: the account has no credit left'],
  malformed: ['1', 'broken JSON in the body, or in the second event of a stream'],
  truncate_after: ['5', 'reset the connection after N events (a body: in its middle)'],
  truncate_clean: ['1', 'with truncate_after: end cleanly, without the terminal event'],
  error_after: ['5', 'send an error event after N events (a body: status 500)'],
  stall_after: ['5', 'send nothing more after N events (a body: after its middle)'],
  hang: ['1', 'never answer'],
  lose: ['1', 'do the work and book it, then reset the connection before any answer'],
  record: ['1', 'keep headers and body of this call in its book entry'],
} as const satisfies Record<string, readonly [example: string, meaning: string]>;

type DirectiveKey = keyof typeof CHAT_DIRECTIVES;
/** All values are numbers; a flag is 1. A missing member means that the directive is absent. */
export type Directives = Partial<Record<Exclude<DirectiveKey, 'channel'>, number>>;

/** Thrown for an unknown directive, so that a typo in a test is noticed. */
export class DirectiveError extends Error {
  override readonly name = 'DirectiveError';
}

const OPENING = '[[sim ';
const DIRECTIVE = /\[\[sim ([^\]]*)\]\]/g;
const PAIR = /^([a-z0-9_]+)(?:=(.*))?$/;
const COUNTED_DIRECTIVES = 10_000;

const NONE: Directives = Object.freeze({});
/** How often a directive with `times` was applied, by account and directive. */
const obeyed = new Map<string, number>();

/**
 * Returns the directives in a text that apply to an account. Later directives override earlier
 * ones.
 *
 * @throws {DirectiveError} for an unknown key or a value that is not a number.
 */
export function directivesIn(text: string, account: string): Directives {
  if (!text.includes(OPENING)) return NONE;
  const directives: Directives = {};
  for (const [whole, pairs] of text.matchAll(DIRECTIVE)) {
    const { channel, ...values } = readPairs(pairs ?? '');
    if (channel !== undefined && channel !== account) continue;
    if (values.times !== undefined && !onceMore(`${account} ${whole}`, values.times)) continue;
    Object.assign(directives, values);
    if (values.nocomment) delete directives.comment;
  }
  return directives;
}

function readPairs(pairs: string): Directives & { channel?: string } {
  const values: Record<string, number | string> = {};
  for (const pair of pairs.split(/\s+/).filter(Boolean)) {
    const [, key = '', value = '1'] = PAIR.exec(pair) ?? [];
    if (key === 'channel') values[key] = value;
    else if (Object.hasOwn(CHAT_DIRECTIVES, key)) values[key] = numberIn(pair, value);
    else if (!WORK_DIRECTIVES.has(key)) throw new DirectiveError(`unknown directive '${pair}'`);
  }
  return values;
}

function numberIn(pair: string, value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new DirectiveError(`no whole number in '${pair}'`);
  return Number(value);
}

function onceMore(directive: string, times: number): boolean {
  const so_far = obeyed.get(directive) ?? 0;
  if (so_far >= times) return false;
  // The oldest entry is removed first.
  if (obeyed.size >= COUNTED_DIRECTIVES) obeyed.delete(obeyed.keys().next().value ?? '');
  obeyed.set(directive, so_far + 1);
  return true;
}
