/** A test client of OpenAI responses. */
import { withoutUndefined } from '../../../src/json/object.ts';
import { writeEffort } from '../../../src/upstreams/translation/chat-write.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  NeutralRequest,
  StreamReader,
} from '../../../src/upstreams/translation/neutral.ts';
import type { ReadonlyJsonObject } from '../../../src/upstreams/translation/reading.ts';

/** Returns the body of the request as a client sends it. */
export function writeResponses(request: NeutralRequest): Record<string, unknown> {
  const { tools, tool_choice, format, reasoning } = request;
  return withoutUndefined({
    input: [
      ...request.system.map((content) => ({ role: 'system', content })),
      ...request.turns.flatMap((turn) => turn.parts.map((part) => itemOf(turn.role, part))),
    ],
    max_output_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    tools: tools.length > 0 ? tools.map((tool) => ({ type: 'function', ...tool })) : undefined,
    parallel_tool_calls: request.parallel_calls,
    tool_choice: !tool_choice
      ? undefined
      : tool_choice.type === 'tool'
        ? { type: 'function', name: tool_choice.name }
        : tool_choice.type === 'any'
          ? 'required'
          : tool_choice.type,
    text:
      format?.type === 'schema'
        ? { format: { type: 'json_schema', name: format.name, schema: format.schema } }
        : undefined,
    reasoning: reasoning && { effort: writeEffort(reasoning) },
    stream: request.stream || undefined,
  });
}

type Part = NeutralRequest['turns'][number]['parts'][number];

function itemOf(role: string, part: Part): object {
  switch (part.type) {
    case 'text': {
      const type = role === 'assistant' ? 'output_text' : 'input_text';
      return { type: 'message', role, content: [{ type, text: part.text }] };
    }
    case 'image': {
      const image_url = 'url' in part ? part.url : `data:${part.media_type};base64,${part.data}`;
      return { type: 'message', role, content: [{ type: 'input_image', image_url }] };
    }
    case 'call':
      return {
        type: 'function_call',
        call_id: part.id,
        name: part.name,
        arguments: part.arguments,
      };
    case 'result': {
      const output = part.parts.map((each) => (each.type === 'text' ? each.text : '')).join('');
      return { type: 'function_call_output', call_id: part.call_id, output };
    }
    default:
      throw new Error(`a part of type ${part.type} has no item`);
  }
}

/** The members of a response that the client reads. */
interface ResponseObject {
  status: string;
  incomplete_details: { reason: string } | null;
  output: Record<string, unknown>[];
  usage: {
    input_tokens: number;
    input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
    output_tokens: number;
  } | null;
}

/** Reads a whole response. */
export function readResponse(value: ReadonlyJsonObject): NeutralAnswer {
  const { output, status, incomplete_details, usage } = value as unknown as ResponseObject;
  const parts = output.flatMap(partOf);
  const hasCalls = parts.some(({ type }) => type === 'call');
  const reason = incomplete_details?.reason;
  const incompleteStop = reason === 'content_filter' ? ('filter' as const) : ('length' as const);
  const details = usage?.input_tokens_details;
  return {
    parts,
    stop: status === 'incomplete' ? incompleteStop : hasCalls ? 'calls' : 'end',
    usage: usage && {
      input_tokens:
        usage.input_tokens - (details?.cached_tokens ?? 0) - (details?.cache_write_tokens ?? 0),
      cached_input_tokens: details?.cached_tokens ?? 0,
      cache_write_tokens: details?.cache_write_tokens ?? 0,
      output_tokens: usage.output_tokens,
    },
  };
}

function partOf(item: Record<string, unknown>): AssistantPart[] {
  const texts = (key: string) =>
    ((item[key] ?? []) as { text?: string }[]).map(({ text = '' }) => text).join('');
  switch (item['type']) {
    case 'message':
      return [{ type: 'text', text: texts('content') }];
    case 'reasoning':
      return [{ type: 'reasoning', text: texts('summary') }];
    case 'function_call':
      return [
        {
          type: 'call',
          id: String(item['call_id']),
          name: String(item['name']),
          arguments: String(item['arguments']),
        },
      ];
    default:
      throw new Error(`an item has the unknown type ${item['type']}`);
  }
}

/** The members of events that the reader uses. Each type of event has some of them. */
interface NumberedEvent {
  type: string;
  sequence_number: number;
  delta: string;
  item: Record<string, unknown>;
  response: ReadonlyJsonObject;
}

/** Reads a stream. Throws unless its events are numbered in order and the deltas are complete. */
export function createResponseReader(): StreamReader {
  let next = 0;
  let deltas = '';
  return {
    read(value): NeutralEvent[] {
      const event = value as unknown as NumberedEvent;
      if (event.sequence_number !== next)
        throw new Error(`event ${event.sequence_number}, not ${next}`);
      next += 1;
      if (/\.delta$/.test(event.type)) deltas += event.delta;
      if (event.type === 'response.output_item.added') deltas = '';
      if (event.type === 'response.output_item.done') {
        const [part] = partOf(event.item);
        const whole = part?.type === 'call' ? part.arguments : (part?.text ?? '');
        if (whole !== deltas) throw new Error('the deltas differ from the whole item');
      }
      if (!/^response\.(completed|incomplete)$/.test(event.type)) return [];
      const { parts, stop, usage } = readResponse(event.response);
      return [
        ...parts.flatMap((part): NeutralEvent[] =>
          part.type === 'call'
            ? [{ type: 'open', part }, { type: 'delta', text: part.arguments }, { type: 'close' }]
            : [
                { type: 'open', part: { type: part.type } },
                { type: 'delta', text: part.text },
                { type: 'close' },
              ],
        ),
        ...(usage ? [{ type: 'usage' as const, usage }] : []),
        { type: 'stop', stop },
      ];
    },
  };
}
