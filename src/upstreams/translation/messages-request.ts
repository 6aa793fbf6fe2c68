/** Reads requests of Anthropic messages (Anthropic docs: Messages). */

import { isObject, withoutUndefined } from '../../json/object.ts';
import { addToUser, readTexts } from './chat-request.ts';
import { mediaType } from './media.ts';
import type {
  AssistantPart,
  Format,
  ImagePart,
  NeutralRequest,
  ReadRequest,
  Reasoning,
  TextPart,
  Tool,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';
import {
  byUrl,
  FeatureUses,
  listOrEmpty,
  numberOrUndefined,
  parameterError,
  type ReadonlyJsonObject,
  requireObject,
  requireText,
} from './reading.ts';

/** Members of the body that this file reads. */
const KNOWN = new Set(
  (
    'model messages system stream max_tokens metadata temperature top_p top_k stop_sequences ' +
    'tools tool_choice thinking output_config'
  ).split(' '),
);
const PDF = 'application/pdf';
const KNOWN_METADATA = new Set(['user_id']);
const KNOWN_TOOL = new Set(['type', 'name', 'description', 'input_schema', 'strict']);
const KNOWN_CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use']);
const KNOWN_THINKING = new Set(['type', 'budget_tokens']);
const KNOWN_CONFIG = new Set(['format', 'effort']);
/** The words of `output_config.effort` (@anthropic-ai/sdk, `OutputConfig`). */
const MESSAGES_EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Reads a request. Throws WeirError (400) if a part of the body has the wrong form. */
export function readMessagesRequest(body: ReadonlyJsonObject): ReadRequest {
  const features = new FeatureUses('anthropic');
  features.noteOthers(body, KNOWN);
  const system = readTexts(body['system'], 'system').map(({ text }) => text);
  if (system.length > 0) features.note('system', 'system');
  const turns: Turn[] = [];
  for (const [at, value] of listOrEmpty(body['messages']).entries()) {
    const param = `messages.${at}`;
    const message = requireObject(value, param);
    const content = `${param}.content`;
    if (message['role'] === 'assistant') {
      turns.push({
        role: 'assistant',
        parts: readAssistant(message['content'], content, features),
      });
    } else addToUser(turns, readUser(message['content'], content, features));
  }
  if (turns.at(-1)?.role === 'assistant') {
    features.note('prefill', `messages.${listOrEmpty(body['messages']).length - 1}`);
  }
  const stop = listOrEmpty(body['stop_sequences']).map((each) => String(each));
  if (stop.length > 0) features.note('stop', 'stop_sequences');
  for (const name of ['temperature', 'top_p', 'top_k'] as const) {
    if (numberOrUndefined(body[name]) !== undefined) features.note(name, name);
  }
  const choice = isObject(body['tool_choice']) ? body['tool_choice'] : undefined;
  const isSerial = choice?.['disable_parallel_tool_use'] === true;
  if (isSerial) features.note('serial_calls', 'tool_choice.disable_parallel_tool_use');
  const metadata = body['metadata'];
  if (isObject(metadata)) features.noteOthers(metadata, KNOWN_METADATA, 'metadata.');
  const user = isObject(metadata) ? metadata['user_id'] : undefined;
  const request: NeutralRequest = withoutUndefined({
    system,
    turns,
    tools: listOrEmpty(body['tools']).flatMap((tool, at) =>
      readTool(tool, `tools.${at}`, features),
    ),
    tool_choice: readChoice(choice, features),
    parallel_calls: isSerial ? false : undefined,
    max_output_tokens: numberOrUndefined(body['max_tokens']),
    temperature: numberOrUndefined(body['temperature']),
    top_p: numberOrUndefined(body['top_p']),
    top_k: numberOrUndefined(body['top_k']),
    stop,
    format: readFormat(body['output_config'], features),
    reasoning: readThinking(body['thinking'], body['output_config'], features),
    stream: body['stream'] === true,
    user: typeof user === 'string' ? user : undefined,
  });
  return { request, uses: features.uses };
}

function readUser(content: unknown, param: string, features: FeatureUses): UserPart[] {
  if (typeof content === 'string') return readTexts(content, param) as UserPart[];
  return listOrEmpty(content).flatMap((value, at): UserPart[] => {
    const here = `${param}.${at}`;
    const block = requireObject(value, here);
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: requireText(block['text'], `${here}.text`) }];
      case 'image':
        return readImage(block, here, features);
      case 'document':
        return readDocument(block, here, features);
      case 'tool_result':
        return [readResult(block, here, features)];
      default:
        features.note('other', `${here}.type`);
        return [];
    }
  });
}

