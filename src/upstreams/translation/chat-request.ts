/** OpenAI chat completions as a request (OpenAI docs: Chat Completions; contracts 1.2). */
import { isObject } from '../../json/object.ts';
import type {
  AssistantPart,
  Format,
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
  callArguments,
  dataUrl,
  defined,
  FeatureUses,
  imageAt,
  listOrEmpty,
  numberOrUndefined,
  type ReadonlyJsonObject,
  requireObject,
  requireText,
  wrong,
} from './reading.ts';

/** Read below, or without any effect on the answer. */
const KNOWN = new Set(
  (
    'model messages stream stream_options user metadata store service_tier cache_control ' +
    'prompt_cache_key prompt_cache_retention safety_identifier tools tool_choice ' +
    'parallel_tool_calls max_tokens max_completion_tokens temperature top_p seed stop ' +
    'presence_penalty frequency_penalty response_format reasoning_effort n logprobs ' +
    'top_logprobs logit_bias functions function_call modalities'
  ).split(' '),
);
const EFFORTS = ['minimal', 'low', 'medium', 'high'] as const;

export function readChat(body: ReadonlyJsonObject): ReadRequest {
  const needs = new FeatureUses();
  needs.noteOthers(body, KNOWN);
  noteUntranslatable(body, needs);
  const { system, turns } = readMessages(listOrEmpty(body['messages']), needs);
  if (turns.at(-1)?.role === 'assistant') needs.note('prefill', 'messages');
  const stop = body['stop'];
  const stops = typeof stop === 'string' ? [stop] : listOrEmpty(stop).map((each) => String(each));
  if (stops.length > 0) needs.note('stop', 'stop');
  for (const name of ['presence_penalty', 'frequency_penalty']) {
    if (numberOrUndefined(body[name])) needs.note('penalties', name);
  }
  const temperature = numberOrUndefined(body['temperature']);
  if (temperature !== undefined) {
    needs.note(temperature > 1 ? 'temperature_above_one' : 'temperature', 'temperature');
  }
  for (const name of ['top_p', 'seed'] as const) {
    if (numberOrUndefined(body[name]) !== undefined) needs.note(name, name);
  }
  if (body['parallel_tool_calls'] === false) needs.note('serial_calls', 'parallel_tool_calls');
  const request: NeutralRequest = defined({
    system,
    turns,
    tools: listOrEmpty(body['tools']).flatMap((tool, at) => readTool(tool, `tools[${at}]`, needs)),
    tool_choice: readChoice(body['tool_choice'], needs),
    parallel_calls: body['parallel_tool_calls'] === false ? false : undefined,
    max_output_tokens:
      numberOrUndefined(body['max_completion_tokens']) ?? numberOrUndefined(body['max_tokens']),
    temperature,
    top_p: numberOrUndefined(body['top_p']),
    seed: numberOrUndefined(body['seed']),
    presence_penalty: numberOrUndefined(body['presence_penalty']) || undefined,
    frequency_penalty: numberOrUndefined(body['frequency_penalty']) || undefined,
    stop: stops,
    format: readFormat(body['response_format'], needs),
    reasoning: readEffort(body['reasoning_effort'], 'reasoning_effort', needs),
    stream: body['stream'] === true,
    user: typeof body['user'] === 'string' ? body['user'] : undefined,
  });
  return { request, uses: needs.uses };
}

function noteUntranslatable(body: ReadonlyJsonObject, needs: FeatureUses): void {
  if ((numberOrUndefined(body['n']) ?? 1) > 1) needs.note('several_answers', 'n');
  for (const name of ['logprobs', 'top_logprobs']) {
    if (body[name]) needs.note('logprobs', name);
  }
  if (isObject(body['logit_bias']) && Object.keys(body['logit_bias']).length > 0) {
    needs.note('other', 'logit_bias');
  }
  for (const name of ['functions', 'function_call']) {
    if (body[name]) needs.note('legacy_functions', name);
  }
  if (listOrEmpty(body['modalities']).some((each) => each !== 'text'))
    needs.note('other', 'modalities');
}

/** Effort in words, as chat and responses say it. */
export function readEffort(
  value: unknown,
  param: string,
  needs: FeatureUses,
): Reasoning | undefined {
  if (value === null || value === undefined) return undefined;
  if (value === 'none') {
    needs.note('reasoning_off', param);
    return { off: true };
  }
  needs.note('reasoning_effort', param);
  return { effort: EFFORTS.find((each) => each === value) ?? 'high' };
}

function readTool(value: unknown, param: string, needs: FeatureUses): Tool[] {
  const tool = requireObject(value, param);
  if (tool['type'] !== 'function') {
    needs.note('other_tools', `${param}.type`);
    return [];
  }
  needs.note('tools', param);
  return [
    readFunction(requireObject(tool['function'], `${param}.function`), `${param}.function`, needs),
  ];
}

/** A function as chat (`function`) and responses (flat) describe it. */
export function readFunction(said: ReadonlyJsonObject, param: string, needs: FeatureUses): Tool {
  if (said['strict'] === true) needs.note('strict_tools', `${param}.strict`);
  return defined({
    name: requireText(said['name'], `${param}.name`),
    description: typeof said['description'] === 'string' ? said['description'] : undefined,
    parameters: said['parameters'] ?? { type: 'object', properties: {} },
    strict: said['strict'] === true ? true : undefined,
  });
}

