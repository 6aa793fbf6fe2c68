/** Reads requests of Gemini's generateContent (Gemini API docs: generateContent). */
import { withoutUndefined } from '../../json/object.ts';
import { addToUser } from './chat-request.ts';
import { camelCaseMembers, lowerTypes, readFormat } from './gemini-format.ts';
import { mediaType, typeOfUrl } from './media.ts';
import type {
  AssistantPart,
  NeutralRequest,
  ReadRequest,
  Reasoning,
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

const KNOWN = new Set(
  'contents systemInstruction tools toolConfig generationConfig cachedContent model stream'.split(
    ' ',
  ),
);
const KNOWN_CONFIG = new Set(
  (
    'maxOutputTokens temperature topP topK seed stopSequences presencePenalty frequencyPenalty ' +
    'candidateCount responseMimeType responseSchema responseJsonSchema thinkingConfig ' +
    'responseLogprobs logprobs'
  ).split(' '),
);
const KNOWN_THINKING = new Set(['thinkingBudget', 'thinkingLevel']);
const KNOWN_CALLING = new Set(['mode', 'allowedFunctionNames']);
const KNOWN_FUNCTION = new Set(['name', 'description', 'parameters', 'parametersJsonSchema']);

/** Reads a request. Throws WeirError (400) if a part of the body has the wrong form. */
export function readGemini(original: ReadonlyJsonObject): ReadRequest {
  const body = camelCaseMembers(original);
  const features = new FeatureUses('gemini');
  features.noteOthers(body, KNOWN);
  if (body['cachedContent']) features.note('file_reference', 'cachedContent');
  const config = camelCaseMembers(body['generationConfig']);
  const prefix = 'generationConfig.';
  features.noteOthers(config, KNOWN_CONFIG, prefix);
  if ((numberOrUndefined(config['candidateCount']) ?? 1) > 1) {
    features.note('several_answers', `${prefix}candidateCount`);
  }
  if (config['responseLogprobs'] === true) features.note('logprobs', `${prefix}responseLogprobs`);
  if (numberOrUndefined(config['logprobs'])) features.note('logprobs', `${prefix}logprobs`);
  for (const [key, feature] of [
    ['topP', 'top_p'],
    ['topK', 'top_k'],
    ['seed', 'seed'],
  ] as const) {
    if (numberOrUndefined(config[key]) !== undefined) features.note(feature, prefix + key);
  }
  for (const key of ['presencePenalty', 'frequencyPenalty']) {
    if (numberOrUndefined(config[key])) features.note('penalties', prefix + key);
  }
  const temperature = numberOrUndefined(config['temperature']);
  if (temperature !== undefined) {
    features.note(
      temperature > 1 ? 'temperature_above_one' : 'temperature',
      `${prefix}temperature`,
    );
  }
  const stop = listOrEmpty(config['stopSequences']).map((each) => String(each));
  if (stop.length > 0) features.note('stop', `${prefix}stopSequences`);
  const instruction = camelCaseMembers(body['systemInstruction']);
  const system = textsIn(instruction['parts'], 'systemInstruction.parts');
  if (system.length > 0) features.note('system', 'systemInstruction');
  const request: NeutralRequest = withoutUndefined({
    system,
    turns: readContents(listOrEmpty(body['contents']), features),
    tools: listOrEmpty(body['tools']).flatMap((tool, at) =>
      readTools(tool, `tools[${at}]`, features),
    ),
    tool_choice: readChoice(body['toolConfig'], features),
    max_output_tokens: numberOrUndefined(config['maxOutputTokens']),
    temperature,
    top_p: numberOrUndefined(config['topP']),
    top_k: numberOrUndefined(config['topK']),
    seed: numberOrUndefined(config['seed']),
    presence_penalty: numberOrUndefined(config['presencePenalty']) || undefined,
    frequency_penalty: numberOrUndefined(config['frequencyPenalty']) || undefined,
    stop,
    format: readFormat(config, features),
    reasoning: readThinking(config['thinkingConfig'], features),
    stream: body['stream'] === true,
  });
  return { request, uses: features.uses };
}

function textsIn(parts: unknown, param: string): string[] {
  return listOrEmpty(parts).map((part, at) =>
    requireText(camelCaseMembers(part)['text'], `${param}[${at}].text`),
  );
}

function readContents(contents: readonly unknown[], features: FeatureUses): Turn[] {
  const turns: Turn[] = [];
  // The tool calls without a result, oldest first. If a result has no id, it belongs to the first
  // of these calls with the same function name.
  const openCalls: { id: string; name: string }[] = [];
  for (const [at, value] of contents.entries()) {
    const param = `contents[${at}]`;
    const content = requireObject(value, param);
    const parts = listOrEmpty(content['parts']);
    if (content['role'] !== 'model') {
      const read = parts.flatMap((part, index) =>
        readUserPart(camelCaseMembers(part), `${param}.parts[${index}]`, openCalls, features),
      );
      if (read.length > 0) addToUser(turns, read);
      continue;
    }
    const read = parts.flatMap((part, index) =>
      readModelPart(
        camelCaseMembers(part),
        `${param}.parts[${index}]`,
        `call_${at}_${index}`,
        features,
      ),
    );
    for (const part of read) if (part.type === 'call') openCalls.push(part);
    addToAssistant(turns, read);
  }
  if (turns.at(-1)?.role === 'assistant') features.note('prefill', 'contents');
  // An empty question stays a question: without a turn, the upstream would name the wrong mistake.
  return turns.length > 0 ? turns : [{ role: 'user', parts: [{ type: 'text', text: '' }] }];
}

/**
 * Adds parts to the last turn if it is the model's; otherwise starts a turn of the model. Google's
 * SDKs send each chunk of a streamed answer back as a turn of its own. Other protocols require one
 * turn, because the results of its calls must follow directly. Nothing is added without parts.
 */
function addToAssistant(turns: Turn[], parts: readonly AssistantPart[]): void {
  const last = turns.at(-1);
  const joined = last?.role === 'assistant' ? [...last.parts] : [];
  for (const part of parts) {
    const before = joined.at(-1);
    if (part.type === 'text' && before?.type === 'text') {
      joined[joined.length - 1] = { type: 'text', text: before.text + part.text };
    } else joined.push(part);
  }
  if (parts.length === 0) return;
  if (last?.role === 'assistant') turns.pop();
  turns.push({ role: 'assistant', parts: joined });
}

/** True for a part without content: `{}` or an empty text. Google's SDKs keep such parts. */
function isEmpty(part: ReadonlyJsonObject): boolean {
  const names = Object.keys(part).filter((name) => part[name] !== null);
  return names.every((name) => name === 'thought' || (name === 'text' && part['text'] === ''));
}

function readUserPart(
  part: ReadonlyJsonObject,
  param: string,
  openCalls: { id: string; name: string }[],
  features: FeatureUses,
): UserPart[] {
  if (isEmpty(part)) return [];
  if (typeof part['text'] === 'string') return [{ type: 'text', text: part['text'] }];
  if (part['inlineData'])
    return [readInline(camelCaseMembers(part['inlineData']), param, features)];
  if (part['functionResponse']) {
    const response = camelCaseMembers(part['functionResponse']);
    const name = requireText(response['name'], `${param}.functionResponse.name`);
    const at = openCalls.findIndex((call) => call.id === response['id'] || call.name === name);
    const [call] = at < 0 ? [] : openCalls.splice(at, 1);
    const text = JSON.stringify(response['response'] ?? {});
    const call_id = String(response['id'] ?? call?.id ?? name);
    return [{ type: 'result', call_id, parts: [{ type: 'text', text }], is_error: false }];
  }
  if (part['fileData']) return readFileData(camelCaseMembers(part['fileData']), param, features);
  features.note('other', param);
  return [];
}

/** URIs that only Google resolves: its own stores of files, and videos. */
const OF_GOOGLE =
  /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:www\.)?youtube\.com\/|youtu\.be\/)/;

