/** The models of the AI SDK's packages for providers, at the simulator instead of the provider. */
import { createAlibaba } from '@ai-sdk/alibaba';
import { createAmazonBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createAzure } from '@ai-sdk/azure';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createGoogle } from '@ai-sdk/google';
import { createGoogleVertex } from '@ai-sdk/google-vertex/edge';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createMoonshotAI } from '@ai-sdk/moonshotai';
import { createOpenAI } from '@ai-sdk/openai';
import { createXai } from '@ai-sdk/xai';
import type { LanguageModel } from 'ai';
import type { ChatProtocol } from '../../../../src/protocols/names.ts';

const EXPRESS = '/vertex/v1/projects/p/locations/l/publishers/google';

interface PackageModel {
  readonly name: string;
  readonly protocol: ChatProtocol;
  readonly provider: string;
  /**
   * What the simulator lacks for this package: it speaks OpenAI's dialect, not the provider's.
   * `usage`: usage of a stream; `errors`: the envelope of errors; `schema`: objects without a schema;
   * `items`: the provider's own items of responses, with the end of an incomplete one.
   */
  readonly lacks?: readonly ('usage' | 'errors' | 'schema' | 'items')[];
  readonly model: (origin: string, apiKey: string) => LanguageModel;
}

export const MODELS: readonly PackageModel[] = [
  {
    ...{ name: '@ai-sdk/openai, chat', protocol: 'openai', provider: 'OpenAI' },
    model: (origin, apiKey) =>
      createOpenAI({ apiKey, baseURL: `${origin}/openai/v1` }).chat('gpt-4o'),
  },
  {
    ...{ name: '@ai-sdk/openai, responses', protocol: 'openai-responses', provider: 'OpenAI' },
    model: (origin, apiKey) =>
      createOpenAI({ apiKey, baseURL: `${origin}/openai/v1` }).responses('gpt-5'),
  },
  {
    ...{ name: '@ai-sdk/azure, chat', protocol: 'azure-openai', provider: 'Azure OpenAI' },
    model: (origin, apiKey) =>
      createAzure({ apiKey, baseURL: `${origin}/azure/openai/v1` }).chat('gpt-4o'),
  },
  {
    ...{ name: '@ai-sdk/anthropic', protocol: 'anthropic', provider: 'Anthropic' },
    model: (origin, apiKey) =>
      createAnthropic({ apiKey, baseURL: `${origin}/anthropic/v1` })('claude-sonnet-4-6'),
  },
  {
    ...{ name: '@ai-sdk/amazon-bedrock/anthropic', protocol: 'bedrock', provider: 'AWS Bedrock' },
    model: (origin, apiKey) =>
      createAmazonBedrockAnthropic({ apiKey, region: 'us-east-1', baseURL: `${origin}/bedrock` })(
        'anthropic.claude-sonnet-4-6',
      ),
  },
  {
    ...{ name: '@ai-sdk/google', protocol: 'gemini', provider: 'Google Gemini' },
    model: (origin, apiKey) =>
      createGoogle({ apiKey, baseURL: `${origin}/google/v1beta` })('gemini-2.5-flash'),
  },
  {
    ...{ name: '@ai-sdk/google-vertex', protocol: 'vertex', provider: 'Google Vertex AI' },
    model: (origin, apiKey) =>
      createGoogleVertex({
        ...{ project: 'p', location: 'l', baseURL: origin + EXPRESS },
        // The simulator takes an account's key for an access token.
        headers: { authorization: `Bearer ${apiKey}` },
        apiKey,
      })('gemini-2.5-flash'),
  },
  {
    ...{ name: '@ai-sdk/mistral', protocol: 'openai', provider: 'Mistral' },
    lacks: ['usage', 'errors'],
    model: (origin, apiKey) =>
      createMistral({ apiKey, baseURL: `${origin}/openai/v1` })('mistral-large-latest'),
  },
  {
    ...{ name: '@ai-sdk/groq', protocol: 'openai', provider: 'Groq' },
    lacks: ['usage'],
    model: (origin, apiKey) =>
      createGroq({ apiKey, baseURL: `${origin}/openai/v1` })('llama-3.3-70b-versatile'),
  },
  {
    ...{ name: '@ai-sdk/deepseek', protocol: 'openai', provider: 'DeepSeek' },
    lacks: ['schema'],
    model: (origin, apiKey) =>
      createDeepSeek({ apiKey, baseURL: `${origin}/openai/v1` })('deepseek-chat'),
  },
  {
    ...{ name: '@ai-sdk/moonshotai', protocol: 'openai', provider: 'Moonshot' },
    model: (origin, apiKey) =>
      createMoonshotAI({ apiKey, baseURL: `${origin}/openai/v1` })('kimi-k2'),
  },
  {
    ...{ name: '@ai-sdk/xai', protocol: 'openai-responses', provider: 'xAI' },
    lacks: ['items'],
    model: (origin, apiKey) => createXai({ apiKey, baseURL: `${origin}/openai/v1` })('grok-4'),
  },
  {
    ...{ name: '@ai-sdk/alibaba', protocol: 'openai', provider: 'Alibaba (Qwen)' },
    lacks: ['schema'],
    model: (origin, apiKey) =>
      createAlibaba({ apiKey, baseURL: `${origin}/openai/v1` })('qwen-plus'),
  },
];
