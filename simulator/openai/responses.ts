/** OpenAI's responses, without storage (OpenAI docs: Responses; Streaming). */
import type { Answer, ParsedRequest, ToolToCall } from '../shared/answer.ts';
import type { Emission } from '../shared/event-stream.ts';
import { isObject, type JsonObject } from '../shared/json.ts';
import type { Protocol, Reply } from '../shared/protocol.ts';
import { hashText } from '../shared/random.ts';
import { PromptMeter, tokensOf } from '../shared/tokens.ts';
import { ToolScript } from '../shared/tool-script.ts';
import { errorFor, invalid, modelNotFound } from './errors.ts';
import { REASONING_TOKENS } from './parsed-request.ts';
import { openaiChat } from './protocol.ts';

const MEMBERS = [
  ...['model', 'input', 'instructions', 'stream', 'store', 'include', 'metadata', 'user', 'text'],
  ...['tools', 'tool_choice', 'parallel_tool_calls', 'max_output_tokens', 'temperature', 'top_p'],
  ...['reasoning', 'truncation', 'service_tier', 'prompt_cache_key', 'top_logprobs', 'background'],
  ...[
    'safety_identifier',
    'max_tool_calls',
    'client_metadata',
    'prompt',
    'stream_options',
    'previous_response_id',
  ],
];
const ROLES = ['user', 'assistant', 'system', 'developer'];

interface ResponsesRequest extends ParsedRequest {
  /** The body of the request. The answer quotes its members. */
  body: JsonObject;
}

export const openaiResponses: Protocol<ResponsesRequest> = {
  ...openaiChat,
  name: 'openai-responses',
  read: (body, _, account) => read(body, account),
  body: (reply) => JSON.stringify(responseOf(reply, 'completed')),
  events,
  errorEvent: (error) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', code: error.code, message: error.message, param: error.param, sequence_number: 0 })}\n\n`,
  tooLong: (parsed, limit) =>
    invalid(
      `Your input exceeds the context window of this model (${parsed.prompt_tokens} > ${limit}).`,
      'input',
      'context_length_exceeded',
    ),
  errorFor,
};

function read(body: unknown, account: string): ResponsesRequest {
  if (!isObject(body)) throw invalid('Invalid body.', null, null);
  const strange = Object.keys(body).find((key) => !MEMBERS.includes(key));
  if (strange) throw invalid(`Unknown parameter: '${strange}'.`, strange, 'unknown_parameter');
  const model = String(body['model'] ?? '');
  if (model === '') throw invalid("Missing required parameter: 'model'.", 'model', null);
  if (model.startsWith('missing-')) throw modelNotFound(model);
  const meter = new PromptMeter(hashText(model, hashText(account)));
  if (typeof body['instructions'] === 'string') meter.text(body['instructions']);
  const script = new ToolScript();
  const { last, result } = readInput(body, meter, script);
  const tools = toolsIn(body);
  for (const tool of tools) meter.text(JSON.stringify(tool));
  const reasoning = isObject(body['reasoning']) ? body['reasoning']['effort'] : undefined;
  return {
    body,
    seed: meter.seed,
    model,
    stream: body['stream'] === true,
    choices: 1,
    prompt_tokens: meter.tokens,
    max_tokens: typeof body['max_output_tokens'] === 'number' ? body['max_output_tokens'] : null,
    stop: [],
    json: jsonModeOf(body),
    tools: result === null || script.next ? chosen(body, tools) : [],
    script,
    parallel_tools: body['parallel_tool_calls'] !== false,
    tool_result: result,
    reasoning_tokens: REASONING_TOKENS[String(reasoning)] ?? 0,
    last_user_text: last,
    client_reference: typeof body['user'] === 'string' ? body['user'] : null,
  };
}

/** Encrypted reasoning of OpenAI starts with these characters (openai/codex#8145). */
const ENCRYPTED_START = 'gAAA';

/** @throws {ProviderError} for encrypted reasoning that OpenAI did not make. */
function checkEncrypted({ encrypted_content }: JsonObject): void {
  if (typeof encrypted_content !== 'string' || encrypted_content.startsWith(ENCRYPTED_START))
    return;
  throw invalid(
    `The encrypted content ${encrypted_content.slice(0, 4)}...${encrypted_content.slice(-4)} could not be verified.`,
    null,
    'invalid_encrypted_content',
  );
}

