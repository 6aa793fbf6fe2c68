import { numberAt } from './random.ts';
import { tokenPieces, tokensOf } from './tokens.ts';
import { OPENERS, UNICODE_WORDS, WORDS } from './words.ts';

/** Every 13th token ends a sentence. */
const SENTENCE_TOKENS = 13;
/** In a text with `unicode`, every third word has characters of several bytes. */
const UNICODE_EVERY_WORDS = 3;

/** A text that can be sent piece by piece. */
export interface ProducedText {
  readonly tokens: number;
  readonly pieces: number;
  /**
   * Returns one piece; all pieces in order are the text. `tokensIn` returns the tokens of a piece.
   */
  piece(index: number): string;
  tokensIn(index: number): number;
  whole(): string;
  /** The beginning of the text, at most `tokens` tokens. */
  first(tokens: number): ProducedText;
}

/**
 * A text of exactly `tokens` tokens. Each word is created only when it is read, so even a long text
 * uses no memory.
 */
export function wordText(seed: number, tokens: number, unicode = false): ProducedText {
  const pieceAt = unicode ? unicodePiece : plainPiece;
  return {
    tokens,
    pieces: tokens,
    piece: (index) => pieceAt(seed, index),
    tokensIn: () => 1,
    whole() {
      let text = '';
      for (let index = 0; index < tokens; index += 1) text += pieceAt(seed, index);
      return text;
    },
    first: (limit) => wordText(seed, Math.min(limit, tokens), unicode),
  };
}

function plainPiece(seed: number, index: number): string {
  const number = numberAt(seed, index);
  if (index === 0) return OPENERS[number % OPENERS.length] as string;
  if (index % SENTENCE_TOKENS === SENTENCE_TOKENS - 1) return '.';
  return ` ${WORDS[number % WORDS.length]}`;
}

/**
 * Returns one piece of a text with `unicode`. Such a text has no full stops, because the tokenizer
 * would join a full stop and a symbol before it into one token.
 */
function unicodePiece(seed: number, index: number): string {
  const number = numberAt(seed, index);
  if (index === 0) return OPENERS[number % OPENERS.length] as string;
  const words = index % UNICODE_EVERY_WORDS === 1 ? UNICODE_WORDS : WORDS;
  return ` ${words[number % words.length]}`;
}

/** A fixed text: JSON, a quoted tool result, or the text before a stop sequence. */
export function fixedText(text: string): ProducedText {
  let parts: string[] | undefined;
  const pieces = () => {
    parts ??= tokenPieces(text);
    return parts;
  };
  return {
    tokens: tokensOf(text),
    get pieces() {
      return pieces().length;
    },
    piece: (index) => pieces()[index] ?? '',
    tokensIn: (index) => tokensOf(pieces()[index] ?? ''),
    whole: () => text,
    first(limit) {
      if (limit >= tokensOf(text)) return fixedText(text);
      return fixedText(startOf(pieces(), limit));
    },
  };
}

/** Cuts between whole characters only. So the cut text may have fewer tokens than `limit`. */
function startOf(pieces: string[], limit: number): string {
  let text = '';
  let tokens = 0;
  for (const piece of pieces) {
    tokens += tokensOf(piece);
    if (tokens > limit) break;
    text += piece;
  }
  return text;
}

export const NO_TEXT: ProducedText = fixedText('');
