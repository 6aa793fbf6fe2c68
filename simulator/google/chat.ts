/** Gemini's generateContent for text (Gemini API docs: generateContent, streamGenerateContent). */
import type { Answer, ParsedRequest } from '../shared/answer.ts';
import type { Emission } from '../shared/event-stream.ts';
import { isObject, type JsonObject } from '../shared/json.ts';
import { type Protocol, ProviderError, type Reply } from '../shared/protocol.ts';
import { hashText } from '../shared/random.ts';
import { PromptMeter, tokensOf } from '../shared/tokens.ts';
import { ToolScript } from '../shared/tool-script.ts';
import { withCamelNames } from './proto-names.ts';

const CONTEXT_TOKENS = 1_048_576;
const MAX_BODY_BYTES = 100_000_000;
const INVALID = 'INVALID_ARGUMENT';
const MEMBERS = [
  ...['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'],
  ...['safetySettings', 'cachedContent', 'labels'],
];
const MAX_STOP_SEQUENCES = 5;
const SOUND_TOKENS_PER_S = 32;
/** Number of bytes of a sound file that count as one second. The real provider decodes the file. */
const SOUND_BYTES_PER_S = 16_000;

const STATUSES: Record<number, string> = {
  400: INVALID,
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

export function refusal(status: number, message: string, retry_after?: number): ProviderError {
  return new ProviderError(
    status,
    STATUSES[status] ?? 'INTERNAL',
    message,
    null,
    null,
    retry_after,
  );
}

/** The provider's words for each status (Gemini API docs: Troubleshooting guide). */
const WORDS: Record<number, string> = {
  400: 'Request contains an invalid argument.',
  401: 'Request had invalid authentication credentials.',
  403: "Your API key doesn't have the required permissions.",
  404: "The requested resource wasn't found.",
  429: 'Resource has been exhausted (e.g. check quota).',
  503: 'The model is overloaded. Please try again later.',
  504: 'Deadline expired before operation could complete.',
};
const wordsOf = (status: number) => WORDS[status] ?? 'An internal error has occurred.';

export const invalid = (message: string) => refusal(400, message);

interface GeminiRequest extends ParsedRequest {
  /** The part of `prompt_tokens` that comes from sound. */
  sound_tokens: number;
}

/** The signature of each function call. */
const SIGNATURE = 'c2ltLXNpZ25hdHVyZQ==';
/** The second value stands for a missing signature (Gemini API docs: Thought signatures). */
const SIGNATURES = [SIGNATURE, 'skip_thought_signature_validator'];

/** Returns the protocol of one request. Its path names the model, and the method (`stream`). */
export function geminiChat(model: string, stream: boolean): Protocol<GeminiRequest> {
  return {
    name: 'gemini',
    context_tokens: CONTEXT_TOKENS,
    max_body_bytes: MAX_BODY_BYTES,
    keyIn(headers) {
      const key = headers.get('x-goog-api-key');
      if (key) return key;
      throw refusal(403, "Method doesn't allow unregistered callers.");
    },
    checkHeaders: () => undefined,
    read: (body, _, account) => read(body, model, stream, account),
    body: (reply) => JSON.stringify(whole(reply)),
    events,
    headers: (_, elapsed_ms) => ({
      'server-timing': `gfet4t7; dur=${elapsed_ms}`,
      'x-gemini-service-tier': 'sim-standard',
    }),
    errorBody,
    errorEvent: (error) => `data: ${errorBody(error)}\n\n`,
    wrongKey: () => invalid('API key not valid. Please pass a valid API key.'),
    badJson: () => invalid('Invalid JSON payload received.'),
    bodyTooLarge: () => invalid('Request payload size exceeds the limit.'),
    tooLong: ({ prompt_tokens }, most) =>
      invalid(
        `The input token count (${prompt_tokens}) exceeds the maximum number of tokens allowed (${most}).`,
      ),
    errorFor: (status, { quota, retry_after }) =>
      refusal(
        status,
        quota === 1 ? 'You exceeded your current quota.' : wordsOf(status),
        retry_after,
      ),
  };
}

export function errorBody({ status, type, message }: ProviderError): string {
  return JSON.stringify({ error: { code: status, message, status: type } });
}

function read(sent: unknown, model: string, stream: boolean, account: string): GeminiRequest {
  const body = withCamelNames(sent);
  if (!isObject(body)) throw invalid('Invalid JSON payload received.');
  const strange = Object.keys(body).find((key) => !MEMBERS.includes(key));
  if (strange)
    throw invalid(`Invalid JSON payload received. Unknown name "${strange}": Cannot find field.`);
  if (model.startsWith('missing-')) throw refusal(404, `models/${model} is not found.`);
  const contents = body['contents'];
  if (!Array.isArray(contents) || contents.length === 0) {
    throw invalid('* GenerateContentRequest.contents: contents is not specified');
  }
  const meter = new PromptMeter(hashText(model, hashText(account)));
  const instruction = body['systemInstruction'];
  if (isObject(instruction)) for (const part of partsOf(instruction)) readPart(part, meter);
  let [last, result]: [string, string | null] = ['', null];
  const script = new ToolScript();
  for (const content of contents) {
    if (!isObject(content)) throw invalid('Invalid value at contents.');
    const role = content['role'];
    if (role !== undefined && role !== 'user' && role !== 'model') {
      throw invalid('Please use a valid role: user, model.');
    }
    result = null;
    for (const part of partsOf(content)) {
      const part_text = readPart(part, meter);
      if (role !== 'model' && part_text !== '') last = part_text;
      if (role !== 'model') script.user(part_text);
      const answered = part['functionResponse'];
      if (isObject(answered)) {
        if (typeof answered['name'] !== 'string') throw invalid('functionResponse needs a name.');
        result = JSON.stringify(answered['response']);
        script.result();
      }
      if (part['functionCall'] && typeof part['thoughtSignature'] !== 'string') {
        throw invalid('Function call is missing a thought_signature in functionCall parts.');
      }
      if (part['thoughtSignature'] && !SIGNATURES.includes(String(part['thoughtSignature']))) {
        // anomalyco/opencode#4832.
        throw invalid('Corrupted thought signature.');
      }
    }
  }
  const config = isObject(body['generationConfig']) ? body['generationConfig'] : {};
  const sound_tokens = contents.flatMap(partsOf).reduce((sum, part) => sum + soundIn(part), 0);
  const tools = toolsIn(body);
  for (const tool of tools) meter.text(JSON.stringify(tool));
  return {
    seed: meter.seed,
    model,
    stream,
    choices: 1,
    prompt_tokens: meter.tokens + sound_tokens,
    sound_tokens,
    max_tokens: typeof config['maxOutputTokens'] === 'number' ? config['maxOutputTokens'] : null,
    stop: stopsIn(config),
    json: jsonIn(config),
    tools: result === null || script.next ? chosen(body, tools) : [],
    script,
    parallel_tools: true,
    tool_result: result,
    reasoning_tokens: thoughtIn(config),
    last_user_text: last,
    client_reference: null,
  };
}

function partsOf(content: JsonObject): JsonObject[] {
  const parts = content['parts'];
  if (!Array.isArray(parts)) throw invalid('* contents.parts: parts is not specified');
  return parts.filter(isObject);
}

function readPart(part: JsonObject, meter: PromptMeter): string {
  const inline = part['inlineData'];
  if (isObject(inline)) {
    if (typeof inline['mimeType'] !== 'string' || typeof inline['data'] !== 'string') {
      throw invalid('inlineData needs mimeType and data.');
    }
    if (soundIn(part) === 0) meter.medium();
    return '';
  }
  const text = typeof part['text'] === 'string' ? part['text'] : '';
  meter.text(text === '' ? JSON.stringify(part) : text);
  return text;
}

/** Tokens of a part's sound: 32 per second (Gemini API docs: Audio understanding). */
function soundIn(part: JsonObject): number {
  const inline = part['inlineData'];
  if (!isObject(inline) || !String(inline['mimeType']).startsWith('audio/')) return 0;
  const bytes = Buffer.byteLength(String(inline['data']), 'base64');
  return Math.max(1, Math.round((bytes / SOUND_BYTES_PER_S) * SOUND_TOKENS_PER_S));
}

/** Converts type names to lower case. Gemini's subset of OpenAPI writes type names in capitals. */
function lowered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowered);
  if (!isObject(schema)) return schema;
  const members = Object.entries(schema).map(([name, value]) => [
    name,
    name === 'type' && typeof value === 'string' ? value.toLowerCase() : lowered(value),
  ]);
  return Object.fromEntries(members);
}