function readChoice(value: unknown, needs: FeatureUses): ToolChoice | undefined {
  if (value === null || value === undefined) return undefined;
  if (value === 'required') {
    needs.note('forced_tool', 'tool_choice');
    return { type: 'any' };
  }
  if (value === 'auto' || value === 'none') return { type: value };
  const choice = requireObject(value, 'tool_choice');
  if (choice['type'] !== 'function') {
    needs.note('other', 'tool_choice');
    return undefined;
  }
  needs.note('forced_tool', 'tool_choice');
  const called = requireObject(choice['function'], 'tool_choice.function');
  return { type: 'tool', name: requireText(called['name'], 'tool_choice.function.name') };
}

function readFormat(value: unknown, needs: FeatureUses): Format | undefined {
  if (!isObject(value) || value['type'] === 'text') return undefined;
  const { type, json_schema } = value;
  return type === 'json_object'
    ? readNamedFormat({ type }, 'response_format', needs)
    : readNamedFormat(
        { ...requireObject(json_schema, 'response_format.json_schema'), type },
        'response_format.json_schema',
        needs,
      );
}

/** A format as responses say it, flat; chat has the same inside `json_schema`. */
export function readNamedFormat(
  said: ReadonlyJsonObject,
  param: string,
  needs: FeatureUses,
): Format | undefined {
  if (said['type'] === 'text') return undefined;
  if (said['type'] === 'json_object') {
    needs.note('json_mode', param);
    return { type: 'json' };
  }
  needs.note('json_schema', param);
  return defined({
    type: 'schema' as const,
    name: requireText(said['name'], `${param}.name`),
    schema: said['schema'] ?? {},
    strict: said['strict'] === true ? true : undefined,
  });
}

function readMessages(
  messages: readonly unknown[],
  needs: FeatureUses,
): Pick<NeutralRequest, 'system' | 'turns'> {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const [at, value] of messages.entries()) {
    const param = `messages[${at}]`;
    const message = requireObject(value, param);
    const role = message['role'];
    if (role === 'system' || role === 'developer') {
      const texts = readTexts(message['content'], `${param}.content`);
      needs.note(turns.length === 0 ? 'system' : 'system_between', param);
      if (turns.length === 0) system.push(texts.map(({ text }) => text).join('\n'));
      else turns.push({ role: 'system', parts: texts });
    } else if (role === 'assistant') {
      turns.push({ role, parts: readAssistant(message, param, needs) });
    } else if (role === 'tool') {
      addToUser(turns, [readResult(message, param)]);
    } else if (role === 'user') {
      addToUser(turns, readUser(message['content'], `${param}.content`, needs));
    } else {
      needs.note('legacy_functions', `${param}.role`);
    }
  }
  return { system, turns };
}

/** Results of tools and the words after them are one turn of the user. */
export function addToUser(turns: Turn[], parts: readonly UserPart[]): void {
  const last = turns.at(-1);
  if (last?.role === 'user')
    turns[turns.length - 1] = { role: 'user', parts: [...last.parts, ...parts] };
  else turns.push({ role: 'user', parts });
}

export function readTexts(content: unknown, param: string): TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return listOrEmpty(content).map((value, at) => {
    const part = requireObject(value, `${param}[${at}]`);
    return { type: 'text', text: requireText(part['text'], `${param}[${at}].text`) };
  });
}

function readUser(content: unknown, param: string, needs: FeatureUses): UserPart[] {
  if (typeof content === 'string') return readTexts(content, param) as UserPart[];
  return listOrEmpty(content).flatMap((value, at) => {
    const here = `${param}[${at}]`;
    const part = requireObject(value, here);
    switch (part['type']) {
      case 'text':
        return [{ type: 'text', text: requireText(part['text'], `${here}.text`) } as const];
      case 'image_url': {
        const image = requireObject(part['image_url'], `${here}.image_url`);
        return [imageAt(requireText(image['url'], `${here}.image_url.url`), here, needs)];
      }
      case 'input_audio': {
        needs.note('audio_input', here);
        const audio = requireObject(part['input_audio'], `${here}.input_audio`);
        const format = requireText(audio['format'], `${here}.input_audio.format`);
        const data = requireText(audio['data'], `${here}.input_audio.data`);
        return [{ type: 'audio', format, data } as const];
      }
      case 'file':
        return readFile(requireObject(part['file'], `${here}.file`), `${here}.file`, needs);
      default:
        throw wrong(`${here}.type`, 'must be text, image_url, input_audio or file.');
    }
  });
}

/** A file as chat and responses have it: a `data:` URL, or a reference that only its vendor knows. */
export function readFile(file: ReadonlyJsonObject, param: string, needs: FeatureUses): UserPart[] {
  const data = file['file_data'];
  const inline = typeof data === 'string' ? dataUrl(data) : undefined;
  if (!inline) {
    needs.note('file_reference', param);
    return [];
  }
  needs.note('file_inline', param);
  const name = file['filename'];
  return [{ type: 'file', ...inline, ...(typeof name === 'string' ? { name } : {}) }];
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
  needs: FeatureUses,
): AssistantPart[] {
  if (message['audio']) needs.note('other', `${param}.audio`);
  if (message['function_call']) needs.note('legacy_functions', `${param}.function_call`);
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
      needs.note('other_tools', `${here}.type`);
      continue;
    }
    const called = requireObject(call['function'], `${here}.function`);
    parts.push({
      type: 'call',
      id: requireText(call['id'], `${here}.id`),
      name: requireText(called['name'], `${here}.function.name`),
      arguments: callArguments(called['arguments'], `${here}.function.arguments`, needs),
    });
  }
  return parts;
}
