/** Gemini's generateContent as a request (Gemini API docs: generateContent). */
import { isObject } from '../../json/object.ts';
import { addToUser } from './chat-request.ts';
import type {
  AssistantPart,
  Format,
  NeutralRequest,
  ReadRequest,
  Reasoning,
  Tool,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';
import {
  defined,
  FeatureUses,
  listOrEmpty,
  numberOrUndefined,
  type ReadonlyJsonObject,
  requireObject,
  requireText,
} from './reading.ts';

const KNOWN = new Set(
  'contents systemInstruction tools toolConfig generationConfig safetySettings labels cachedContent model stream'.split(
    ' ',
  ),
);
const KNOWN_CONFIG = new Set(
  (
    'maxOutputTokens temperature topP topK seed stopSequences presencePenalty frequencyPenalty ' +
    'candidateCount responseMimeType responseSchema responseJsonSchema thinkingConfig ' +
    'responseModalities responseLogprobs logprobs'
  ).split(' '),
);

/** REST takes both spellings of a member; this makes them one. */
const camel = (key: string) =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function member(value: unknown): ReadonlyJsonObject {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [camel(key), each]));
}

export function readGemini(said: ReadonlyJsonObject): ReadRequest {
  const body = member(said);
  const needs = new FeatureUses();
  needs.noteOthers(body, KNOWN);
  if (body['cachedContent']) needs.note('file_reference', 'cachedContent');
  const config = member(body['generationConfig']);
  const prefix = 'generationConfig.';
  needs.noteOthers(config, KNOWN_CONFIG, prefix);
  if ((numberOrUndefined(config['candidateCount']) ?? 1) > 1) {
    needs.note('several_answers', `${prefix}candidateCount`);
  }
  if (config['responseLogprobs'] === true) needs.note('logprobs', `${prefix}responseLogprobs`);
  if (
    listOrEmpty(config['responseModalities']).some((each) => String(each).toUpperCase() !== 'TEXT')
  ) {
    needs.note('other', `${prefix}responseModalities`);
  }
  for (const [key, feature] of [
    ['topP', 'top_p'],
    ['topK', 'top_k'],
    ['seed', 'seed'],
  ] as const) {
    if (numberOrUndefined(config[key]) !== undefined) needs.note(feature, prefix + key);
  }
  for (const key of ['presencePenalty', 'frequencyPenalty']) {
    if (numberOrUndefined(config[key])) needs.note('penalties', prefix + key);
  }
  const temperature = numberOrUndefined(config['temperature']);
  if (temperature !== undefined) {
    needs.note(temperature > 1 ? 'temperature_above_one' : 'temperature', `${prefix}temperature`);
  }
  const stop = listOrEmpty(config['stopSequences']).map((each) => String(each));
  if (stop.length > 0) needs.note('stop', `${prefix}stopSequences`);
  const instruction = member(body['systemInstruction']);
  const system = textsIn(instruction['parts'], 'systemInstruction.parts');
  if (system.length > 0) needs.note('system', 'systemInstruction');
  const request: NeutralRequest = defined({
    system,
    turns: readContents(listOrEmpty(body['contents']), needs),
    tools: listOrEmpty(body['tools']).flatMap((tool, at) => readTools(tool, `tools[${at}]`, needs)),
    tool_choice: readChoice(body['toolConfig'], needs),
    max_output_tokens: numberOrUndefined(config['maxOutputTokens']),
    temperature,
    top_p: numberOrUndefined(config['topP']),
    top_k: numberOrUndefined(config['topK']),
    seed: numberOrUndefined(config['seed']),
    presence_penalty: numberOrUndefined(config['presencePenalty']) || undefined,
    frequency_penalty: numberOrUndefined(config['frequencyPenalty']) || undefined,
    stop,
    format: readFormat(config, needs),
    reasoning: readThinking(config['thinkingConfig'], needs),
    stream: body['stream'] === true,
  });
  return { request, uses: needs.uses };
}

function textsIn(parts: unknown, param: string): string[] {
  return listOrEmpty(parts).map((part, at) =>
    requireText(member(part)['text'], `${param}[${at}].text`),
  );
}

function readContents(contents: readonly unknown[], needs: FeatureUses): Turn[] {
  const turns: Turn[] = [];
  // Calls without ids are answered by name and in order.
  const waiting: { id: string; name: string }[] = [];
  for (const [at, value] of contents.entries()) {
    const param = `contents[${at}]`;
    const content = requireObject(value, param);
    const parts = listOrEmpty(content['parts']);
    if (content['role'] !== 'model') {
      const read = parts.flatMap((part, index) =>
        readUserPart(member(part), `${param}.parts[${index}]`, waiting, needs),
      );
      addToUser(turns, read);
      continue;
    }
    const read = parts.flatMap((part, index) =>
      readModelPart(member(part), `${param}.parts[${index}]`, `call_${at}_${index}`, needs),
    );
    for (const part of read) if (part.type === 'call') waiting.push(part);
    turns.push({ role: 'assistant', parts: read });
  }
  if (turns.at(-1)?.role === 'assistant') needs.note('prefill', 'contents');
  return turns;
}

