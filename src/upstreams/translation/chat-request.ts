/** Reads requests of OpenAI chat completions (OpenAI docs: Chat Completions). */
import { EFFORTS } from '../../catalogue/abilities.ts';
import { isObject, withoutUndefined } from '../../json/object.ts';
import { mediaType } from './media.ts';
import {
  type AssistantPart,
  type Format,
  type NeutralRequest,
  type ReadRequest,
  type Reasoning,
  type TextPart,
  type Tool,
  type ToolChoice,
  type Turn,
  type UserPart,
  VERBOSITIES,
  type Verbosity,
} from './neutral.ts';
import {
  byUrl,
  FeatureUses,
  listOrEmpty,
  numberOrUndefined,
  parameterError,
  type ReadonlyJsonObject,
  readArguments,
  readDataUrl,
  readImageUrl,
  requireObject,
  requireText,
} from './reading.ts';
import { readExtraContent } from './thought-signature.ts';

/** Members of the body that this file reads. */
const KNOWN = new Set(
  (
    'model messages stream user tools tool_choice parallel_tool_calls max_tokens ' +
    'max_completion_tokens temperature top_p seed stop presence_penalty frequency_penalty ' +
    'response_format reasoning_effort n logprobs top_logprobs logit_bias functions function_call ' +
    'verbosity top_k'
  ).split(' '),
);
const KNOWN_TOOL = new Set(['type', 'function']);
const KNOWN_FUNCTION = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const KNOWN_FORMAT = new Set(['type', 'name', 'description', 'schema', 'strict']);

/** Reads a request. Throws WeirError (400) if a part of the body has the wrong form. */
export function readChat(body: ReadonlyJsonObject): ReadRequest {
  const features = new FeatureUses('openai');
  features.noteOthers(body, KNOWN);
  noteUntranslatable(body, features);
  const { system, turns } = readMessages(listOrEmpty(body['messages']), features);
  if (turns.at(-1)?.role === 'assistant') features.note('prefill', 'messages');
  const stop = body['stop'];
  const stops = typeof stop === 'string' ? [stop] : listOrEmpty(stop).map((each) => String(each));
  if (stops.length > 0) features.note('stop', 'stop');
  for (const name of ['presence_penalty', 'frequency_penalty']) {
    if (numberOrUndefined(body[name])) features.note('penalties', name);
  }
  const temperature = numberOrUndefined(body['temperature']);
  if (temperature !== undefined) {
    features.note(temperature > 1 ? 'temperature_above_one' : 'temperature', 'temperature');
  }
  // `top_k` is not in OpenAI's interface, but clients of many vendors send it.
  for (const name of ['top_p', 'top_k', 'seed'] as const) {
    if (numberOrUndefined(body[name]) !== undefined) features.note(name, name);
  }
  if (body['parallel_tool_calls'] === false) features.note('serial_calls', 'parallel_tool_calls');
  const request: NeutralRequest = withoutUndefined({
    system,
    turns,
    tools: listOrEmpty(body['tools']).flatMap((tool, at) =>
      readTool(tool, `tools[${at}]`, features),
    ),
    tool_choice: readChoice(body['tool_choice'], features),
    parallel_calls: body['parallel_tool_calls'] === false ? false : undefined,
    max_output_tokens:
      numberOrUndefined(body['max_completion_tokens']) ?? numberOrUndefined(body['max_tokens']),
    temperature,
    top_p: numberOrUndefined(body['top_p']),
    top_k: numberOrUndefined(body['top_k']),
    seed: numberOrUndefined(body['seed']),
    presence_penalty: numberOrUndefined(body['presence_penalty']) || undefined,
    frequency_penalty: numberOrUndefined(body['frequency_penalty']) || undefined,
    stop: stops,
    format: readFormat(body['response_format'], features),
    reasoning: readEffort(body['reasoning_effort'], 'reasoning_effort', features),
    verbosity: readVerbosity(body['verbosity'], 'verbosity', features),
    stream: body['stream'] === true,
    user: typeof body['user'] === 'string' ? body['user'] : undefined,
  });
  return { request, uses: features.uses };
}

function noteUntranslatable(body: ReadonlyJsonObject, features: FeatureUses): void {
  if ((numberOrUndefined(body['n']) ?? 1) > 1) features.note('several_answers', 'n');
  for (const name of ['logprobs', 'top_logprobs']) {
    if (body[name]) features.note('logprobs', name);
  }
  if (isObject(body['logit_bias']) && Object.keys(body['logit_bias']).length > 0) {
    features.note('other', 'logit_bias');
  }
  if (body['function_call'] || listOrEmpty(body['functions']).length > 0) {
    features.note('legacy_functions', body['function_call'] ? 'function_call' : 'functions');
  }
}

/**
 * Reads `verbosity` of chat completions or `text.verbosity` of responses. Throws WeirError (400) if
 * the value is not a word of OpenAI's type.
 */
