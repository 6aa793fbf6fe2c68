/** Documented requests of OpenAI and of compatible vendors. */
import { asked, type ChatRequest, IMAGE_URL, PNG, user, WEATHER_SCHEMA } from './request.ts';

const HELLO = [{ role: 'developer', content: 'You are a helpful assistant.' }, user('Hello!')];
const SYSTEM = [{ role: 'system', content: 'You are a helpful assistant' }, user('Hello!')];
const WEATHER = {
  ...{ name: 'get_current_weather', description: 'Get the current weather in a given location' },
  parameters: WEATHER_SCHEMA,
};
const TOOLS = [{ type: 'function', function: WEATHER }];
const EVENT = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    date: { type: 'string' },
    participants: { type: 'array', items: { type: 'string' } },
  },
  required: ['name', 'date', 'participants'],
  additionalProperties: false,
};
const BOSTON = 'What is the weather like in Boston today?';

const OPENAI: readonly ChatRequest[] = [
  ...asked(
    {
      ...{ vendor: 'OpenAI', protocol: 'openai' },
      source: 'openai/openai-openapi: openapi.yaml, POST /chat/completions',
    },
    { messages: HELLO },
    { messages: HELLO, stream: true },
    {
      messages: [
        user([
          { type: 'text', text: 'What is in this image?' },
          { type: 'image_url', image_url: { url: IMAGE_URL } },
        ]),
      ],
      max_tokens: 300,
    },
    { messages: [user(BOSTON)], tools: TOOLS, tool_choice: 'auto' },
    { messages: [user('Hello!')], logprobs: true, top_logprobs: 2 },
  ),
  ...asked(
    {
      ...{ vendor: 'OpenAI', protocol: 'openai' },
      source: 'platform.openai.com/docs/guides: Structured outputs, Function calling, Reasoning',
    },
    {
      messages: [user('Alice and Bob are going to a science fair on Friday.')],
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'calendar_event', strict: true, schema: EVENT },
      },
    },
    {
      messages: [
        user(BOSTON),
        {
          ...{ role: 'assistant', content: null },
          tool_calls: [
            {
              ...{ id: 'call_abc123', type: 'function' },
              function: { name: 'get_current_weather', arguments: '{"location":"Boston, MA"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_abc123', content: '{"temperature": 22}' },
      ],
      ...{ tools: TOOLS, parallel_tool_calls: false },
    },
    { messages: HELLO, reasoning_effort: 'medium', max_completion_tokens: 500 },
    {
      messages: HELLO,
      ...{ n: 2, stop: ['\n'], temperature: 0.2, top_p: 0.9, presence_penalty: 0.1 },
      ...{ frequency_penalty: 0.1, logit_bias: { '50256': -100 }, user: 'user-1', seed: 7 },
    },
  ),
];

const weatherTool = { type: 'function', ...WEATHER };
const RESPONSES: readonly ChatRequest[] = asked(
  {
    ...{ vendor: 'OpenAI', protocol: 'openai-responses' },
    source: 'openai/openai-openapi: openapi.yaml, POST /responses',
  },
  { input: 'Tell me a three sentence bedtime story about a unicorn.' },
  { instructions: 'You are a helpful assistant.', input: 'Hello!', stream: true },
  {
    input: [
      user([
        { type: 'input_text', text: 'what is in this image?' },
        { type: 'input_image', image_url: IMAGE_URL },
      ]),
    ],
  },
  {
    input: [
      user([
        { type: 'input_text', text: 'what is in this file?' },
        { type: 'input_file', file_url: 'https://example.com/2024ltr.pdf', detail: 'auto' },
      ]),
    ],
  },
  { input: BOSTON, tools: [weatherTool], tool_choice: 'auto' },
  { input: 'How much wood would a woodchuck chuck?', reasoning: { effort: 'high' } },
  { tools: [{ type: 'web_search' }], input: 'What was a positive news story today?' },
);

const AZURE: readonly ChatRequest[] = asked(
  {
    ...{ vendor: 'Azure OpenAI', protocol: 'azure-openai' },
    source: 'learn.microsoft.com/azure/ai-foundry/openai: Chat completions, reference',
  },
  { messages: SYSTEM },
  { messages: [user(BOSTON)], tools: TOOLS, stream: true },
);

const OWN = 'members that OpenAI does not have';
const VENDORS: readonly ChatRequest[] = [
  ...asked(
    {
      ...{ vendor: 'Mistral', protocol: 'openai', dialect: 'mistral', not_simulated: OWN },
      source: 'mistralai/platform-docs-public: openapi-public-doc.yaml, ChatCompletionRequest',
    },
    {
      messages: [user('Who is the best French painter? Answer in one short sentence.')],
      ...{ temperature: 0.3, top_p: 1, max_tokens: 100, random_seed: 0, safe_prompt: false },
      ...{ response_format: { type: 'text' }, tool_choice: 'auto', n: 1 },
    },
    { messages: [user('Hi')], prompt_mode: 'reasoning', stream: true },
  ),
  ...asked(
    {
      ...{ vendor: 'Groq', protocol: 'openai', dialect: 'groq' },
      source: 'groq/groq-python: examples/chat_completion.py, chat_completion_stop.py',
    },
    {
      messages: SYSTEM,
      ...{ temperature: 0.5, max_completion_tokens: 1024, top_p: 1, stop: ', 6', stream: true },
    },
  ),
  ...asked(
    {
      ...{ vendor: 'Groq', protocol: 'openai', dialect: 'groq', not_simulated: OWN },
      source: 'console.groq.com/docs/reasoning',
    },
    { messages: [user('How many r?')], reasoning_format: 'parsed', max_completion_tokens: 500 },
  ),
  ...asked(
    {
      ...{ vendor: 'DeepSeek', protocol: 'openai', dialect: 'deepseek' },
      source: 'api-docs.deepseek.com: Your first API call; JSON output; Function calling',
    },
    { messages: SYSTEM, stream: false },
    { messages: [user('Give me JSON.')], response_format: { type: 'json_object' } },
    { messages: [user('How’s the weather in Hangzhou?')], tools: TOOLS },
  ),
  ...asked(
    {
      ...{ vendor: 'DeepSeek', protocol: 'openai', dialect: 'deepseek', not_simulated: OWN },
      source: 'api-docs.deepseek.com: Thinking mode',
    },
    { messages: SYSTEM, thinking: { type: 'enabled' }, stream: true },
  ),
  ...asked(
    {
      ...{ vendor: 'Moonshot', protocol: 'openai', dialect: 'moonshot' },
      source: 'platform.moonshot.ai/docs: Chat; Use vision models',
    },
    { messages: SYSTEM, temperature: 0.6 },
    {
      messages: [
        user([
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: 'text', text: 'Please describe this image.' },
        ]),
      ],
    },
  ),
  ...asked(
    {
      ...{ vendor: 'Alibaba (Qwen)', protocol: 'openai', dialect: 'dashscope' },
      source: 'alibabacloud.com/help/en/model-studio: OpenAI compatible, chat',
    },
    { messages: SYSTEM, stream: true, stream_options: { include_usage: true } },
  ),
  ...asked(
    {
      ...{ vendor: 'Alibaba (Qwen)', protocol: 'openai', dialect: 'dashscope', not_simulated: OWN },
      source: 'alibabacloud.com/help/en/model-studio: Deep thinking',
    },
    { messages: [user('Who are you?')], enable_thinking: true, thinking_budget: 50, stream: true },
  ),
  ...asked(
    {
      ...{ vendor: 'xAI', protocol: 'openai', dialect: 'xai' },
      source: 'docs.x.ai: Chat completions, REST API reference',
    },
    { messages: SYSTEM, stream: false, temperature: 0 },
    { messages: [user('What is 101*3?')], reasoning_effort: 'high' },
  ),
  ...asked(
    {
      ...{ vendor: 'xAI', protocol: 'openai-responses' },
      source: 'docs.x.ai: Responses, REST API reference',
    },
    { input: SYSTEM },
  ),
];

export const OPENAI_REQUESTS: readonly ChatRequest[] = [
  ...OPENAI,
  ...RESPONSES,
  ...AZURE,
  ...VENDORS,
];
