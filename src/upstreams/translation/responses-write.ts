/** Writes requests for upstreams with OpenAI responses. */
import { withoutUndefined } from '../../json/object.ts';
import { imageUrl, writeEffort } from './chat-write.ts';
import type {
  AssistantPart,
  Format,
  NeutralRequest,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';

/** Returns the body of the request, without `model`. */
export function writeResponsesRequest(request: NeutralRequest): Record<string, unknown> {
  const { tools, format, verbosity } = request;
  const effort = writeEffort(request.reasoning);
  return withoutUndefined({
    input: [
      ...request.system.map((content) => ({ role: 'system', content })),
      ...request.turns.flatMap(writeTurn),
    ],
    max_output_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    tools: tools.length > 0 ? tools.map(writeTool) : undefined,
    tool_choice: tools.length > 0 ? writeChoice(request.tool_choice) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallel_calls : undefined,
    text:
      format || verbosity
        ? withoutUndefined({ format: format && writeFormat(format), verbosity })
        : undefined,
    reasoning: effort === undefined ? undefined : { effort },
    user: request.user,
    stream: request.stream || undefined,
    store: false,
  });
}

/**
 * Responses make the schema of a tool strict, and optional members required, unless `strict` is false.
 * The other protocols are not strict by default (openai 7.55.0: `FunctionTool.strict`).
 */
function writeTool(tool: NeutralRequest['tools'][number]): object {
  return withoutUndefined({ type: 'function', ...tool, strict: tool.strict ?? false });
}

function writeTurn(turn: Turn): object[] {
  switch (turn.role) {
    case 'system':
      return [{ role: 'system', content: turn.parts.map(({ text }) => text).join('\n') }];
    case 'user':
      return writeUser(turn.parts);
    case 'assistant':
      return turn.parts.flatMap(writeAssistantPart);
    default:
      return turn satisfies never;
  }
}

/** Writes one item for each tool result, and then one message with the remaining parts. */
function writeUser(parts: readonly UserPart[]): object[] {
  const results = parts.flatMap((part) =>
    part.type === 'result'
      ? [{ type: 'function_call_output', call_id: part.call_id, output: outputOf(part) }]
      : [],
  );
  const content = parts.flatMap(writeUserPart);
  return content.length === 0 ? results : [...results, { role: 'user', content }];
}

function outputOf({ parts, is_error }: Extract<UserPart, { type: 'result' }>): unknown {
  const texts = parts.filter((part): part is TextPart => part.type === 'text');
  const text = (is_error ? 'Error: ' : '') + texts.map((part) => part.text).join('\n');
  if (texts.length === parts.length) return text;
  const images = parts.flatMap((part) => (part.type === 'image' ? writeUserPart(part) : []));
  return [...(text === '' ? [] : [{ type: 'input_text', text }]), ...images];
}

function writeUserPart(part: UserPart): object[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'input_text', text: part.text }];
    case 'image':
      return [{ type: 'input_image', image_url: imageUrl(part), detail: part.detail ?? 'auto' }];
    case 'file': {
      if ('url' in part) return [{ type: 'input_file', file_url: part.url }];
      const file_data = `data:${part.media_type};base64,${part.data}`;
      return [{ type: 'input_file', filename: part.name ?? 'file', file_data }];
    }
    // A request with audio is refused before it is written, because the protocol `responses` has no
    // audio input (features.ts).
    case 'audio':
    case 'result':
      return [];
    default:
      return part satisfies never;
  }
}

function writeAssistantPart(part: AssistantPart): object[] {
  switch (part.type) {
    case 'text':
      if (part.text === '') return [];
      return [{ role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
    case 'refusal':
      return [{ role: 'assistant', content: [{ type: 'refusal', refusal: part.text }] }];
    case 'call': {
      const { id: call_id, name, arguments: text } = part;
      return [{ type: 'function_call', call_id, name, arguments: text }];
    }
    // All reasoning is dropped, because it may come from another provider's model. OpenAI's models
    // cannot use such reasoning.
    case 'reasoning':
      return [];
    default:
      return part satisfies never;
  }
}

function writeChoice(choice: ToolChoice | undefined): unknown {
  if (!choice) return undefined;
  if (choice.type === 'tool') return { type: 'function', name: choice.name };
  return choice.type === 'any' ? 'required' : choice.type;
}

function writeFormat(format: Format): object {
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return withoutUndefined({ type: 'json_schema', name, description, schema, strict });
}