function readImage(block: ReadonlyJsonObject, param: string, features: FeatureUses): ImagePart[] {
  const source = requireObject(block['source'], `${param}.source`);
  if (source['type'] === 'base64') {
    const media_type = mediaType(requireText(source['media_type'], `${param}.source.media_type`));
    features.note('image_inline', param, media_type);
    return [
      { type: 'image', media_type, data: requireText(source['data'], `${param}.source.data`) },
    ];
  }
  if (source['type'] === 'url') {
    const url = requireText(source['url'], `${param}.source.url`);
    return [{ type: 'image', ...byUrl('image_url', url, param, features) }];
  }
  features.note('file_reference', `${param}.source`);
  return [];
}

function readDocument(block: ReadonlyJsonObject, param: string, features: FeatureUses): UserPart[] {
  const source = requireObject(block['source'], `${param}.source`);
  const title = typeof block['title'] === 'string' ? { name: block['title'] } : {};
  if (isObject(block['citations']) && block['citations']['enabled'] === true) {
    features.note('other', `${param}.citations`);
  }
  if (source['type'] === 'text') {
    return [{ type: 'text', text: requireText(source['data'], `${param}.source.data`) }];
  }
  if (source['type'] === 'url') {
    const url = requireText(source['url'], `${param}.source.url`);
    // Anthropic's documents by URL are PDFs (@anthropic-ai/sdk, URLPDFSource).
    return [{ type: 'file', ...byUrl('file_url', url, param, features, PDF), ...title }];
  }
  if (source['type'] !== 'base64') {
    features.note('file_reference', `${param}.source`);
    return [];
  }
  const media_type = mediaType(requireText(source['media_type'], `${param}.source.media_type`));
  features.note('file_inline', param, media_type);
  const data = requireText(source['data'], `${param}.source.data`);
  return [{ type: 'file', media_type, data, ...title }];
}

function readResult(block: ReadonlyJsonObject, param: string, features: FeatureUses): UserPart {
  const { content } = block;
  const parts: (TextPart | ImagePart)[] = [];
  if (typeof content === 'string') parts.push({ type: 'text', text: content });
  for (const [at, value] of listOrEmpty(content).entries()) {
    const here = `${param}.content.${at}`;
    const part = requireObject(value, here);
    if (part['type'] === 'text')
      parts.push({ type: 'text', text: requireText(part['text'], here) });
    else if (part['type'] === 'image') {
      features.note('images_in_results', here);
      parts.push(...readImage(part, here, features));
    } else if (part['type'] === 'tool_reference') {
      // Every tool is loaded, so the name tells the model all that it needs.
      parts.push({ type: 'text', text: requireText(part['tool_name'], `${here}.tool_name`) });
    } else features.note('other', `${here}.type`);
  }
  const is_error = block['is_error'] === true;
  if (is_error) features.note('failed_results', `${param}.is_error`);
  return {
    type: 'result',
    call_id: requireText(block['tool_use_id'], `${param}.tool_use_id`),
    parts,
    is_error,
  };
}