function readInput(
  body: JsonObject,
  meter: PromptMeter,
  script: ToolScript,
): { last: string; result: string | null } {
  const { input } = body;
  if (typeof input === 'string') {
    meter.text(input);
    script.user(input);
    return { last: input, result: null };
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  }
  let [last, result]: [string, string | null] = ['', null];
  const called = new Set<unknown>();
  for (const [at, item] of input.entries()) {
    const path = `input[${at}]`;
    if (!isObject(item)) throw invalid(`Invalid type for '${path}'.`, path, 'invalid_type');
    // The simulator stores no items, so every id is unknown.
    if (item['type'] === 'item_reference' || typeof item['id'] === 'string') {
      throw invalid(`Item with id '${item['id']}' not found.`, path, null);
    }
    result = null;
    switch (item['type'] ?? 'message') {
      case 'message':
        if (!ROLES.includes(String(item['role']))) {
          throw invalid(`Invalid value: '${item['role']}'.`, `${path}.role`, 'invalid_value');
        }
        {
          const item_text = textsIn(item['content'], meter);
          if (item['role'] === 'user') {
            last = item_text || last;
            script.user(item_text);
          }
        }
        break;
      case 'function_call':
      case 'custom_tool_call':
        called.add(item['call_id']);
        meter.text(JSON.stringify(item));
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        if (!called.has(item['call_id'])) {
          throw invalid(`No tool call found for '${item['call_id']}'.`, path, null);
        }
        result =
          typeof item['output'] === 'string' ? item['output'] : JSON.stringify(item['output']);
        meter.text(result);
        script.result();
        break;
      default:
        checkEncrypted(item);
        meter.text(JSON.stringify(item));
    }
  }
  return { last, result };
}

function textsIn(content: unknown, meter: PromptMeter): string {
  if (typeof content === 'string') {
    meter.text(content);
    return content;
  }
  let last_text = '';
  for (const part of Array.isArray(content) ? content.filter(isObject) : []) {
    const text = part['text'] ?? part['refusal'];
    if (typeof text === 'string') {
      meter.text(text);
      last_text = text;
    } else meter.medium();
  }
  return last_text;
}

function jsonModeOf({ text }: JsonObject): ParsedRequest['json'] {
  const format = isObject(text) ? text['format'] : undefined;
  if (!isObject(format) || format['type'] === 'text') return null;
  return format['type'] === 'json_schema' ? { schema: format['schema'] } : {};
}

function toolsIn(
  body: JsonObject,
  listed: unknown = body['tools'],
  inside: { namespace?: string } = {},
): ToolToCall[] {
  const tools = Array.isArray(listed) ? listed.filter(isObject) : [];
  return tools.flatMap((tool): ToolToCall[] => {
    if (tool['type'] === 'namespace') {
      return toolsIn(body, tool['tools'], { namespace: String(tool['name']) });
    }
    if (tool['type'] === 'custom') {
      return [{ name: String(tool['name']), schema: undefined, ...inside }];
    }
    if (tool['type'] !== 'function') return [];
    if (typeof tool['name'] !== 'string') throw invalid('Missing tools[].name', 'tools', null);
    const schema = tool['parameters'] ?? { type: 'object' };
    return [{ name: tool['name'], schema, ...inside }];
  });
}

function chosen(body: JsonObject, tools: ToolToCall[]) {
  const choice = body['tool_choice'];
  if (choice === 'none') return [];
  return isObject(choice) ? tools.filter(({ name }) => name === choice['name']) : tools;
}

/** The output items of tools that the provider itself runs, e.g. a web search. */
function ownTools({ parsed, request_id }: Reply<ResponsesRequest>): object[] {
  const tools = Array.isArray(parsed.body['tools']) ? parsed.body['tools'] : [];
  const searches = tools.some((tool) => isObject(tool) && String(tool['type']).startsWith('web_'));
  if (!searches) return [];
  const action = { type: 'search', query: parsed.last_user_text.slice(0, 40) };
  return [{ type: 'web_search_call', id: `ws_${request_id}`, status: 'completed', action }];
}

function itemsOf(reply: Reply<ResponsesRequest>): object[] {
  const [answer] = reply.answers;
  if (!answer) return [];
  const id = (prefix: string, at: number) => `${prefix}_${reply.request_id}${at}`;
  const text = answer.text.whole();
  const part = { type: 'output_text', text, annotations: [], logprobs: [] };
  const message = { type: 'message', status: 'completed', role: 'assistant', content: [part] };
  return [
    ...ownTools(reply),
    ...answer.calls.map(({ id: call, name, arguments: given }, at) => {
      const tool = reply.parsed.tools.find((each) => each.name === name);
      const isCustom = tool !== undefined && tool.schema === undefined;
      const [type, prefix] = isCustom ? ['custom_tool_call', 'ctc'] : ['function_call', 'fc'];
      return {
        ...{ type, id: id(prefix, at), status: 'completed', call_id: `call_${call}`, name },
        ...(tool?.namespace === undefined ? {} : { namespace: tool.namespace }),
        [isCustom ? 'input' : 'arguments']: given.whole(),
      };
    }),
    ...(answer.calls.length === 0 ? [{ id: id('msg', 0), ...message }] : []),
  ];
}