export function readVerbosity(
  value: unknown,
  param: string,
  features: FeatureUses,
): Verbosity | undefined {
  if (value === null || value === undefined) return undefined;
  const known = VERBOSITIES.find((word) => word === value);
  if (known === undefined) throw parameterError(param, `must be one of ${VERBOSITIES.join(', ')}.`);
  if (known !== 'medium') features.note('verbosity', param);
  return known;
}

/**
 * Reads `reasoning_effort` of chat completions or `reasoning.effort` of responses. Throws WeirError
 * (400) if the value is not a word of OpenAI's `ReasoningEffort`.
 */
export function readEffort(
  value: unknown,
  param: string,
  features: FeatureUses,
): Reasoning | undefined {
  if (value === null || value === undefined) return undefined;
  if (value === 'none') {
    features.note('reasoning_off', param);
    return { off: true };
  }
  const effort = EFFORTS.find((each) => each === value);
  if (!effort) throw parameterError(param, `must be none, ${EFFORTS.join(', ')}.`);
  features.note('reasoning_effort', param);
  return { effort };
}

function readTool(value: unknown, param: string, features: FeatureUses): Tool[] {
  const tool = requireObject(value, param);
  if (tool['type'] !== 'function') {
    features.note('other_tools', `${param}.type`);
    return [];
  }
  features.note('tools', param);
  features.noteOthers(tool, KNOWN_TOOL, `${param}.`);
  return [
    readFunction(
      requireObject(tool['function'], `${param}.function`),
      `${param}.function`,
      features,
    ),
  ];
}

/**
 * Reads the definition of a function tool. In chat completions, `definition` is the tool's member
 * `function`. In responses, `definition` is the tool itself.
 */
export function readFunction(
  definition: ReadonlyJsonObject,
  param: string,
  features: FeatureUses,
): Tool {
  features.noteOthers(definition, KNOWN_FUNCTION, `${param}.`);
  if (definition['strict'] === true) features.note('strict_tools', `${param}.strict`);
  return withoutUndefined({
    name: requireText(definition['name'], `${param}.name`),
    description:
      typeof definition['description'] === 'string' ? definition['description'] : undefined,
    parameters: definition['parameters'] ?? { type: 'object', properties: {} },
    strict: definition['strict'] === true ? true : undefined,
  });
}

function readChoice(value: unknown, features: FeatureUses): ToolChoice | undefined {
  if (value === null || value === undefined) return undefined;
  if (value === 'required') {
    features.note('forced_tool', 'tool_choice');
    return { type: 'any' };
  }
  if (value === 'auto' || value === 'none') return { type: value };
  const choice = requireObject(value, 'tool_choice');
  if (choice['type'] !== 'function') {
    features.note('other', 'tool_choice');
    return undefined;
  }
  features.note('forced_tool', 'tool_choice');
  const calledFunction = requireObject(choice['function'], 'tool_choice.function');
  return { type: 'tool', name: requireText(calledFunction['name'], 'tool_choice.function.name') };
}

function readFormat(value: unknown, features: FeatureUses): Format | undefined {
  if (!isObject(value) || value['type'] === 'text') return undefined;
  const { type, json_schema } = value;
  return type === 'json_object'
    ? readNamedFormat({ type }, 'response_format', features)
    : readNamedFormat(
        { ...requireObject(json_schema, 'response_format.json_schema'), type },
        'response_format.json_schema',
        features,
      );
}

/**
 * Reads the requested format of an answer. In chat completions, `format` has the members of
 * `json_schema`. In responses, `format` is `text.format`.
 */
export function readNamedFormat(
  format: ReadonlyJsonObject,
  param: string,
  features: FeatureUses,
): Format | undefined {
  if (format['type'] === 'text') return undefined;
  if (format['type'] === 'json_object') {
    features.note('json_mode', param);
    return { type: 'json' };
  }
  features.note('json_schema', param);
  features.noteOthers(format, KNOWN_FORMAT, `${param}.`);
  const { description } = format;
  return withoutUndefined({
    type: 'schema' as const,
    name: requireText(format['name'], `${param}.name`),
    description: typeof description === 'string' ? description : undefined,
    schema: format['schema'] ?? {},
    strict: format['strict'] === true ? true : undefined,
  });
}

function readMessages(
  messages: readonly unknown[],
  features: FeatureUses,
): Pick<NeutralRequest, 'system' | 'turns'> {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const [at, value] of messages.entries()) {
    const param = `messages[${at}]`;
    const message = requireObject(value, param);
    const role = message['role'];
    if (role === 'system' || role === 'developer') {
      const texts = readTexts(message['content'], `${param}.content`);
      features.note(turns.length === 0 ? 'system' : 'system_between', param);
      if (turns.length === 0) system.push(texts.map(({ text }) => text).join('\n'));
      else turns.push({ role: 'system', parts: texts });
    } else if (role === 'assistant') {
      turns.push({ role, parts: readAssistant(message, param, features) });
    } else if (role === 'tool') {
      addToUser(turns, [readResult(message, param)]);
    } else if (role === 'user') {
      addToUser(turns, readUser(message['content'], `${param}.content`, features));
    } else {
      features.note('legacy_functions', `${param}.role`);
    }
  }
  return { system, turns };
}

