/** Writes answers of OpenAI responses (OpenAI docs: Responses). */
import { isObject } from '../../json/object.ts';
import { writeResponsesUsage } from '../../protocols/responses-usage.ts';
import { encryptedContent } from '../../protocols/signatures.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { AnswerNames, AssistantPart, NeutralAnswer } from './neutral.ts';
import { callItem } from './responses-tools.ts';

/**
 * Members that every response copies from its request. The values are the defaults, which are used
 * if the request does not have the member.
 */
const REPEATED_MEMBERS: Record<string, unknown> = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
};

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** Returns a response object. `output` is the list of its items so far. */
export function responseObject(
  { id, model, created, request }: AnswerNames,
  status: ResponseStatus,
  output: readonly object[],
  usage: AnswerUsage | null,
  incomplete_reason: string | null = null,
): object {
  const repeated = Object.entries(REPEATED_MEMBERS).map(([key, fallback]) => [
    key,
    request[key] ?? fallback,
  ]);
  const user = typeof request['user'] === 'string' ? { user: request['user'] } : {};
  return {
    id,
    object: 'response',
    created_at: created,
    status,
    background: false,
    error: null,
    incomplete_details: incomplete_reason === null ? null : { reason: incomplete_reason },
    model,
    output,
    ...Object.fromEntries(repeated),
    access_programs: null,
    service_tier: 'default',
    // OpenAI's type has no null: the usage is absent until it is known.
    ...(usage ? { usage: writeResponsesUsage(usage) } : {}),
    ...user,
  };
}

/** Returns the answer as a response. */
export function writeResponse(answer: NeutralAnswer, names: AnswerNames): object {
  // Reasoning without a text is an item only if it carries a signature: an AI SDK would refer to the
  // empty item by its id.
  const parts = answer.parts.filter(
    (part) =>
      part.type !== 'reasoning' ||
      part.text !== '' ||
      (part.signature !== undefined && requestsSignatures(names)),
  );
  const output = parts.map((part, at) => itemOf(part, itemId(names, part.type, at), names));
  const [status, incomplete_reason] = statusOf(answer);
  return responseObject(names, status, output, answer.usage, incomplete_reason);
}

/** Returns the status of a response and, if it is incomplete, the reason. */
export function statusOf({ stop }: NeutralAnswer): [ResponseStatus, string | null] {
  if (stop === 'length') return ['incomplete', 'max_output_tokens'];
  return stop === 'filter' ? ['incomplete', 'content_filter'] : ['completed', null];
}

const PREFIXES = { text: 'msg', refusal: 'msg', reasoning: 'rs', redacted: 'rs', call: 'fc' };

/**
 * Returns the id of an item. It consists of a prefix for the item's type, the id of the response
 * without its own prefix, and the item's number.
 */
export function itemId({ id }: AnswerNames, type: keyof typeof PREFIXES, at: number): string {
  return `${PREFIXES[type]}_${id.slice(id.indexOf('_') + 1)}${at}`;
}

/**
 * Returns a part of an answer as an item of a response. If `status` is `in_progress`, the content
 * of a message item is empty.
 */
export function itemOf(
  part: AssistantPart,
  id: string,
  names: AnswerNames,
  status: 'in_progress' | 'completed' = 'completed',
): object {
  switch (part.type) {
    case 'text':
    case 'refusal': {
      const content = status === 'completed' ? [contentOf(part)] : [];
      return { id, type: 'message', status, role: 'assistant', content };
    }
    case 'call': {
      return callItem(part, id, status, names.request);
    }
    case 'reasoning': {
      const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
      return { id, type: 'reasoning', summary, ...encryptedMember(part, names) };
    }
    default:
      return part satisfies never;
  }
}

/** Returns a text or a refusal as the content of a message item. */
export function contentOf({ type, text }: Extract<AssistantPart, { type: 'text' | 'refusal' }>) {
  return type === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

/**
 * True if the client requested signatures with `include`. The client may send them in a later
 * request.
 */
export function requestsSignatures({ request }: AnswerNames): boolean {
  const include = request['include'];
  return Array.isArray(include) && include.includes('reasoning.encrypted_content');
}

function encryptedMember(
  { signature }: Extract<AssistantPart, { type: 'reasoning' }>,
  names: AnswerNames,
): object {
  return signature !== undefined && requestsSignatures(names)
    ? { encrypted_content: encryptedContent(signature) }
    : {};
}

/** True if Weir must store the response. Only `store: false` in the request prevents this. */
export function mustStore(request: unknown): boolean {
  return isObject(request) && request['store'] !== false;
}
