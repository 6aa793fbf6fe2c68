/** The vendors' own client packages call Weir, and read what they get. */
import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { ClientProtocol } from '../../../../src/protocols/names.ts';
import type { Meaning } from './answer.ts';

interface Call {
  readonly base_url: string;
  readonly api_key: string;
  readonly model: string;
  readonly streamed: boolean;
}

/** What a package read. */
export interface Seen extends Pick<Meaning, 'text' | 'finish'> {
  readonly calls: readonly (readonly [name: string, input: object])[];
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
}

const CONTENT = 'The weather?';
const SCHEMA = {
  type: 'object' as const,
  properties: { location: { type: 'string' } },
  required: ['location'],
};
const TOOL = { name: 'weather', description: 'The weather of a city' };
const parsed = (text: string) => (text === '' ? {} : (JSON.parse(text) as object));

async function chat({ base_url, api_key, model, streamed }: Call): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  const request = {
    ...{ model, messages: [{ role: 'user' as const, content: CONTENT }] },
    tools: [{ type: 'function' as const, function: { ...TOOL, parameters: SCHEMA } }],
  };
  const { choices, usage } = streamed
    ? await client.chat.completions
        .stream({ ...request, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await client.chat.completions.create(request);
  const [choice] = choices;
  return {
    text: choice?.message.content ?? '',
    calls: (choice?.message.tool_calls ?? []).flatMap((each) =>
      each?.type === 'function'
        ? [[each.function.name, parsed(each.function.arguments)] as const]
        : [],
    ),
    finish: choice?.finish_reason as Seen['finish'],
    tokens: {
      input: usage?.prompt_tokens ?? -1,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? -1,
    },
  };
}

async function responses({ base_url, api_key, model, streamed }: Call): Promise<Seen> {
  const client = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: api_key, maxRetries: 0 });
  const request = {
    ...{ model, input: CONTENT },
    tools: [{ type: 'function' as const, ...TOOL, parameters: SCHEMA, strict: false }],
  };
  const answer = streamed
    ? await client.responses.stream(request).finalResponse()
    : await client.responses.create(request);
  const calls = answer.output.flatMap((item) =>
    item.type === 'function_call' ? [[item.name, parsed(item.arguments)] as const] : [],
  );
  const parts = answer.output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const reason = answer.incomplete_details?.reason;
  const ended = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    text: parts.map((part) => (part.type === 'output_text' ? part.text : '')).join(''),
    calls,
    finish:
      reason === 'max_output_tokens'
        ? 'length'
        : reason === 'content_filter' || parts.some(({ type }) => type === 'refusal')
          ? 'content_filter'
          : ended,
    tokens: {
      input: answer.usage?.input_tokens ?? -1,
      cached: answer.usage?.input_tokens_details.cached_tokens ?? 0,
      output: answer.usage?.output_tokens ?? -1,
    },
  };
}

const STOP_REASONS: Readonly<Record<string, Seen['finish']>> = {
  ...{ end_turn: 'stop', max_tokens: 'length', tool_use: 'tool_calls', refusal: 'content_filter' },
};

async function messages({ base_url, api_key, model, streamed }: Call): Promise<Seen> {
  const client = new Anthropic({ baseURL: base_url, apiKey: api_key, maxRetries: 0 });
  const request: Anthropic.MessageCreateParamsNonStreaming = {
    ...{ model, max_tokens: 4_000, messages: [{ role: 'user', content: CONTENT }] },
    tools: [{ ...TOOL, input_schema: SCHEMA }],
  };
  const { content, stop_reason, usage } = streamed
    ? await client.messages.stream(request).finalMessage()
    : await client.messages.create(request);
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [[block.name, block.input as object] as const] : [],
    ),
    finish: STOP_REASONS[stop_reason ?? ''] as Seen['finish'],
    tokens: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      ...{ cached, output: usage.output_tokens },
    },
  };
}

async function generateContent({ base_url, api_key, model, streamed }: Call): Promise<Seen> {
  const client = new GoogleGenAI({ apiKey: api_key, httpOptions: { baseUrl: base_url } });
  const request = {
    ...{ model, contents: CONTENT },
    config: { tools: [{ functionDeclarations: [{ ...TOOL, parametersJsonSchema: SCHEMA }] }] },
  };
  const answers: GenerateContentResponse[] = [];
  if (streamed) {
    for await (const each of await client.models.generateContentStream(request)) answers.push(each);
  } else {
    answers.push(await client.models.generateContent(request));
  }
  const candidates = answers.flatMap((each) => each.candidates ?? []);
  const parts = candidates.flatMap(({ content }) => content?.parts ?? []);
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall ? [[functionCall.name ?? '', functionCall.args ?? {}] as const] : [],
  );
  const reason = candidates.findLast(({ finishReason }) => finishReason)?.finishReason ?? '';
  const usage = answers.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata;
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = usage ?? {};
  const stopped = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    text: parts.map(({ text = '', thought }) => (thought ? '' : text)).join(''),
    calls,
    finish: reason === 'STOP' ? stopped : reason === 'MAX_TOKENS' ? 'length' : 'content_filter',
    tokens: {
      input: usage?.promptTokenCount ?? -1,
      cached: usage?.cachedContentTokenCount ?? 0,
      output: candidatesTokenCount + thoughtsTokenCount,
    },
  };
}

export const CLIENTS: Record<ClientProtocol, (call: Call) => Promise<Seen>> = {
  ...{ openai: chat, responses, anthropic: messages, gemini: generateContent },
};
