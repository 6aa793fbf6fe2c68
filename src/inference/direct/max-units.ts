/** Upper bounds of the units that a direct call can use. A reservation covers them (P17). */

/** Tokens that a provider may add to each text of an embedding. */
const OVERHEAD_TOKENS_PER_TEXT = 8;
/**
 * A search unit is a query with up to 100 documents. A long document counts as several documents:
 * its tokens divided by 500, rounded up.
 */
const DOCUMENTS_PER_UNIT = 100;
const TOKENS_PER_DOCUMENT = 500;

/** The input of an embedding: texts, or token ids. */
export type EmbeddingInput = string | string[] | number[] | number[][];

/**
 * Returns the most tokens that a provider may bill for an embedding. A token has at least one byte,
 * and a token id at least one digit. So the bytes of the whole body are an upper bound, whatever
 * members it has.
 */
export function maxEmbeddingTokens(input: EmbeddingInput, body_text: string): number {
  const texts = typeof input === 'string' ? 1 : input.length;
  return Buffer.byteLength(body_text) + texts * OVERHEAD_TOKENS_PER_TEXT;
}

/**
 * Returns the most search units of a call whose query has this number of tokens. A token has at least
 * one byte, so a text has at most as many tokens as bytes.
 *
 * The provider puts the query before each part of a document (Cohere docs: Reranking best practices).
 * So a long query leaves less room for the document. The provider shortens a query that would fill
 * more than half of a part. So at least half of each part is text of the document.
 */
export function searchUnits(
  documents: readonly string[],
  tokens_per_doc: number,
  query_tokens: number,
): number {
  const room = Math.max(TOKENS_PER_DOCUMENT / 2, TOKENS_PER_DOCUMENT - query_tokens);
  const parts = documents.reduce((sum, text) => {
    const tokens = Math.min(Buffer.byteLength(text), tokens_per_doc);
    return sum + Math.ceil(tokens / room);
  }, 0);
  return Math.max(1, Math.ceil(parts / DOCUMENTS_PER_UNIT));
}
