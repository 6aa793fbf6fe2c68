/**
 * Removes what only another provider can read from a conversation that passes through. A client sends
 * the reasoning of earlier answers back, also if another provider's model made them. Providers refuse
 * the signatures of others (ding113/claude-code-hub#518, openai/codex#8145). A request without such a
 * signature keeps all its bytes.
 */
import { editItems } from '../../json/items.ts';
import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { isMarked, SKIPPED_SIGNATURE } from '../../protocols/signatures.ts';

type Json = Readonly<Record<string, unknown>>;
/** Returns the new text of an item, or null to remove it. */
type ItemEdit = (text: string) => string | null;
/** Returns the new text of a list. */
type ListEdit = (text: string) => string;

/** Returns the edit of a list; undefined if no item has an edit. */
function listEdit(
  items: unknown,
  editOf: (item: Json) => ItemEdit | undefined,
): ListEdit | undefined {
  if (!Array.isArray(items)) return undefined;
  // Every call comes here, and few need an edit.
  let edits: Map<number, ItemEdit> | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item: unknown = items[at];
    const edit = isObject(item) ? editOf(item) : undefined;
    if (!edit) continue;
    edits ??= new Map();
    edits.set(at, edit);
  }
  const found = edits;
  return (
    found &&
    ((text) =>
      editItems(text, (item, at) => {
        const edit = found.get(at);
        return edit ? edit(item) : item;
      }))
  );
}

/** Returns an edit of one member of each item; undefined if no item has one. */
const memberEdit =
  (member: string, editOf: (value: unknown) => ListEdit | undefined) =>
  (item: Json): ItemEdit | undefined => {
    const edit = editOf(item[member]);
    return edit === undefined ? undefined : (text) => editMembers(text, { [member]: edit });
  };

/**
 * Returns the edit of `messages` that removes the thinking of other providers; undefined if there is
 * none. A message without any other content is removed. Thinking without a signature is only removed
 * if `isClaude`: a compatible provider may not sign its own.
 */
export function withoutForeignThinking(messages: unknown, isClaude: boolean): ListEdit | undefined {
  const isForeign = (block: unknown) => isForeignThinking(block, isClaude);
  return listEdit(messages, (message) => {
    const { content } = message;
    if (message['role'] !== 'assistant' || !Array.isArray(content)) return undefined;
    if (content.length > 0 && content.every(isForeign)) return () => null;
    return memberEdit('content', () =>
      listEdit(content, (block) => (isForeign(block) ? () => null : undefined)),
    )(message);
  });
}

function isForeignThinking(block: unknown, isClaude: boolean): boolean {
  if (!isObject(block) || block['type'] !== 'thinking') return false;
  const { signature } = block;
  if (typeof signature !== 'string' || signature === '') return isClaude;
  return isMarked(signature);
}

/**
 * True if the last message has results of tools, and the turn that called them does not start with
 * Claude's own thinking.
 */
export function hasUnthoughtCalls(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false;
  const [called, last] = messages.slice(-2).map(contentOf);
  const hasResults = last?.some((block) => isObject(block) && block['type'] === 'tool_result');
  return hasResults === true && !isOwnThinking(called?.[0]);
}

function isOwnThinking(block: unknown): boolean {
  if (!isObject(block)) return false;
  if (block['type'] === 'redacted_thinking') return true;
  return block['type'] === 'thinking' && !isForeignThinking(block, true);
}

function contentOf(message: unknown): readonly unknown[] {
  const content = isObject(message) ? message['content'] : undefined;
  return Array.isArray(content) ? content : [];
}

/**
 * Returns the edit of `messages` that removes `extra_content` from tool calls; undefined if no call
 * has it. Gemini puts its signatures there (Gemini API docs: OpenAI compatibility), and only Google
 * knows the member.
 */
export function withoutExtraContent(messages: unknown): ListEdit | undefined {
  return listEdit(messages, withoutExtraOfCalls);
}

const withoutExtraOfCalls = memberEdit('tool_calls', (calls) =>
  listEdit(calls, (call) =>
    call['extra_content'] === undefined
      ? undefined
      : (text) => editMembers(text, { extra_content: null }),
  ),
);

/** True for a reasoning item of responses whose encrypted content another provider made. */
export function isForeignReasoning({ encrypted_content }: Json): boolean {
  return typeof encrypted_content === 'string' && isMarked(encrypted_content);
}

/**
 * Returns the edit of `contents` that signs function calls; undefined if none needs it. Gemini 3
 * refuses a turn whose calls have no signature, e.g. because another provider's model made them. It
 * accepts a fixed value in its place (Gemini API docs: Thought signatures). A turn with a signature
 * of its own stays as it is.
 */
export function withSignedCalls(contents: unknown): ListEdit | undefined {
  return listEdit(contents, (content) => {
    const { parts } = content;
    if (content['role'] !== 'model' || !Array.isArray(parts)) return undefined;
    if (parts.some((part) => isObject(part) && isCall(part) && isSigned(part))) return undefined;
    return memberEdit('parts', () =>
      listEdit(parts, (part) => {
        if (!isCall(part)) return undefined;
        const edits = { thoughtSignature: JSON.stringify(SKIPPED_SIGNATURE) };
        return (text) => editMembers(text, edits);
      }),
    )(content);
  });
}

const isCall = (part: Json) => isObject(part['functionCall'] ?? part['function_call']);
const isSigned = (part: Json) =>
  typeof (part['thoughtSignature'] ?? part['thought_signature']) === 'string';