/**
 * Adds parts to the last turn if it is a user turn; otherwise starts a user turn. So tool results
 * and the text after them are one turn.
 */
export function addToUser(turns: Turn[], parts: readonly UserPart[]): void {
  const last = turns.at(-1);
  if (last?.role === 'user')
    turns[turns.length - 1] = { role: 'user', parts: [...last.parts, ...parts] };
  else turns.push({ role: 'user', parts });
}

/** Reads content that may contain only text: a string, or a list of text parts. */
export function readTexts(content: unknown, param: string): TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOrEmpty(content).map((value, at) => {
    const part = requireObject(value, `${param}[${at}]`);
    return { type: 'text', text: requireText(part['text'], `${param}[${at}].text`) };
  });
}

function readUser(content: unknown, param: string, features: FeatureUses): UserPart[] {
  if (typeof content === 'string') return readTexts(content, param) as UserPart[];
  return listOrEmpty(content).flatMap((value, at) => {
    const here = `${param}[${at}]`;
    const part = requireObject(value, here);
    switch (part['type']) {
      case 'text':
        return [{ type: 'text', text: requireText(part['text'], `${here}.text`) } as const];
      case 'image_url': {
        const image = requireObject(part['image_url'], `${here}.image_url`);
        const url = requireText(image['url'], `${here}.image_url.url`);
        return [readImageUrl(url, here, features, image['detail'])];
      }
      case 'input_audio': {
        const audio = requireObject(part['input_audio'], `${here}.input_audio`);
        const sent = requireText(audio['format'], `${here}.input_audio.format`);
        const media_type = mediaType(`audio/${sent}`);
        const format = media_type.slice('audio/'.length);
        features.note('audio_input', here, media_type);
        const data = requireText(audio['data'], `${here}.input_audio.data`);
        return [{ type: 'audio', format, data } as const];
      }
      case 'file':
        return readFile(requireObject(part['file'], `${here}.file`), `${here}.file`, features);
      default:
        throw parameterError(`${here}.type`, 'must be text, image_url, input_audio or file.');
    }
  });
}

/**
 * Reads a file part of chat completions or responses: an inline file (a `data:` URL), or a URL. A file
 * id cannot be translated, because only the provider that stores the file knows the id.
 */
export function readFile(
  file: ReadonlyJsonObject,
  param: string,
  features: FeatureUses,
): UserPart[] {
  const { filename, file_data: data, file_url: url } = file;
  const name = typeof filename === 'string' ? { name: filename } : {};
  if (typeof url === 'string') {
    return [{ type: 'file', ...byUrl('file_url', url, param, features), ...name }];
  }
  const inline = typeof data === 'string' ? readDataUrl(data) : undefined;
  if (!inline) {
    features.note('file_reference', param);
    return [];
  }
  features.note('file_inline', param, inline.media_type);
  return [{ type: 'file', ...inline, ...name }];
}

function readResult(message: ReadonlyJsonObject, param: string): UserPart {
  return {
    type: 'result',
    call_id: requireText(message['tool_call_id'], `${param}.tool_call_id`),
    parts: readTexts(message['content'], `${param}.content`),
    is_error: false,
  };
}

function readAssistant(
  message: ReadonlyJsonObject,
  param: string,
  features: FeatureUses,
): AssistantPart[] {
  if (message['audio']) features.note('other', `${param}.audio`);
  if (message['function_call']) features.note('legacy_functions', `${param}.function_call`);
  const parts: AssistantPart[] = [];
  const { content } = message;
  if (typeof content === 'string') parts.push(...readTexts(content, param));
  for (const [at, value] of listOrEmpty(typeof content === 'string' ? [] : content).entries()) {
    const here = `${param}.content[${at}]`;
    const part = requireObject(value, here);
    const text = requireText(part['text'] ?? part['refusal'], here);
    parts.push({ type: part['type'] === 'refusal' ? 'refusal' : 'text', text });
  }
  if (typeof message['refusal'] === 'string') {
    parts.push({ type: 'refusal', text: message['refusal'] });
  }
  for (const [at, value] of listOrEmpty(message['tool_calls']).entries()) {
    const here = `${param}.tool_calls[${at}]`;
    const call = requireObject(value, here);
    if (call['type'] !== undefined && call['type'] !== 'function') {
      features.note('other_tools', `${here}.type`);
      continue;
    }
    const calledFunction = requireObject(call['function'], `${here}.function`);
    parts.push(...readExtraContent(call), {
      type: 'call',
      id: requireText(call['id'], `${here}.id`),
      name: requireText(calledFunction['name'], `${here}.function.name`),
      arguments: readArguments(calledFunction['arguments'], `${here}.function.arguments`, features),
    });
  }
  return parts;
}