function readUserPart(
  part: ReadonlyJsonObject,
  param: string,
  waiting: { id: string; name: string }[],
  needs: FeatureUses,
): UserPart[] {
  if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }];
  if (part['inlineData']) return [readInline(member(part['inlineData']), param, needs)];
  if (part['functionResponse']) {
    const said = member(part['functionResponse']);
    const name = requireText(said['name'], `${param}.functionResponse.name`);
    const at = waiting.findIndex((call) => call.id === said['id'] || call.name === name);
    const [call] = at < 0 ? [] : waiting.splice(at, 1);
    const text = JSON.stringify(said['response'] ?? {});
    const call_id = String(said['id'] ?? call?.id ?? name);
    return [{ type: 'result', call_id, parts: [{ type: 'text', text }], is_error: false }];
  }
  needs.note(part['fileData'] ? 'file_reference' : 'other', param);
  return [];
}

function readInline(data: ReadonlyJsonObject, param: string, needs: FeatureUses): UserPart {
  const media_type = requireText(data['mimeType'], `${param}.inlineData.mimeType`);
  const bytes = requireText(data['data'], `${param}.inlineData.data`);
  if (media_type.startsWith('image/')) {
    needs.note('image_inline', param);
    return { type: 'image', media_type, data: bytes };
  }
  if (media_type.startsWith('audio/')) {
    needs.note('audio_input', param);
    return { type: 'audio', format: media_type.slice('audio/'.length), data: bytes };
  }
  needs.note('file_inline', param);
  return { type: 'file', media_type, data: bytes };
}

function readModelPart(
  part: ReadonlyJsonObject,
  param: string,
  id: string,
  needs: FeatureUses,
): AssistantPart[] {
  const call = part['functionCall'];
  if (call) {
    const said = member(call);
    const name = requireText(said['name'], `${param}.functionCall.name`);
    const text = JSON.stringify(said['args'] ?? {});
    return [{ type: 'call', id: String(said['id'] ?? id), name, arguments: text }];
  }
  if (typeof part['text'] === 'string') {
    return part['thought'] === true ? [] : [{ type: 'text', text: part['text'] }];
  }
  needs.note('other', param);
  return [];
}

function readTools(value: unknown, param: string, needs: FeatureUses): Tool[] {
  const tool = member(value);
  for (const key of Object.keys(tool)) {
    if (key !== 'functionDeclarations') needs.note('other_tools', `${param}.${key}`);
  }
  return listOrEmpty(tool['functionDeclarations']).map((each, at) => {
    needs.note('tools', param);
    const declared = member(each);
    const { description } = declared;
    return defined({
      name: requireText(declared['name'], `${param}.functionDeclarations[${at}].name`),
      description: typeof description === 'string' ? description : undefined,
      parameters:
        declared['parametersJsonSchema'] ??
        (declared['parameters']
          ? lowerTypes(declared['parameters'])
          : { type: 'object', properties: {} }),
    });
  });
}

/** The vendor writes types in capitals; JSON Schema does not. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

function readChoice(config: unknown, needs: FeatureUses): ToolChoice | undefined {
  const calling = member(member(config)['functionCallingConfig']);
  const names = listOrEmpty(calling['allowedFunctionNames']);
  switch (String(calling['mode'] ?? '').toUpperCase()) {
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      needs.note('forced_tool', 'toolConfig.functionCallingConfig');
      return names.length === 1 ? { type: 'tool', name: String(names[0]) } : { type: 'any' };
    case 'AUTO':
      return { type: 'auto' };
    default:
      return undefined;
  }
}

function readFormat(config: ReadonlyJsonObject, needs: FeatureUses): Format | undefined {
  const schema = config['responseJsonSchema'] ?? lowerTypes(config['responseSchema']);
  if (schema) {
    needs.note('json_schema', 'generationConfig.responseSchema');
    return { type: 'schema', name: 'answer', schema };
  }
  if (config['responseMimeType'] !== 'application/json') return undefined;
  needs.note('json_mode', 'generationConfig.responseMimeType');
  return { type: 'json' };
}

function readThinking(value: unknown, needs: FeatureUses): Reasoning | undefined {
  const config = member(value);
  const param = 'generationConfig.thinkingConfig';
  const budget = numberOrUndefined(config['thinkingBudget']);
  if (budget === 0) {
    needs.note('reasoning_off', param);
    return { off: true };
  }
  if (budget !== undefined && budget > 0) {
    needs.note('reasoning_budget', param);
    return { budget_tokens: budget };
  }
  const level = String(config['thinkingLevel'] ?? '').toLowerCase();
  if (level !== 'low' && level !== 'medium' && level !== 'high' && level !== 'minimal') {
    return undefined;
  }
  needs.note('reasoning_effort', param);
  return { effort: level };
}