/** The format of the answer (Gemini API docs: Structured output). */
function jsonIn(config: JsonObject): GeminiRequest['json'] {
  const schema = config['responseJsonSchema'] ?? lowered(config['responseSchema']);
  if (config['responseMimeType'] === 'application/json') return { schema };
  if (config['responseMimeType'] !== 'text/x.enum' || !isObject(schema)) return null;
  return { schema, is_word: true };
}

function stopsIn(config: JsonObject): string[] {
  const stops = config['stopSequences'];
  if (!Array.isArray(stops)) return [];
  if (stops.length > MAX_STOP_SEQUENCES) throw invalid('Too many stop sequences.');
  return stops.map(String);
}

/** The tokens of thoughts for each level (@google/genai, ThinkingLevel). */
const LEVEL_TOKENS: Record<string, number> = { minimal: 8, low: 16, medium: 32, high: 64 };

function thoughtIn(config: JsonObject): number {
  const thinking = config['thinkingConfig'];
  if (!isObject(thinking)) return 0;
  const { thinkingBudget: budget, thinkingLevel: level } = thinking;
  if (typeof level === 'string') return LEVEL_TOKENS[level.toLowerCase()] ?? 0;
  return typeof budget === 'number' ? Math.min(64, Math.max(0, budget)) : 0;
}

