/** Documented requests of Anthropic, Bedrock and Google. */
import { asked, type ChatRequest, IMAGE_URL, PNG, user, WEATHER_SCHEMA } from './request.ts';

const HELLO = [user('Hello, world')];
const CLAUDE_TOOL = {
  ...{ name: 'get_weather', description: 'Get the current weather in a given location' },
  input_schema: WEATHER_SCHEMA,
};
const ANTHROPIC: readonly ChatRequest[] = [
  ...asked(
    {
      ...{ vendor: 'Anthropic', protocol: 'anthropic' },
      source: 'platform.claude.com/docs/en/api/messages; build-with-claude',
    },
    { max_tokens: 1024, messages: HELLO },
    { max_tokens: 1024, messages: HELLO, stream: true },
    {
      ...{
        max_tokens: 1024,
        system: 'Respond only in Yoda-speak.',
        stop_sequences: ['\n\nHuman:'],
      },
      messages: [
        user('Hello there.'),
        { role: 'assistant', content: 'Hi, I’m Claude.' },
        user('Hi'),
      ],
      metadata: { user_id: '13803d75-b4b5-4c3e-b2a2-6f21399b021b' },
    },
    {
      max_tokens: 1024,
      messages: [
        user([
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: PNG },
          },
          { type: 'text', text: 'What is in the above image?' },
        ]),
      ],
    },
    {
      max_tokens: 1024,
      messages: [
        user([
          { type: 'image', source: { type: 'url', url: IMAGE_URL } },
          { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
          { type: 'text', text: 'What are the key findings?' },
        ]),
      ],
    },
    {
      ...{ max_tokens: 1024, tools: [CLAUDE_TOOL], tool_choice: { type: 'auto' } },
      messages: [
        user('What is the weather like in San Francisco?'),
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I’ll check.' },
            {
              ...{ type: 'tool_use', id: 'toolu_01A09q90qw90lq917835lq9', name: 'get_weather' },
              input: { location: 'San Francisco, CA', unit: 'celsius' },
            },
          ],
        },
        user([
          {
            ...{ type: 'tool_result', tool_use_id: 'toolu_01A09q90qw90lq917835lq9' },
            content: '15 degrees',
          },
        ]),
      ],
    },
    {
      max_tokens: 1024,
      system: [
        { type: 'text', text: 'You analyze literary works.' },
        { type: 'text', text: 'The whole book', cache_control: { type: 'ephemeral' } },
      ],
      messages: [user('Analyze the major themes.')],
    },
    {
      ...{ max_tokens: 16_000, thinking: { type: 'enabled', budget_tokens: 10_000 } },
      messages: [user('Are there an infinite number of prime numbers?')],
    },
  ),
  ...asked(
    {
      ...{ vendor: 'Anthropic', protocol: 'anthropic' },
      source: 'anthropics/anthropic-sdk-python: examples/web_search.py, structured_outputs.py',
    },
    {
      ...{ max_tokens: 1024, messages: [user('What’s the weather in New York?')] },
      tools: [{ name: 'web_search', type: 'web_search_20250305', max_uses: 5 }],
    },
    {
      ...{ max_tokens: 1024, messages: [user('Extract: two green tea.')] },
      output_config: {
        format: {
          type: 'json_schema',
          schema: {
            type: 'object',
            properties: { product_name: { type: 'string' }, quantity: { type: 'integer' } },
            ...{ required: ['product_name', 'quantity'], additionalProperties: false },
          },
        },
      },
    },
  ),
  ...asked(
    {
      ...{ vendor: 'AWS Bedrock', protocol: 'bedrock' },
      source: 'docs.aws.amazon.com: Anthropic Claude Messages API, request and response',
    },
    {
      ...{ anthropic_version: 'bedrock-2023-05-31', max_tokens: 1024, system: 'Be brief.' },
      ...{ messages: HELLO, temperature: 0.5, top_k: 250, stop_sequences: ['\n\nHuman:'] },
    },
  ),
];

const parts = (...all: object[]) => ({ contents: [{ parts: all }] });
const GEMINI_FUNCTIONS = [
  { name: 'get_current_temperature', description: 'Gets it.', parameters: WEATHER_SCHEMA },
];
const GEMINI: readonly ChatRequest[] = [
  ...asked(
    {
      ...{ vendor: 'Google Gemini', protocol: 'gemini' },
      source:
        'ai.google.dev/gemini-api/docs: Text, Images, Function calling, Thinking, Structured output',
    },
    parts({ text: 'How does AI work?' }),
    {
      system_instruction: { parts: [{ text: 'You are a cat. Your name is Neko.' }] },
      ...parts({ text: 'Hello there' }),
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'Hello' }] },
        { role: 'model', parts: [{ text: 'Great to meet you.' }] },
        { role: 'user', parts: [{ text: 'How many paws?' }] },
      ],
      generationConfig: {
        ...{ stopSequences: ['Title'], temperature: 1.0, topP: 0.8, topK: 10 },
        maxOutputTokens: 500,
      },
    },
    parts({ inline_data: { mime_type: 'image/png', data: PNG } }, { text: 'Caption this image.' }),
    {
      ...parts({ text: 'What’s the temperature in London?' }),
      tools: [{ functionDeclarations: GEMINI_FUNCTIONS }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
    {
      ...parts({ text: 'List a few cookie recipes.' }),
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'ARRAY',
          items: { type: 'OBJECT', properties: { recipeName: { type: 'STRING' } } },
        },
      },
    },
    {
      ...parts({ text: 'Explain Occam’s Razor.' }),
      generationConfig: { thinkingConfig: { thinkingBudget: 1024, includeThoughts: true } },
    },
  ),
  {
    ...{ vendor: 'Google Gemini', protocol: 'gemini', method: 'streamGenerateContent' },
    source: 'ai.google.dev/api/generate-content: streamGenerateContent',
    body: parts({ text: 'Write a story about a magic backpack.' }),
  },
  ...asked(
    {
      ...{ vendor: 'Google Vertex AI', protocol: 'vertex' },
      source: 'cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference',
    },
    {
      contents: [{ role: 'user', parts: [{ text: 'What’s a good name for a flower shop?' }] }],
      safetySettings: [
        { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', threshold: 'BLOCK_ONLY_HIGH' },
      ],
      generationConfig: { maxOutputTokens: 2048, temperature: 0.4, topP: 1, topK: 32 },
    },
  ),
];

export const NATIVE_REQUESTS: readonly ChatRequest[] = [...ANTHROPIC, ...GEMINI];
