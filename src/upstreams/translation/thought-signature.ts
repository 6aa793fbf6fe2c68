/**
 * Signatures of reasoning in the neutral form.
 *
 * Gemini signs function calls (Gemini API docs: Thought signatures). In the neutral form, its
 * signature belongs to a reasoning part directly before the call. So each protocol carries it where
 * it carries signatures: in `thinking.signature`, in `encrypted_content`, and in chat completions
 * where Google's own layer for OpenAI's clients puts it:
 * `tool_calls[].extra_content.google.thought_signature`.
 */
import { isObject } from '../../json/object.ts';
import { geminiSignature, isMarked, markGemini } from '../../protocols/signatures.ts';
import type { AssistantPart } from './neutral.ts';
import type { ReadonlyJsonObject } from './reading.ts';

/** Returns the signature of a part of Gemini, in the neutral form; undefined if it has none. */
export function signatureOfPart(part: ReadonlyJsonObject): string | undefined {
  const signature = part['thoughtSignature'] ?? part['thought_signature'];
  return typeof signature === 'string' && signature !== '' ? markGemini(signature) : undefined;
}

/** Returns Gemini's signature if the part holds one; otherwise undefined. */
export function signatureIn(part: AssistantPart | undefined): string | undefined {
  return part?.type === 'reasoning' ? geminiSignature(part.signature) : undefined;
}

/** True for thinking that Claude made and signed. */
export function isClaudesThinking(part: AssistantPart): boolean {
  if (part.type !== 'reasoning') return false;
  return part.redacted !== undefined || Boolean(part.signature && !isMarked(part.signature));
}

/** Returns the members that carry a signature beside a tool call of chat completions. */
export function extraContent(thought_signature: string | undefined): object {
  return thought_signature === undefined
    ? {}
    : { extra_content: { google: { thought_signature } } };
}

/** Returns the neutral part of the signature beside a tool call of chat completions, if any. */
export function readExtraContent(call: ReadonlyJsonObject): AssistantPart[] {
  const extra = call['extra_content'];
  const google = isObject(extra) ? extra['google'] : undefined;
  const signature = isObject(google) ? signatureOfPart(google) : undefined;
  return signature === undefined ? [] : [{ type: 'reasoning', text: '', signature }];
}
