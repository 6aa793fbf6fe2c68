/**
 * For each provider of chat or of calls with a single answer: which packages prove its protocol, on how
 * many payloads, and what no package proves. The tests of this folder compare the numbers with what
 * they check.
 */
import type { ChannelProtocol } from '../../../../src/protocols/names.ts';

export interface ChatWitness {
  readonly provider: string;
  readonly protocol: ChannelProtocol;
  /** Packages, with what each proves. */
  readonly proved_by: readonly string[];
  readonly payloads: {
    /** Different requests of Weir that have the type which a package declares. */
    readonly types: number;
    /** Calls of a package that the simulator answers as the package expects. */
    readonly simulator: number;
    /** Requests from documentation that Weir forwards unchanged. */
    readonly requests: number;
    /** Answers from documentation and from strangers' tests, read and charged as their source says. */
    readonly answers: number;
  };
  /** What no package proves. */
  readonly unproved: readonly string[];
}

/** The types of a protocol are counted at its first row. */
export const CHAT_WITNESSES: readonly ChatWitness[] = [
  {
    ...{ provider: 'OpenAI', protocol: 'openai' },
    proved_by: [
      'openai: types of chat.completions; chat, embeddings, speech, transcription, errors',
      '@ai-sdk/openai: chat, tools, objects, errors',
    ],
    payloads: { types: 254, simulator: 24, requests: 9, answers: 2 },
    unproved: [],
  },
  {
    ...{ provider: 'OpenAI', protocol: 'openai-responses' },
    proved_by: [
      'openai: types of responses; streams, errors',
      '@ai-sdk/openai: chat, tools, errors',
    ],
    payloads: { types: 162, simulator: 21, requests: 7, answers: 5 },
    unproved: ['tools that OpenAI runs, except their types'],
  },
  {
    ...{ provider: 'Azure OpenAI', protocol: 'azure-openai' },
    proved_by: ['openai: types', '@ai-sdk/azure: chat, tools, objects, errors'],
    payloads: { types: 254, simulator: 13, requests: 2, answers: 2 },
    unproved: [
      'paths of deployments with an `api-version`',
      'content filter results, except that they pass',
    ],
  },
  {
    ...{ provider: 'Anthropic', protocol: 'anthropic' },
    proved_by: [
      '@anthropic-ai/sdk: types; thinking, streams, count_tokens, errors',
      '@ai-sdk/anthropic: chat, tools, objects, errors',
    ],
    payloads: { types: 178, simulator: 23, requests: 10, answers: 9 },
    unproved: ['`temperature`, `top_p`: version 1.11.0 of the package no longer declares them'],
  },
  {
    ...{ provider: 'AWS Bedrock', protocol: 'bedrock' },
    proved_by: [
      '@anthropic-ai/sdk: types',
      '@anthropic-ai/bedrock-sdk: signatures, frames of streams, errors',
      '@ai-sdk/amazon-bedrock: chat, tools, objects, errors',
    ],
    payloads: { types: 88, simulator: 22, requests: 1, answers: 1 },
    unproved: ['models that are not Claude: Weir offers none'],
  },
  {
    ...{ provider: 'Google Gemini', protocol: 'gemini' },
    proved_by: [
      '@google/genai: types; chat, errors',
      '@ai-sdk/google: chat, tools, objects, errors',
    ],
    payloads: { types: 83, simulator: 19, requests: 8, answers: 11 },
    unproved: [],
  },
  {
    ...{ provider: 'Google Vertex AI', protocol: 'vertex' },
    proved_by: ['@google/genai: types', '@ai-sdk/google-vertex: chat, tools, objects, errors'],
    payloads: { types: 83, simulator: 13, requests: 1, answers: 1 },
    unproved: ['Claude on Vertex AI: Weir does not offer it', 'the sign-in of a service account'],
  },
  {
    ...{ provider: 'Mistral', protocol: 'openai' },
    proved_by: ['@mistralai/mistralai: chat', '@ai-sdk/mistral: chat, tools, objects'],
    payloads: { types: 0, simulator: 14, requests: 2, answers: 5 },
    unproved: [
      'usage of a stream and the envelope of errors: the simulator speaks OpenAI’s dialect',
      'streams of tool calls in OpenAI’s package: Mistral sends no `index`, and Weir adds none',
    ],
  },
  {
    ...{ provider: 'Groq', protocol: 'openai' },
    proved_by: ['@ai-sdk/groq: chat, tools, objects, errors'],
    payloads: { types: 0, simulator: 13, requests: 2, answers: 2 },
    unproved: ['usage of a stream: the simulator speaks OpenAI’s dialect'],
  },
  {
    ...{ provider: 'DeepSeek', protocol: 'openai' },
    proved_by: ['@ai-sdk/deepseek: chat, tools, errors'],
    payloads: { types: 0, simulator: 12, requests: 4, answers: 3 },
    unproved: ['objects: the provider has no schemas'],
  },
  {
    ...{ provider: 'Moonshot', protocol: 'openai' },
    proved_by: ['@ai-sdk/moonshotai: chat, tools, objects, errors'],
    payloads: { types: 0, simulator: 13, requests: 2, answers: 1 },
    unproved: [],
  },
  {
    ...{ provider: 'xAI', protocol: 'openai-responses' },
    proved_by: ['@ai-sdk/xai: chat, objects, errors'],
    payloads: { types: 0, simulator: 10, requests: 1, answers: 2 },
    unproved: ['tools and token limits: the simulator speaks OpenAI’s dialect'],
  },
  {
    ...{ provider: 'xAI', protocol: 'openai' },
    proved_by: ['docs.x.ai, tests of @ai-sdk/xai: requests, answers'],
    payloads: { types: 0, simulator: 0, requests: 2, answers: 2 },
    unproved: ['the simulator’s own dialect of xAI'],
  },
  {
    ...{ provider: 'Alibaba (Qwen)', protocol: 'openai' },
    proved_by: ['@ai-sdk/alibaba: chat, tools, errors'],
    payloads: { types: 0, simulator: 12, requests: 2, answers: 2 },
    unproved: ['objects: the provider has no schemas for this model'],
  },
  {
    ...{ provider: 'Cohere', protocol: 'cohere' },
    proved_by: ['cohere-ai: rerank, errors'],
    payloads: { types: 0, simulator: 4, requests: 1, answers: 1 },
    unproved: ['types of what Weir sends, except through the documented request'],
  },
  {
    ...{ provider: 'DeepL', protocol: 'deepl' },
    proved_by: ['deepl-node: translateText, errors'],
    payloads: { types: 0, simulator: 5, requests: 2, answers: 2 },
    unproved: [
      'JSON bodies by a package: deepl-node sends forms, DeepL’s OpenAPI document has both',
    ],
  },
];
