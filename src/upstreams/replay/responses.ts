import { isObject } from '../../json/object.ts';
import { type AnswerObject, type AnswerReplay, namedEvent, objectsIn, without } from './replay.ts';

/** The events that end a response. */
const ENDS = ['response.completed', 'response.incomplete'];
/** Members that a response copies from its request, and on which its answer does not depend. */
const ECHOED = ['metadata', 'user', 'safety_identifier', 'prompt_cache_key'];

/** Responses (OpenAI docs: Responses, Streaming events). */
export const responsesReplay: AnswerReplay = {
  id: 'id',

  assemble(events) {
    const last = events.at(-1);
    const isEnd = ENDS.some((type) => type === last?.['type']);
    const response = isEnd ? last?.['response'] : undefined;
    return isObject(response) ? response : undefined;
  },

  ids: ({ output }) => objectsIn(output).flatMap(({ id, call_id }) => [id, call_id]),

  stream(answer) {
    const events = new Events();
    const began = {
      ...without(answer, 'usage', 'completed_at'),
      status: 'in_progress',
      output: [],
    };
    events.add('response.created', { response: began });
    events.add('response.in_progress', { response: began });
    for (const [index, item] of objectsIn(answer['output']).entries()) addItem(events, item, index);
    events.add(`response.${answer['status']}`, { response: answer });
    return events.text;
  },

  echo(answer, request) {
    const written = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
    const copied = ECHOED.filter((name) => name in answer || request[name] !== undefined);
    const previous = request['previous_response_id'] ?? null;
    return {
      ...Object.fromEntries(copied.map((name) => [name, written(request[name])])),
      ...('metadata' in answer ? { metadata: JSON.stringify(request['metadata'] ?? {}) } : {}),
      ...('store' in answer ? { store: String(request['store'] !== false) } : {}),
      ...('previous_response_id' in answer
        ? { previous_response_id: JSON.stringify(previous) }
        : {}),
    };
  },
};

/** The events of a stream, with their numbers. */
class Events {
  text = '';
  private sequence_number = 0;

  add(type: string, members: object): void {
    this.text += namedEvent(type, { sequence_number: this.sequence_number, ...members });
    this.sequence_number += 1;
  }
}

function addItem(events: Events, item: AnswerObject, output_index: number): void {
  const { id: item_id, type, name } = item;
  const add = (kind: string, members: object) =>
    events.add(`response.${kind}`, { item_id, output_index, ...members });
  const begun = { ...item, ...emptied(item) };
  events.add('response.output_item.added', { output_index, item: begun });
  switch (type) {
    case 'message':
      for (const [content_index, part] of objectsIn(item['content']).entries()) {
        const { text, logprobs = [] } = part;
        add('content_part.added', { content_index, part: { ...part, text: '' } });
        add('output_text.delta', { content_index, delta: text, logprobs });
        add('output_text.done', { content_index, text, logprobs });
        add('content_part.done', { content_index, part });
      }
      break;
    case 'reasoning':
      for (const [summary_index, part] of objectsIn(item['summary']).entries()) {
        const { text } = part;
        add('reasoning_summary_part.added', { summary_index, part: { ...part, text: '' } });
        add('reasoning_summary_text.delta', { summary_index, delta: text });
        add('reasoning_summary_text.done', { summary_index, text });
        add('reasoning_summary_part.done', { summary_index, part });
      }
      for (const [content_index, { text }] of objectsIn(item['content']).entries()) {
        add('reasoning_text.delta', { content_index, delta: text });
        add('reasoning_text.done', { content_index, text });
      }
      break;
    case 'function_call':
      add('function_call_arguments.delta', { delta: item['arguments'] });
      add('function_call_arguments.done', { name, arguments: item['arguments'] });
      break;
    case 'custom_tool_call':
      add('custom_tool_call_input.delta', { delta: item['input'] });
      add('custom_tool_call_input.done', { input: item['input'] });
      break;
    default:
  }
  events.add('response.output_item.done', { output_index, item });
}

/** Returns the members of an item as they are before its first delta. */
function emptied(item: AnswerObject): object {
  switch (item['type']) {
    case 'message':
      return { status: 'in_progress', content: [] };
    case 'function_call':
      return { status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { status: 'in_progress', input: '' };
    case 'reasoning':
      return { summary: [] };
    default:
      return {};
  }
}