function responseOf(reply: Reply<ResponsesRequest>, status: string, output = itemsOf(reply)) {
  const { parsed, usage, answers, request_id } = reply;
  const isCut = answers[0]?.finish === 'length' && status === 'completed';
  const thought = answers.reduce((sum, { reasoning }) => sum + reasoning.tokens, 0);
  return {
    id: `resp_${request_id}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1_000),
    status: isCut ? 'incomplete' : status,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: parsed.body['instructions'] ?? null,
    metadata: parsed.body['metadata'] ?? {},
    model: parsed.model,
    output,
    access_programs: null,
    previous_response_id: parsed.body['previous_response_id'] ?? null,
    parallel_tool_calls: parsed.parallel_tools,
    store: parsed.body['store'] ?? true,
    temperature: parsed.body['temperature'] ?? 1,
    tool_choice: parsed.body['tool_choice'] ?? 'auto',
    tools: parsed.body['tools'] ?? [],
    top_p: parsed.body['top_p'] ?? 1,
    usage:
      status === 'completed' && usage
        ? {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: {
              cached_tokens: usage.cached_tokens,
              cache_write_tokens: usage.cache_write_tokens,
            },
            output_tokens: usage.completion_tokens,
            output_tokens_details: { reasoning_tokens: thought },
            total_tokens: usage.prompt_tokens + usage.completion_tokens,
          }
        : null,
  };
}

function* events(reply: Reply<ResponsesRequest>): Generator<Emission> {
  let sequence_number = 0;
  const event = (type: string, rest: object, tokens = 0): Emission => {
    const data = JSON.stringify({ type, sequence_number, ...rest });
    sequence_number += 1;
    return { text: `event: ${type}\ndata: ${data}\n\n`, tokens };
  };
  const [answer] = reply.answers;
  if (!answer) return;
  const started = responseOf(reply, 'in_progress', []);
  yield event('response.created', { response: started });
  yield event('response.in_progress', { response: started });
  for (const [output_index, item] of itemsOf(reply).entries()) {
    yield* itemEvents(item as JsonObject, output_index, answer, reply, event);
  }
  const whole = responseOf(reply, 'completed');
  yield event(`response.${whole.status}`, { response: whole });
}

type Write = (type: string, rest: object, tokens?: number) => Emission;

function* itemEvents(
  item: JsonObject,
  output_index: number,
  answer: Answer,
  { chunk_tokens }: Reply<ResponsesRequest>,
  event: Write,
): Generator<Emission> {
  const at = { item_id: item['id'], output_index };
  const type = item['type'];
  const empty =
    type === 'message'
      ? { content: [] }
      : type === 'function_call'
        ? { arguments: '' }
        : type === 'custom_tool_call'
          ? { input: '' }
          : {};
  yield event('response.output_item.added', {
    output_index,
    item: { ...item, ...empty, status: 'in_progress' },
  });
  if (type === 'web_search_call') {
    for (const state of ['in_progress', 'searching', 'completed']) {
      yield event(`response.web_search_call.${state}`, at);
    }
  } else if (type === 'custom_tool_call') {
    const input = String(item['input']);
    const tokens = tokensOf(String(item['name'])) + tokensOf(input);
    yield event('response.custom_tool_call_input.delta', { ...at, delta: input }, tokens);
    yield event('response.custom_tool_call_input.done', { ...at, input });
  } else if (type === 'function_call') {
    const arguments_text = String(item['arguments']);
    const tokens = tokensOf(String(item['name'])) + tokensOf(arguments_text);
    yield event('response.function_call_arguments.delta', { ...at, delta: arguments_text }, tokens);
    yield event('response.function_call_arguments.done', { ...at, arguments: arguments_text });
  } else {
    const [part] = item['content'] as JsonObject[];
    const inPart = { ...at, content_index: 0 };
    yield event('response.content_part.added', { ...inPart, part: { ...part, text: '' } });
    const { text } = answer;
    for (let piece = 0; piece < text.pieces; piece += chunk_tokens) {
      let [delta, tokens] = ['', 0];
      for (let next = piece; next < Math.min(text.pieces, piece + chunk_tokens); next += 1) {
        delta += text.piece(next);
        tokens += text.tokensIn(next);
      }
      yield event('response.output_text.delta', { ...inPart, delta, logprobs: [] }, tokens);
    }
    yield event('response.output_text.done', { ...inPart, text: text.whole(), logprobs: [] });
    yield event('response.content_part.done', { ...inPart, part });
  }
  yield event('response.output_item.done', { output_index, item });
}
