/**
 * Tests that translated requests obey what each chat model takes of schemas, strict tools, output
 * limits and reasoning beside tools. The judges are the providers' packages of the AI SDK: they are
 * asked for the same wish, for each model.
 */
import { describe, expect, test } from 'bun:test';
import { createAmazonBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { Abilities } from '../../../src/catalogue/abilities.ts';
import type { ChatProtocol } from '../../../src/protocols/names.ts';
import { CHAT_MODELS, type Json, sentBy, sentByWeir } from './chat-models.ts';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const OPTIONS = { apiKey: 'key' };
const TOOL = { type: 'function', function: { name: 'weather', parameters: SCHEMA } };
const FORMAT = {
  type: 'json_schema',
  json_schema: { name: 'place', schema: SCHEMA, strict: true },
};
const sdkTool = (strict?: boolean) => ({
  tools: [{ type: 'function', name: 'weather', inputSchema: SCHEMA, ...(strict && { strict }) }],
});
const sdkFormat = { responseFormat: { type: 'json', schema: SCHEMA, name: 'place' } };

const of = (owner: string) => CHAT_MODELS.filter(({ owned_by }) => owned_by === owner);
const chat = (members: Json) => ({ messages: [{ role: 'user', content: 'Hello' }], ...members });
/** What Weir sends for a request of chat completions or responses. */
const weir = (id: string, protocol: ChatProtocol, members: Json) =>
  sentByWeir(id, 'openai', protocol, chat(members));
const hasInstruction = (sent: Json) =>
  JSON.stringify(sent['system'] ?? sent).includes('JSON Schema');

describe.each(of('anthropic'))('$id', ({ id }) => {
  const anthropic = (more: Json) =>
    sentBy((fetch) => createAnthropic({ ...OPTIONS, fetch })(id), more);
  const bedrock = (more: Json) =>
    sentBy((fetch) => {
      const baseURL = 'https://bedrock.example.com';
      const options = { ...OPTIONS, region: 'us-east-1', baseURL, fetch };
      return createAmazonBedrockAnthropic(options)(`anthropic.${id}`);
    }, more);

  test('a schema is sent as such where @ai-sdk/anthropic sends it', async () => {
    const sdk = await anthropic(sdkFormat);
    const sent = weir(id, 'anthropic', { response_format: FORMAT });
    expect(sent['output_config']?.format?.type).toBe(sdk['output_config']?.format?.type);
    expect(hasInstruction(sent)).toBe(false);
  });

  test('at Bedrock, a schema becomes an instruction where the package avoids it', async () => {
    const sdk = await bedrock(sdkFormat);
    const sent = weir(id, 'bedrock', { response_format: FORMAT });
    // The package uses the schema, against its own table, if a model takes no forced tools.
    const isForcedBack = id === 'claude-opus-5-5' || id === 'claude-fable-5-1';
    const isNative = sdk['output_config']?.format !== undefined && !isForcedBack;
    expect(sent['output_config']?.format !== undefined).toBe(isNative);
    expect(hasInstruction(sent)).toBe(!isNative);
  });

  test('strict tools keep `strict` where the packages keep it', async () => {
    const tools = [{ ...TOOL, function: { ...TOOL.function, strict: true } }];
    for (const [protocol, ask] of [
      ['anthropic', anthropic],
      ['bedrock', bedrock],
    ] as const) {
      const sdk = await ask(sdkTool(true));
      const sent = weir(id, protocol, { tools });
      expect({ protocol, strict: sent['tools'][0].strict }).toEqual({
        protocol,
        strict: sdk['tools'][0].strict,
      });
    }
  });

  test('a limit above the model’s is lowered as by @ai-sdk/anthropic', async () => {
    const sdk = await anthropic({ maxOutputTokens: 9_999_999 });
    const sent = weir(id, 'anthropic', { max_completion_tokens: 9_999_999 });
    expect(sent['max_tokens']).toBe(sdk['max_tokens']);
    expect(weir(id, 'anthropic', { max_completion_tokens: 9 })['max_tokens']).toBe(9);
  });
});

describe.each(of('google'))('$id', ({ id }) => {
  const google = (more: Json) =>
    sentBy((fetch) => createGoogleGenerativeAI({ ...OPTIONS, fetch })(id), more);

  test('a schema beside tools is sent as such where @ai-sdk/google sends it', async () => {
    for (const tools of [[], [TOOL]]) {
      const sdk = await google({ ...sdkFormat, ...(tools.length > 0 ? sdkTool() : {}) });
      const sent = weir(id, 'gemini', {
        response_format: FORMAT,
        ...(tools.length > 0 && { tools }),
      });
      const isNative = sdk['generationConfig'].responseMimeType === 'application/json';
      const format = sent['generationConfig'].responseMimeType;
      expect({ tools, format }).toEqual({
        ...{ tools, format: isNative ? 'application/json' : undefined },
      });
      expect(hasInstruction(sent)).toBe(!isNative);
    }
  });

  test('strict tools have the mode of @ai-sdk/google', async () => {
    const tools = [{ ...TOOL, function: { ...TOOL.function, strict: true } }];
    for (const [choice, toolChoice] of [
      [undefined, undefined],
      ['auto', { type: 'auto' }],
      ['none', { type: 'none' }],
    ] as const) {
      const sdk = await google({ ...sdkTool(true), ...(toolChoice && { toolChoice }) });
      const sent = weir(id, 'gemini', { tools, ...(choice && { tool_choice: choice }) });
      const mode = sent['toolConfig'].functionCallingConfig.mode;
      // The package leaves the tools out if none may be called.
      expect(mode).toBe(choice === 'none' ? 'NONE' : sdk['toolConfig'].functionCallingConfig.mode);
    }
    const loose = weir(id, 'gemini', { tools: [TOOL] });
    expect(loose['toolConfig']).toBeUndefined();
  });

  test('a limit above the model’s is lowered', () => {
    const sent = sentByWeir(id, 'anthropic', 'gemini', chat({ max_tokens: 9_999_999 }));
    expect(sent['generationConfig'].maxOutputTokens).toBe(65_536);
  });
});

describe.each(of('openai'))('$id', ({ id, max_output_tokens, abilities }) => {
  const doesReason = abilities?.reasoning.form !== 'none';
  test('tools in chat completions have the effort of @ai-sdk/openai', async () => {
    const tools = [{ name: 'weather', input_schema: SCHEMA }];
    for (const effort of ['none', 'high'] as const) {
      const sdk = await sentBy((fetch) => createOpenAI({ ...OPTIONS, fetch }).chat(id), {
        ...{ ...sdkTool(), reasoning: effort },
      });
      const messages = { ...chat({ tools, output_config: { effort } }), max_tokens: 9 };
      const body = effort === 'none' ? { ...messages, output_config: {} } : messages;
      const sent = sentByWeir(id, 'anthropic', 'openai', body)['reasoning_effort'];
      // Without a wish, only models that refuse tools while they reason get a word.
      if (effort === 'none') expect(sent).toBe(id.startsWith('gpt-5.6') ? 'none' : undefined);
      else if (doesReason && !id.startsWith('o')) expect(sent).toBe(sdk['reasoning_effort']);
      const { reasoning } = sentByWeir(id, 'anthropic', 'openai-responses', body);
      expect(reasoning?.effort).toBe(doesReason && effort === 'high' ? 'high' : undefined);
    }
  });

  test('a limit above the model’s is lowered (vendor: "max_tokens is too large")', () => {
    // Claude Code sends 32,000; gpt-4o refuses more than 16,384 (enoch3712/ExtractThinker#346).
    const body = chat({ max_tokens: 9_999_999 });
    for (const [protocol, name] of [
      ['openai', 'max_completion_tokens'],
      ['openai-responses', 'max_output_tokens'],
    ] as const) {
      const sent = sentByWeir(id, 'anthropic', protocol, body);
      expect({ protocol, limit: sent[name] }).toEqual({ protocol, limit: max_output_tokens });
    }
  });
});

test('the catalogue says of schemas and limits what the packages say', () => {
  const of = (name: string): Abilities | undefined =>
    CHAT_MODELS.find(({ id }) => id === name)?.abilities;
  expect(of('gemini-2.5-pro')?.json_schema).toBe('without_tools');
  expect(of('claude-opus-4-8')?.on?.bedrock?.strict_tools).toBe(false);
  expect(of('gpt-5.6-sol')?.on?.openai?.reasoning_with_tools).toBe(false);
});
