/** Reads requests of OpenAI responses (OpenAI docs: Responses). */
import { isObject, withoutUndefined } from '../../json/object.ts';
import { signatureOfItem } from '../../protocols/signatures.ts';
import { addToUser, readEffort, readFile, readNamedFormat, readVerbosity } from './chat-request.ts';
import type {
  AssistantPart,
  NeutralRequest,
  ReadRequest,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from './neutral.ts';
import {
  FeatureUses,
  listOrEmpty,
  numberOrUndefined,
  parameterError,
  type ReadonlyJsonObject,
  readArguments,
  readImageUrl,
  requireObject,
  requireText,
} from './reading.ts';
import { customArguments, flatName, readTools } from './responses-tools.ts';

/** Members of the body that this file reads. */
const KNOWN = new Set(
  (
    'model input instructions stream user tools tool_choice parallel_tool_calls include ' +
    'max_output_tokens temperature top_p text reasoning top_logprobs'
  ).split(' '),
);
const KNOWN_TEXT = new Set(['format', 'verbosity']);
const KNOWN_REASONING = new Set(['effort']);
/** The value of `include` that requests log probabilities (OpenAI docs: Responses). */
const INCLUDED_LOGPROBS = 'message.output_text.logprobs';

/** Reads a request. Throws WeirError (400) if a part of the body has the wrong form. */
export function readResponses(body: ReadonlyJsonObject): ReadRequest {
  const features = new FeatureUses('responses');
  features.noteOthers(body, KNOWN);
  if (numberOrUndefined(body['top_logprobs'])) features.note('logprobs', 'top_logprobs');
  if (listOrEmpty(body['include']).includes(INCLUDED_LOGPROBS))
    features.note('logprobs', 'include');
  const { system, turns } = readInput(body['input'], features);
  const { instructions } = body;
  if (typeof instructions === 'string' && instructions !== '') {
    features.note('system', 'instructions');
    system.unshift(instructions);
  }
  const temperature = numberOrUndefined(body['temperature']);
  if (temperature !== undefined) {
    features.note(temperature > 1 ? 'temperature_above_one' : 'temperature', 'temperature');
  }
  if (numberOrUndefined(body['top_p']) !== undefined) features.note('top_p', 'top_p');
  const isSerial = body['parallel_tool_calls'] === false;
  if (isSerial) features.note('serial_calls', 'parallel_tool_calls');
  const text = body['text'];
  const format = isObject(text) ? text['format'] : undefined;
  if (isObject(text)) features.noteOthers(text, KNOWN_TEXT, 'text.');
  const reasoning = body['reasoning'];
  if (isObject(reasoning)) features.noteOthers(reasoning, KNOWN_REASONING, 'reasoning.');
  const request: NeutralRequest = withoutUndefined({
    system,
    turns,
    tools: readTools(body, features),
    tool_choice: readChoice(body['tool_choice'], features),
    parallel_calls: isSerial ? false : undefined,
    max_output_tokens: numberOrUndefined(body['max_output_tokens']),
    temperature,
    top_p: numberOrUndefined(body['top_p']),
    stop: [],
    format: isObject(format) ? readNamedFormat(format, 'text.format', features) : undefined,
    reasoning: readEffort(
      isObject(reasoning) ? reasoning['effort'] : undefined,
      'reasoning.effort',
      features,
    ),
    verbosity: readVerbosity(
      isObject(text) ? text['verbosity'] : undefined,
      'text.verbosity',
      features,
    ),
    stream: body['stream'] === true,
    user: typeof body['user'] === 'string' ? body['user'] : undefined,
  });
  return { request, uses: features.uses };
}

function readInput(input: unknown, features: FeatureUses): { system: string[]; turns: Turn[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  if (typeof input === 'string') {
    addToUser(turns, [{ type: 'text', text: input }]);
    return { system, turns };
  }
  for (const [at, value] of listOrEmpty(input).entries()) {
    const param = `input[${at}]`;
    const item = requireObject(value, param);
    switch (item['type'] ?? 'message') {
      case 'message':
        readMessage(item, param, { system, turns }, features);
        break;
      case 'function_call':
        addToAssistant(turns, {
          type: 'call',
          id: requireText(item['call_id'], `${param}.call_id`),
          name: flatName(item['namespace'], requireText(item['name'], `${param}.name`)),
          arguments: readArguments(item['arguments'], `${param}.arguments`, features),
        });
        break;
      case 'custom_tool_call':
        addToAssistant(turns, {
          type: 'call',
          id: requireText(item['call_id'], `${param}.call_id`),
          name: flatName(item['namespace'], requireText(item['name'], `${param}.name`)),
          arguments: customArguments(requireText(item['input'], `${param}.input`)),
        });
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        addToUser(turns, [readOutput(item, param, features)]);
        break;
      case 'reasoning':
        readReasoning(item, turns);
        break;
      // The answer after the search has what the model found.
      case 'web_search_call':
        break;
      default:
        features.note('other_tools', `${param}.type`);
    }
  }
  return { system, turns };
}

function readMessage(
  item: ReadonlyJsonObject,
  param: string,
  { system, turns }: { system: string[]; turns: Turn[] },
  features: FeatureUses,
): void {
  const content = `${param}.content`;
  switch (item['role']) {
    case 'system':
    case 'developer': {
      const parts = textsOf(item['content'], content);
      features.note(turns.length === 0 ? 'system' : 'system_between', param);
      if (turns.length === 0) system.push(parts.map(({ text }) => text).join('\n'));
      else turns.push({ role: 'system', parts });
      break;
    }
    case 'user':
      addToUser(turns, readUser(item['content'], content, features));
      break;
    case 'assistant':
      for (const part of readAssistant(item['content'], content)) addToAssistant(turns, part);
      break;
    default:
      throw parameterError(`${param}.role`, 'must be user, assistant, system or developer.');
  }
}

/**
 * Adds a part to the last turn if it is an assistant turn; otherwise starts an assistant turn. So
 * consecutive items become one turn.
 */
function addToAssistant(turns: Turn[], part: AssistantPart): void {
  const last = turns.at(-1);
  if (last?.role === 'assistant') {
    turns[turns.length - 1] = { role: 'assistant', parts: [...last.parts, part] };
  } else turns.push({ role: 'assistant', parts: [part] });
}

function textsOf(content: unknown, param: string): TextPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOrEmpty(content).map((value, at) => {
    const part = requireObject(value, `${param}[${at}]`);
    return { type: 'text', text: requireText(part['text'], `${param}[${at}].text`) };
  });
}

function readUser(content: unknown, param: string, features: FeatureUses): UserPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOrEmpty(content).flatMap((value, at): UserPart[] => {
    const here = `${param}[${at}]`;
    const part = requireObject(value, here);
    switch (part['type']) {
      case 'input_text':
      case 'text':
        return [{ type: 'text', text: requireText(part['text'], `${here}.text`) }];
      case 'input_image':
        if (typeof part['image_url'] === 'string')
          return [readImageUrl(part['image_url'], here, features, part['detail'])];
        features.note('file_reference', here);
        return [];
      case 'input_file':
        return readFile(part, here, features);
      default:
        throw parameterError(`${here}.type`, 'must be input_text, input_image or input_file.');
    }
  });
}

