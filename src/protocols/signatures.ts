/**
 * How Weir tells apart the signatures of reasoning that providers make. A client returns each one
 * unchanged, and only the provider that made it accepts it.
 */

/** Tells Gemini's signatures from those of other providers, which Gemini refuses. */
const GEMINI_MARK = 'gemini:';
/**
 * Tells Claude's signatures in `encrypted_content` from OpenAI's own. Clients of messages get Claude's
 * signatures without a mark.
 */
const CLAUDE_MARK = 'anthropic:';
/** Encrypted reasoning of OpenAI starts with these characters (openai/codex#8145, #8132, #8119). */
const OPENAI_START = 'gAAA';

/**
 * The value that Gemini accepts in place of a signature (Gemini API docs: Thought signatures). It is
 * for calls without one, because another provider's model made them.
 */
export const SKIPPED_SIGNATURE = 'skip_thought_signature_validator';

/**
 * True for a signature that Weir marked, in `thinking.signature` or in `encrypted_content`. It is not
 * of the provider whose protocol has the member.
 */
export function isMarked(signature: string): boolean {
  return signature.startsWith(GEMINI_MARK) || signature.startsWith(CLAUDE_MARK);
}

/** Returns a neutral signature as the `encrypted_content` of a reasoning item. */
export function encryptedContent(signature: string): string {
  return signature.startsWith(GEMINI_MARK) ? signature : CLAUDE_MARK + signature;
}

/**
 * Returns the neutral signature of an `encrypted_content`; undefined if OpenAI made it. No other
 * provider can read OpenAI's reasoning.
 */
export function signatureOfItem(encrypted_content: string): string | undefined {
  if (encrypted_content.startsWith(OPENAI_START)) return undefined;
  return encrypted_content.startsWith(CLAUDE_MARK)
    ? encrypted_content.slice(CLAUDE_MARK.length)
    : encrypted_content;
}

/** Returns Gemini's signature with its mark. */
export function markGemini(signature: string): string {
  return GEMINI_MARK + signature;
}

/** Returns a signature as Gemini wrote it; undefined if another provider made it. */
export function geminiSignature(signature: string | undefined): string | undefined {
  return signature?.startsWith(GEMINI_MARK) ? signature.slice(GEMINI_MARK.length) : undefined;
}