function readFileData(data: ReadonlyJsonObject, param: string, features: FeatureUses): UserPart[] {
  const url = requireText(data['fileUri'], `${param}.fileData.fileUri`);
  const sent = data['mimeType'];
  const media_type = typeof sent === 'string' ? mediaType(sent) : typeOfUrl(url);
  const [group] = media_type?.split('/') ?? [];
  if (!/^https?:/.test(url) || OF_GOOGLE.test(url) || group === 'video' || group === 'audio') {
    features.note('file_reference', param);
    return [];
  }
  return group === 'image'
    ? [{ type: 'image', ...byUrl('image_url', url, param, features, media_type) }]
    : [{ type: 'file', ...byUrl('file_url', url, param, features, media_type) }];
}

function readInline(data: ReadonlyJsonObject, param: string, features: FeatureUses): UserPart {
  const media_type = mediaType(requireText(data['mimeType'], `${param}.inlineData.mimeType`));
  // Python's SDK sends the URL-safe alphabet, which only Google reads (RFC 4648, section 5).
  const bytes = requireText(data['data'], `${param}.inlineData.data`)
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  if (media_type.startsWith('image/')) {
    features.note('image_inline', param, media_type);
    return { type: 'image', media_type, data: bytes };
  }
  if (media_type.startsWith('audio/')) {
    features.note('audio_input', param, media_type);
    return { type: 'audio', format: media_type.slice('audio/'.length), data: bytes };
  }
  features.note('file_inline', param, media_type);
  return { type: 'file', media_type, data: bytes };
}