function readAssistant(content: unknown, param: string, features: FeatureUses): AssistantPart[] {
  if (typeof content === 'string') return readTexts(content, param);
  return listOrEmpty(content).flatMap((value, at): AssistantPart[] => {
    const here = `${param}.${at}`;
    const block = requireObject(value, here);
    switch (block['type']) {
      case 'text':
        return [{ type: 'text', text: requireText(block['text'], `${here}.text`) }];
      case 'tool_use':
        return [
          {
            type: 'call',
            id: requireText(block['id'], `${here}.id`),
            name: requireText(block['name'], `${here}.name`),
            arguments: JSON.stringify(block['input'] ?? {}),
          },
        ];
      // Reasoning of earlier turns is not a feature. If the upstream's protocol cannot carry it,
      // its writer drops it, and the request is not refused.
      case 'thinking':
        return [
          withoutUndefined({
            type: 'reasoning' as const,
            text: String(block['thinking'] ?? ''),
            signature: typeof block['signature'] === 'string' ? block['signature'] : undefined,
          }),
        ];
      case 'redacted_thinking':
        return [{ type: 'reasoning', text: '', redacted: String(block['data'] ?? '') }];
      default:
        features.note('other', `${here}.type`);
        return [];
    }
  });
}

function readTool(value: unknown, param: string, features: FeatureUses): Tool[] {
  const tool = requireObject(value, param);
  if (tool['type'] !== undefined && tool['type'] !== null && tool['type'] !== 'custom') {
    features.note('other_tools', `${param}.type`);
    return [];
  }
  features.note('tools', param);
  features.noteOthers(tool, KNOWN_TOOL, `${param}.`);
  if (tool['strict'] === true) features.note('strict_tools', `${param}.strict`);
  return [
    withoutUndefined({
      name: requireText(tool['name'], `${param}.name`),
      description: typeof tool['description'] === 'string' ? tool['description'] : undefined,
      parameters: tool['input_schema'] ?? { type: 'object', properties: {} },
      strict: tool['strict'] === true ? true : undefined,
    }),
  ];
}

function readChoice(
  choice: ReadonlyJsonObject | undefined,
  features: FeatureUses,
): ToolChoice | undefined {
  if (!choice) return undefined;
  features.noteOthers(choice, KNOWN_CHOICE, 'tool_choice.');
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return { type: choice['type'] };
    case 'any':
      features.note('forced_tool', 'tool_choice');
      return { type: 'any' };
    case 'tool':
      features.note('forced_tool', 'tool_choice');
      return { type: 'tool', name: requireText(choice['name'], 'tool_choice.name') };
    default:
      throw parameterError('tool_choice.type', 'must be auto, any, tool or none.');
  }
}

function readFormat(config: unknown, features: FeatureUses): Format | undefined {
  const format = isObject(config) ? config['format'] : undefined;
  if (!isObject(format)) return undefined;
  features.note('json_schema', 'output_config.format');
  return { type: 'schema', name: 'answer', schema: format['schema'] ?? {}, strict: true };
}

function readThinking(
  thinking: unknown,
  config: unknown,
  features: FeatureUses,
): Reasoning | undefined {
  if (isObject(thinking)) features.noteOthers(thinking, KNOWN_THINKING, 'thinking.');
  if (isObject(config)) features.noteOthers(config, KNOWN_CONFIG, 'output_config.');
  const effort = isObject(config) ? config['effort'] : undefined;
  if (isObject(thinking) && thinking['type'] === 'disabled') {
    features.note('reasoning_off', 'thinking');
    return { off: true };
  }
  if (isObject(thinking) && typeof thinking['budget_tokens'] === 'number') {
    features.note('reasoning_budget', 'thinking.budget_tokens');
    return { budget_tokens: thinking['budget_tokens'] };
  }
  if (effort !== undefined && effort !== null) {
    const known = MESSAGES_EFFORTS.find((each) => each === effort);
    if (!known) {
      throw parameterError('output_config.effort', `must be ${MESSAGES_EFFORTS.join(', ')}.`);
    }
    features.note('reasoning_effort', 'output_config.effort');
    return { effort: known, is_hint: true };
  }
  if (!isObject(thinking)) return undefined;
  features.note('reasoning_effort', 'thinking');
  return { effort: 'medium', is_hint: true };
}
