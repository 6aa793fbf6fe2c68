/** Writes requests for upstreams that speak Anthropic's messages protocol. */

import type { Abilities } from '../../catalogue/abilities.ts';
import { withoutUndefined } from '../../json/object.ts';
import { budgetOf, effortOf } from './abilities.ts';
import { instructed } from './answer-format.ts';
import { decodedText, isText } from './media.ts';
import type {
  AssistantPart,
  FilePart,
  Format,
  ImagePart,
  NeutralRequest,
  Reasoning,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';
import { parseArguments } from './reading.ts';
import { isClaudesThinking } from './thought-signature.ts';

/** The smallest thinking budget that Anthropic accepts. */
const MIN_BUDGET_TOKENS = 1_024;

/**
 * Returns the body of the request, without `model`. Anthropic requires `max_tokens`. If the client
 * sent no limit, `max_tokens` is the model's `max_output_tokens`.
 */
export function writeMessagesRequest(
  original: NeutralRequest,
  max_output_tokens: number,
  abilities?: Abilities,
): Record<string, unknown> {
  // Anthropic has no JSON mode: its formats need a closed schema.
  const request = original.format?.type === 'json' ? instructed(original) : original;
  const { system, stop, tools, format, user } = request;
  const max_tokens = request.max_output_tokens ?? max_output_tokens;
  const isAdaptive = abilities?.reasoning.form === 'adaptive';
  const thinking = isAdaptive
    ? writeAdaptive(request.reasoning)
    : writeThinking(request.reasoning, max_tokens);
  return withoutUndefined({
    max_tokens,
    system: system.length > 0 ? system.join('\n\n') : undefined,
    // Anthropic refuses messages without content.
    messages: request.turns.map(writeTurn).filter(({ content }) => content.length > 0),
    // With thinking, Anthropic refuses `temperature` and `top_k`.
    temperature: thinking?.type === 'enabled' ? undefined : request.temperature,
    top_p: request.top_p,
    top_k: thinking?.type === 'enabled' ? undefined : request.top_k,
    stop_sequences: stop.length > 0 ? stop : undefined,
    tools: tools.length > 0 ? tools.map(writeTool) : undefined,
    tool_choice: tools.length > 0 ? writeChoice(request) : undefined,
    thinking,
    output_config: writeConfig(format, isAdaptive ? request.reasoning : undefined),
    metadata: user === undefined ? undefined : { user_id: user },
    stream: request.stream || undefined,
  });
}

/**
 * Writes adaptive thinking. Its amount is the effort in `output_config`. Without `display`, current
 * models return thinking without its text (@ai-sdk/anthropic sends the same).
 */
function writeAdaptive(reasoning: Reasoning | undefined) {
  if (!reasoning) return undefined;
  if ('off' in reasoning) return { type: 'disabled' as const };
  return { type: 'adaptive' as const, display: 'summarized' as const };
}

function writeConfig(format: Format | undefined, reasoning: Reasoning | undefined) {
  const effort = reasoning && !('off' in reasoning) ? effortOf(reasoning) : undefined;
  const schema = format?.type === 'schema' ? format.schema : undefined;
  if (effort === undefined && format?.type !== 'schema') return undefined;
  return {
    ...(effort !== undefined && { effort }),
    ...(format?.type === 'schema' && { format: { type: 'json_schema', schema } }),
  };
}

function writeThinking(reasoning: Reasoning | undefined, max_tokens: number) {
  if (!reasoning) return undefined;
  if ('off' in reasoning) return { type: 'disabled' as const };
  const requested_tokens = budgetOf(reasoning);
  // `max_tokens` includes the tokens of thinking. So thinking gets at most half of `max_tokens`,
  // but never less than the smallest budget.
  const budget_tokens = Math.max(
    MIN_BUDGET_TOKENS,
    Math.min(requested_tokens, Math.floor(max_tokens / 2)),
  );
  return budget_tokens < max_tokens ? { type: 'enabled' as const, budget_tokens } : undefined;
}

function writeTurn(turn: Turn): { role: string; content: string | object[] } {
  if (turn.role === 'assistant') {
    return { role: 'assistant', content: turn.parts.flatMap(writeAssistantPart) };
  }
  const parts: readonly UserPart[] = turn.parts;
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text') return { role: 'user', content: only.text };
  return { role: 'user', content: parts.map(writeUserPart) };
}

function writeUserPart(part: UserPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return writeImage(part);
    case 'file':
      return withoutUndefined({ type: 'document', source: sourceOf(part), title: part.name });
    case 'result': {
      const content = part.parts.map(writeResultPart);
      const errorMember = part.is_error ? { is_error: true } : {};
      return { type: 'tool_result', tool_use_id: part.call_id, content, ...errorMember };
    }
    case 'audio':
      throw new TypeError('Anthropic does not support audio input');
    default:
      return part satisfies never;
  }
}

function sourceOf(file: FilePart): object {
  if ('url' in file) return { type: 'url', url: file.url };
  const { media_type, data } = file;
  // Anthropic takes texts only as such (@anthropic-ai/sdk, PlainTextSource).
  return isText(media_type)
    ? { type: 'text', media_type: 'text/plain', data: decodedText(data) }
    : { type: 'base64', media_type, data };
}

function writeResultPart(part: TextPart | ImagePart): object {
  return part.type === 'text' ? { type: 'text', text: part.text } : writeImage(part);
}

function writeImage(image: ImagePart): object {
  const source =
    'url' in image
      ? { type: 'url', url: image.url }
      : { type: 'base64', media_type: image.media_type, data: image.data };
  return { type: 'image', source };
}

function writeAssistantPart(part: AssistantPart): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'call': {
      const { id, name } = part;
      return [{ type: 'tool_use', id, name, input: parseArguments(part.arguments) }];
    }
    case 'reasoning':
      if (part.redacted !== undefined) return [{ type: 'redacted_thinking', data: part.redacted }];
      // Anthropic refuses a thinking block without its signature, or with Gemini's.
      return isClaudesThinking(part)
        ? [{ type: 'thinking', thinking: part.text, signature: part.signature }]
        : [];
    default:
      return part satisfies never;
  }
}

function writeTool({ name, description, parameters, strict }: Tool): object {
  return withoutUndefined({ name, description, input_schema: parameters, strict });
}

function writeChoice({ tool_choice, parallel_calls }: NeutralRequest): object | undefined {
  const serialMember = parallel_calls === false ? { disable_parallel_tool_use: true } : {};
  const choice: ToolChoice | undefined =
    tool_choice ?? (parallel_calls === false ? { type: 'auto' } : undefined);
  if (!choice) return undefined;
  return choice.type === 'none' ? choice : { ...choice, ...serialMember };
}