function toolsIn(body: JsonObject): { name: string; schema: unknown }[] {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isObject) : [];
  return tools.flatMap((tool) => {
    const declared = Array.isArray(tool['functionDeclarations'])
      ? tool['functionDeclarations']
      : [];
    return declared.filter(isObject).map((each) => {
      if (typeof each['name'] !== 'string') throw invalid('A function needs a name.');
      return {
        name: each['name'],
        schema: each['parametersJsonSchema'] ?? lowered(each['parameters']) ?? { type: 'object' },
      };
    });
  });
}

function chosen(body: JsonObject, tools: { name: string; schema: unknown }[]) {
  const config = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : {};
  const { mode, allowedFunctionNames } = isObject(config) ? config : {};
  if (mode === 'NONE') return [];
  if (!Array.isArray(allowedFunctionNames)) return tools;
  return tools.filter(({ name }) => allowedFunctionNames.includes(name));
}

function partsIn(answer: Answer, thoughts: boolean): object[] {
  const thought = answer.reasoning.whole();
  const text = answer.text.whole();
  return [
    ...(thought !== '' && thoughts ? [{ text: thought, thought: true }] : []),
    ...(text === '' ? [] : [{ text }]),
    ...answer.calls.map(({ name, arguments: given }) => ({
      functionCall: { name, args: JSON.parse(given.whole()) },
      thoughtSignature: SIGNATURE,
    })),
  ];
}

function reasonOf({ finish }: Answer): string {
  return finish === 'length' ? 'MAX_TOKENS' : 'STOP';
}

function whole(reply: Reply<GeminiRequest>): object {
  const [answer] = reply.answers;
  if (!answer) throw new Error('the simulator produced no answer');
  const content = { role: 'model', parts: partsIn(answer, true) };
  return {
    candidates: [{ content, finishReason: reasonOf(answer), index: 0, avgLogprobs: -0.1 }],
    ...tail(reply),
  };
}

function tail({ usage, answers, parsed, request_id }: Reply<GeminiRequest>): object {
  const thoughts = answers.reduce((sum, { reasoning }) => sum + reasoning.tokens, 0);
  const counted = usage && {
    usageMetadata: {
      promptTokenCount: usage.prompt_tokens,
      candidatesTokenCount: usage.completion_tokens - thoughts,
      ...(usage.cached_tokens > 0 ? { cachedContentTokenCount: usage.cached_tokens } : {}),
      ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
      totalTokenCount: usage.prompt_tokens + usage.completion_tokens,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: usage.prompt_tokens - parsed.sound_tokens },
        ...(parsed.sound_tokens > 0
          ? [{ modality: 'AUDIO', tokenCount: parsed.sound_tokens }]
          : []),
      ],
    },
  };
  return { ...counted, modelVersion: parsed.model, responseId: request_id };
}

/** Chunks of text, then whole tool calls. The last chunk has the finish reason and the usage. */
function* events(reply: Reply<GeminiRequest>): Generator<Emission> {
  const [answer] = reply.answers;
  if (!answer) return;
  const chunk = (parts: object[], tokens: number, last = false): Emission => {
    const content = { role: 'model', parts };
    const candidate = { content, index: 0, ...(last ? { finishReason: reasonOf(answer) } : {}) };
    const rest = last
      ? tail(reply)
      : { modelVersion: reply.parsed.model, responseId: reply.request_id };
    return { text: `data: ${JSON.stringify({ candidates: [candidate], ...rest })}\n\n`, tokens };
  };
  const thought = answer.reasoning.whole();
  if (thought !== '') yield chunk([{ text: thought, thought: true }], answer.reasoning.tokens);
  const { text } = answer;
  for (let piece = 0; piece < text.pieces; piece += reply.chunk_tokens) {
    let [chunk_text, tokens] = ['', 0];
    for (let at = piece; at < Math.min(text.pieces, piece + reply.chunk_tokens); at += 1) {
      chunk_text += text.piece(at);
      tokens += text.tokensIn(at);
    }
    yield chunk([{ text: chunk_text }], tokens);
  }
  const calls = partsIn({ ...answer, text: { ...answer.text, whole: () => '' } }, false);
  for (const [at, call] of answer.calls.entries()) {
    const part = calls[at];
    if (part) yield chunk([part], tokensOf(call.name) + call.arguments.tokens);
  }
  yield chunk([{ text: '' }], 0, true);
}