function readAssistant(content: unknown, param: string): AssistantPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOrEmpty(content).map((value, at) => {
    const here = `${param}[${at}]`;
    const part = requireObject(value, here);
    return part['type'] === 'refusal'
      ? { type: 'refusal', text: requireText(part['refusal'], `${here}.refusal`) }
      : { type: 'text', text: requireText(part['text'], `${here}.text`) };
  });
}

function readOutput(item: ReadonlyJsonObject, param: string, features: FeatureUses): UserPart {
  const output = item['output'];
  const parts =
    typeof output === 'string'
      ? [{ type: 'text' as const, text: output }]
      : readUser(output, `${param}.output`, features).flatMap((part) =>
          part.type === 'text' || part.type === 'image' ? [part] : [],
        );
  for (const part of parts) {
    if (part.type === 'image') features.note('images_in_results', `${param}.output`);
  }
  return {
    type: 'result',
    call_id: requireText(item['call_id'], `${param}.call_id`),
    parts,
    is_error: false,
  };
}

/**
 * Reads reasoning that has a provider's signature in `encrypted_content`. Other reasoning is dropped,
 * also that of OpenAI.
 */
function readReasoning(item: ReadonlyJsonObject, turns: Turn[]): void {
  const encrypted = item['encrypted_content'];
  const signature = typeof encrypted === 'string' ? signatureOfItem(encrypted) : undefined;
  if (signature === undefined) return;
  const text = listOrEmpty(item['summary'])
    .map((part) => (isObject(part) ? String(part['text'] ?? '') : ''))
    .join('');
  addToAssistant(turns, { type: 'reasoning', text, signature });
}

function readChoice(value: unknown, features: FeatureUses): ToolChoice | undefined {
  if (value === null || value === undefined) return undefined;
  if (value === 'auto' || value === 'none') return { type: value };
  features.note('forced_tool', 'tool_choice');
  if (value === 'required') return { type: 'any' };
  const choice = requireObject(value, 'tool_choice');
  if (choice['type'] === 'function' || choice['type'] === 'custom') {
    return { type: 'tool', name: requireText(choice['name'], 'tool_choice.name') };
  }
  features.note('other', 'tool_choice');
  return undefined;
}
