import { countTokens, decodeGenerator, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { hashText } from './random.ts';

/** Number of texts in one generation of the cache. The cache has at most two generations. */
const REMEMBERED_TEXTS = 10_000;
const REMEMBERED_CHARS = 8_000_000;
/** Longer texts are not cached. */
const MEMORABLE_CHARS = 1_000_000;
/**
 * If a text has no word boundary, the tokenizer's time grows with the square of its length. A
 * megabyte of one letter takes minutes. So such texts are counted in slices of this size.
 */
const STRETCH_CHARS = 2_000;
const LONG_STRETCHES = new RegExp(`\\S{${STRETCH_CHARS},}|\\s{${STRETCH_CHARS},}`, 'g');

/** OpenAI's published formula for chats (cookbook: How to count tokens with tiktoken). */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_FOR_PRIMING = 3;
const TOKENS_PER_NAME = 1;
/** Tokens of an image, a sound or a file of any size. */
const TOKENS_PER_MEDIUM = 85;

/** Special tokens such as `<|endoftext|>` are ordinary characters in a client's text. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

let young = new Map<string, number>();
let old = new Map<string, number>();
let young_chars = 0;

/** Tokens of a text by `o200k_base`; cached, because tests repeat texts. */
export function tokensOf(text: string): number {
  const remembered = young.get(text);
  if (remembered !== undefined) return remembered;
  if (text.length > MEMORABLE_CHARS) return count(text);
  const tokens = old.get(text) ?? count(text);
  if (young.size >= REMEMBERED_TEXTS || young_chars >= REMEMBERED_CHARS) {
    old = young;
    young = new Map();
    young_chars = 0;
  }
  young.set(text, tokens);
  young_chars += text.length;
  return tokens;
}

function count(text: string): number {
  if (text.length <= STRETCH_CHARS) return countTokens(text, AS_PLAIN_TEXT);
  let tokens = 0;
  let from = 0;
  for (const stretch of text.matchAll(LONG_STRETCHES)) {
    const until = stretch.index + stretch[0].length;
    tokens += countTokens(text.slice(from, stretch.index), AS_PLAIN_TEXT);
    for (let at = stretch.index; at < until; at += STRETCH_CHARS) {
      tokens += countTokens(text.slice(at, Math.min(until, at + STRETCH_CHARS)), AS_PLAIN_TEXT);
    }
    from = until;
  }
  return tokens + countTokens(text.slice(from), AS_PLAIN_TEXT);
}

/** A text, split at its tokens. A character of several tokens stays whole. */
export function tokenPieces(text: string): string[] {
  return [...decodeGenerator(encode(text, AS_PLAIN_TEXT))];
}

/**
 * Counts the tokens of a prompt, one message after the other, and computes the seed of the answer from
 * its texts.
 */
export class PromptMeter {
  tokens = TOKENS_FOR_PRIMING;

  constructor(public seed: number) {}

  /** Starts a message. */
  message(role: string, name?: string): void {
    this.tokens += TOKENS_PER_MESSAGE + tokensOf(role);
    if (name !== undefined) this.tokens += TOKENS_PER_NAME + tokensOf(name);
  }

  /** Adds text: content, the name and arguments of a tool call, or a tool's definition. */
  text(text: string): void {
    this.tokens += tokensOf(text);
    this.seed = hashText(text, this.seed);
  }

  /** Adds an image, a sound or a file. */
  medium(): void {
    this.tokens += TOKENS_PER_MEDIUM;
  }
}
