/** Answers of OpenAI responses, written (OpenAI docs: Responses; contracts 1.3). */
import { isObject } from '../../json/object.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import type { AnswerNames, AssistantPart, NeutralAnswer } from './neutral.ts';

/** Quoted from the request in every answer, and what it is where the request says nothing. */
const QUOTED: Record<string, unknown> = {
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

/** The object of a response; `output` are its items by now. */
export function responseObject(
  { id, model, created, request }: AnswerNames,
  status: ResponseStatus,
  output: readonly object[],
  usage: AnswerUsage | null,
  incomplete: string | null = null,
): object {
  const quoted = Object.entries(QUOTED).map(([key, usual]) => [key, request[key] ?? usual]);
  const user = typeof request['user'] === 'string' ? { user: request['user'] } : {};
  return {
    id,
    object: 'response',
    created_at: created,
    status,
    background: false,
    error: null,
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    model,
    output,
    ...Object.fromEntries(quoted),
    access_programs: null,
    service_tier: 'default',
    usage: usage ? responseUsage(usage) : null,
    ...user,
  };
}

function responseUsage(usage: AnswerUsage): object {
  const input_tokens = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  return {
    input_tokens,
    input_tokens_details: {
      cached_tokens: usage.cached_input_tokens,
      cache_write_tokens: usage.cache_write_tokens,
    },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: input_tokens + usage.output_tokens,
  };
}

export function writeResponse(answer: NeutralAnswer, names: AnswerNames): object {
  const output = answer.parts.map((part, at) => itemOf(part, itemId(names, part.type, at), names));
  const [status, incomplete] = statusOf(answer);
  return responseObject(names, status, output, answer.usage, incomplete);
}

export function statusOf({ stop }: NeutralAnswer): [ResponseStatus, string | null] {
  if (stop === 'length') return ['incomplete', 'max_output_tokens'];
  return stop === 'filter' ? ['incomplete', 'content_filter'] : ['completed', null];
}

const PREFIXES = { text: 'msg', refusal: 'msg', reasoning: 'rs', redacted: 'rs', call: 'fc' };

/** Items are called after their response, and numbered. */
export function itemId({ id }: AnswerNames, type: keyof typeof PREFIXES, at: number): string {
  return `${PREFIXES[type]}_${id.slice(id.indexOf('_') + 1)}${at}`;
}

/** A part of an answer as an item; `in_progress` before it is whole. */
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
      const { id: call_id, name, arguments: text } = part;
      return { id, type: 'function_call', status, call_id, name, arguments: text };
    }
    case 'reasoning': {
      const summary = part.text === '' ? [] : [{ type: 'summary_text', text: part.text }];
      return { id, type: 'reasoning', summary, ...sealed(part, names) };
    }
    default:
      return part satisfies never;
  }
}

export function contentOf({ type, text }: Extract<AssistantPart, { type: 'text' | 'refusal' }>) {
  return type === 'text'
    ? { type: 'output_text', annotations: [], logprobs: [], text }
    : { type: 'refusal', refusal: text };
}

/** What the vendor signed goes with who asks for it, so that he can send it back. */
function sealed(
  part: Extract<AssistantPart, { type: 'reasoning' }>,
  { request }: AnswerNames,
): object {
  const include = request['include'];
  const isWanted = Array.isArray(include) && include.includes('reasoning.encrypted_content');
  return isWanted && part.signature !== undefined ? { encrypted_content: part.signature } : {};
}

/** True unless the client wants nothing kept. */
export function isKept(request: unknown): boolean {
  return isObject(request) && request['store'] !== false;
}
