/** Writes requests for upstreams with OpenAI chat completions. */
import type { Abilities } from '../../catalogue/abilities.ts';
import { withoutUndefined } from '../../json/object.ts';
import { SKIPPED_SIGNATURE } from '../../protocols/signatures.ts';
import { effortOf } from './abilities.ts';
import { decodedText, isText } from './media.ts';
import type {
  AssistantPart,
  FilePart,
  Format,
  ImagePart,
  NeutralRequest,
  Reasoning,
  Tool,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';
import { extraContent, signatureIn } from './thought-signature.ts';

/** Where an upstream takes the reasoning of earlier turns. */
export interface ReasoningPlace {
  /** The member of an assistant's message. */
  readonly member: string;
  /** True if every message of an assistant needs the member. */
  readonly isNeeded: boolean;
}

interface TurnOptions {
  readonly place: ReasoningPlace | undefined;
  readonly signatures: Abilities['signatures'] | undefined;
}

/**
 * Returns the body of the request, without `model`. A Gemini gets its `signatures`, as Google's own
 * layer for OpenAI's clients takes them. Without `place`, the reasoning of earlier turns
 * is left out.
 */
export function writeChat(
  request: NeutralRequest,
  place?: ReasoningPlace,
  signatures?: Abilities['signatures'],
): Record<string, unknown> {
  const { tools, stop } = request;
  return withoutUndefined({
    messages: [
      ...request.system.map((content) => ({ role: 'system', content })),
      ...request.turns.flatMap((turn) => writeTurn(turn, { place, signatures })),
    ],
    max_completion_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    seed: request.seed,
    presence_penalty: request.presence_penalty,
    frequency_penalty: request.frequency_penalty,
    stop: stop.length > 0 ? stop : undefined,
    tools: tools.length > 0 ? tools.map(writeTool) : undefined,
    tool_choice: tools.length > 0 ? writeChoice(request.tool_choice) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallel_calls : undefined,
    response_format: writeFormat(request.format),
    reasoning_effort: writeEffort(request.reasoning),
    verbosity: request.verbosity,
    user: request.user,
    stream: request.stream || undefined,
  });
}

function writeTurn(turn: Turn, options: TurnOptions): object[] {
  switch (turn.role) {
    case 'system':
      return [{ role: 'system', content: turn.parts.map(({ text }) => text).join('\n') }];
    case 'user':
      return writeUser(turn.parts);
    case 'assistant':
      return writeAssistant(turn.parts, options);
    default:
      return turn satisfies never;
  }
}

/**
 * Writes one message for each tool result, and then one message with the remaining parts. The
 * results come first, because OpenAI requires them directly after the tool calls.
 */
function writeUser(parts: readonly UserPart[]): object[] {
  const results = parts.flatMap((part) =>
    part.type === 'result'
      ? [{ role: 'tool', tool_call_id: part.call_id, content: resultText(part) }]
      : [],
  );
  const written = parts.flatMap(writeUserPart);
  if (written.length === 0) return results;
  const [only] = parts.filter(({ type }) => type !== 'result');
  const content = written.length === 1 && only?.type === 'text' ? only.text : written;
  return [...results, { role: 'user', content }];
}

function resultText({ parts, is_error }: Extract<UserPart, { type: 'result' }>): string {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
  return is_error ? `Error: ${text}` : text;
}

function writeUserPart(part: UserPart): object[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image':
      return [
        {
          type: 'image_url',
          image_url: withoutUndefined({ url: imageUrl(part), detail: part.detail }),
        },
      ];
    case 'audio':
      return [{ type: 'input_audio', input_audio: { format: part.format, data: part.data } }];
    case 'file':
      return [writeFile(part)];
    case 'result':
      return [];
    default:
      return part satisfies never;
  }
}

/** Writes a document. Of inline files, chat completions take PDFs only (OpenAI docs: File inputs). */
function writeFile(file: FilePart): object {
  if ('url' in file) throw new TypeError('chat completions take no files by URL');
  const { media_type, data, name } = file;
  if (isText(media_type)) {
    const text = decodedText(data);
    return { type: 'text', text: name === undefined ? text : `${name}:\n${text}` };
  }
  const file_data = `data:${media_type};base64,${data}`;
  return { type: 'file', file: { filename: name ?? 'file', file_data } };
}

/** Returns the URL of an image; a `data:` URL if the image is inline. */
export function imageUrl(image: ImagePart): string {
  return 'url' in image ? image.url : `data:${image.media_type};base64,${image.data}`;
}

/** Writes one message; none if the turn has nothing that this protocol carries. */
function writeAssistant(
  parts: readonly AssistantPart[],
  { place, signatures }: TurnOptions,
): object[] {
  let [content, refusal, reasoning] = ['', '', ''];
  const tool_calls: object[] = [];
  const isSigned = parts.some((part) => signatureIn(part) !== undefined);
  const missing = signatures?.needed && !isSigned ? SKIPPED_SIGNATURE : undefined;
  for (const [at, part] of parts.entries()) {
    if (part.type === 'text') content += part.text;
    else if (part.type === 'refusal') refusal += part.text;
    else if (part.type === 'reasoning') reasoning += part.text;
    else if (part.type === 'call') {
      const signature = signatureIn(parts[at - 1]) ?? missing;
      const extra = signatures?.maker === 'gemini' ? extraContent(signature) : {};
      tool_calls.push({ ...writeToolCall(part), ...extra });
    }
  }
  if (content === '' && refusal === '' && tool_calls.length === 0) return [];
  return [
    withoutUndefined({
      role: 'assistant',
      content: content === '' ? null : content,
      refusal: refusal === '' ? undefined : refusal,
      ...(place && (place.isNeeded || reasoning !== '') ? { [place.member]: reasoning } : {}),
      tool_calls: tool_calls.length > 0 ? tool_calls : undefined,
    }),
  ];
}

/** Returns a tool call in the format of chat completions. */
export function writeToolCall({
  id,
  name,
  arguments: text,
}: Extract<AssistantPart, { type: 'call' }>) {
  return { id, type: 'function', function: { name, arguments: text } };
}

function writeTool({ name, description, parameters, strict }: Tool): object {
  return {
    type: 'function',
    function: withoutUndefined({ name, description, parameters, strict }),
  };
}

function writeChoice(choice: ToolChoice | undefined): unknown {
  if (!choice) return undefined;
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  return choice.type === 'any' ? 'required' : choice.type;
}

function writeFormat(format: Format | undefined): unknown {
  if (!format) return undefined;
  if (format.type === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    json_schema: withoutUndefined({ name, description, schema, strict }),
  };
}

/** Returns a reasoning setting as an effort. A token budget becomes `low`, `medium` or `high`. */
export function writeEffort(reasoning: Reasoning | undefined): string | undefined {
  if (!reasoning) return undefined;
  return 'off' in reasoning ? 'none' : effortOf(reasoning);
}