function readModelPart(
  part: ReadonlyJsonObject,
  param: string,
  id: string,
  features: FeatureUses,
): AssistantPart[] {
  if (isEmpty(part)) return [];
  const call = part['functionCall'];
  if (call) {
    const calledFunction = camelCaseMembers(call);
    const name = requireText(calledFunction['name'], `${param}.functionCall.name`);
    const text = JSON.stringify(calledFunction['args'] ?? {});
    return [{ type: 'call', id: String(calledFunction['id'] ?? id), name, arguments: text }];
  }
  if (typeof part['text'] === 'string') {
    return part['thought'] === true ? [] : [{ type: 'text', text: part['text'] }];
  }
  features.note('other', param);
  return [];
}

function readTools(value: unknown, param: string, features: FeatureUses): Tool[] {
  const tool = camelCaseMembers(value);
  for (const key of Object.keys(tool)) {
    if (key !== 'functionDeclarations') features.note('other_tools', `${param}.${key}`);
  }
  return listOrEmpty(tool['functionDeclarations']).map((each, at) => {
    features.note('tools', param);
    const declared = camelCaseMembers(each);
    const { description } = declared;
    features.noteOthers(declared, KNOWN_FUNCTION, `${param}.functionDeclarations[${at}].`);
    return withoutUndefined({
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

function readChoice(value: unknown, features: FeatureUses): ToolChoice | undefined {
  const config = camelCaseMembers(value);
  features.noteOthers(config, new Set(['functionCallingConfig']), 'toolConfig.');
  const calling = camelCaseMembers(config['functionCallingConfig']);
  const param = 'toolConfig.functionCallingConfig';
  features.noteOthers(calling, KNOWN_CALLING, `${param}.`);
  const names = listOrEmpty(calling['allowedFunctionNames']);
  // Other protocols force one function or all of them, not some of them.
  if (names.length > 1) features.note('other', `${param}.allowedFunctionNames`);
  switch (String(calling['mode'] ?? 'MODE_UNSPECIFIED').toUpperCase()) {
    case 'NONE':
      return { type: 'none' };
    case 'ANY':
      features.note('forced_tool', param);
      return names.length === 1 ? { type: 'tool', name: String(names[0]) } : { type: 'any' };
    case 'AUTO':
    // The model has the schemas of the functions. Strict schemas of other vendors take fewer shapes.
    case 'VALIDATED':
      return { type: 'auto' };
    case 'MODE_UNSPECIFIED':
      return undefined;
    default:
      features.note('other', `${param}.mode`);
      return undefined;
  }
}

function readThinking(value: unknown, features: FeatureUses): Reasoning | undefined {
  const config = camelCaseMembers(value);
  const param = 'generationConfig.thinkingConfig';
  features.noteOthers(config, KNOWN_THINKING, `${param}.`);
  const budget = budgetOf(config['thinkingBudget']);
  if (budget === 0) {
    features.note('reasoning_off', param);
    return { off: true };
  }
  if (budget !== undefined && budget > 0) {
    features.note('reasoning_budget', param);
    return { budget_tokens: budget };
  }
  const level = String(config['thinkingLevel'] ?? '').toLowerCase();
  if (level === '' || level === 'thinking_level_unspecified') return undefined;
  if (level !== 'low' && level !== 'medium' && level !== 'high' && level !== 'minimal') {
    throw parameterError(`${param}.thinkingLevel`, 'must be minimal, low, medium or high.');
  }
  features.note('reasoning_effort', param);
  return { effort: level };
}

/**
 * Returns the token budget of thoughts; undefined if the model decides, which is what -1 means.
 * Google's JSON writes integers as numbers or as text. Throws WeirError (400) for anything else.
 */
function budgetOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const budget = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (Number.isInteger(budget) && Number(budget) >= -1) {
    return Number(budget) === -1 ? undefined : Number(budget);
  }
  throw parameterError(
    'generationConfig.thinkingConfig.thinkingBudget',
    'must be a number of tokens, or -1.',
  );
}
