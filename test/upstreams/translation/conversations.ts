/**
 * Conversations as data, each in OpenAI's words, that every pair of protocols must carry. They are the
 * neutral form of what real clients send; each test reads them from here.
 */
import type { NeutralRequest } from '../../../src/upstreams/translation/neutral.ts';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WEATHER = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['C', 'F'] } },
    required: ['city'],
  },
};
const CLOCK = { name: 'clock', parameters: { type: 'object', properties: {} } };
const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

const user = (...texts: string[]) => ({
  role: 'user' as const,
  parts: texts.map((text) => ({ type: 'text' as const, text })),
});
const assistant = (...texts: string[]) => ({
  role: 'assistant' as const,
  parts: texts.map((text) => ({ type: 'text' as const, text })),
});
const call = (id: string, name: string, args: object) => ({
  type: 'call' as const,
  id,
  name,
  arguments: JSON.stringify(args),
});
const result = (call_id: string, text: string, is_error = false) => ({
  type: 'result' as const,
  call_id,
  parts: [{ type: 'text' as const, text }],
  is_error,
});

const base: NeutralRequest = {
  system: [],
  turns: [user('Hello')],
  tools: [],
  stop: [],
  stream: false,
};
const ask = (more: Partial<NeutralRequest>): NeutralRequest => ({ ...base, ...more });
const image = { type: 'image' as const, media_type: 'image/png', data: PNG };

/** Name → request. Names say what is special. */
export const CONVERSATIONS: Readonly<Record<string, NeutralRequest>> = {
  'one line': base,
  'a long line': ask({ turns: [user('word '.repeat(5_000))] }),
  'characters of several bytes': ask({ turns: [user('Grüße, 世界 👩‍👩‍👧‍👦 \u202e ')] }),
  'quotes, backslashes, control characters': ask({
    turns: [user('"\\ \n\t\u0001 </script> %s')],
  }),
  'two texts in one turn': ask({ turns: [user('One', 'Two')] }),
  'a system prompt': ask({ system: ['Be brief.'] }),
  'several system prompts': ask({ system: ['Be brief.', 'Be kind.'] }),
  'several turns': ask({ turns: [user('Hi'), assistant('Hello!'), user('Again')] }),
  'twenty turns': ask({
    turns: [
      ...Array.from({ length: 10 }, (_, at) => [user(`Q${at}`), assistant(`A${at}`)]).flat(),
      user('End'),
    ],
  }),
  'an inline image': ask({
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'What?' }, image] }],
  }),
  'two images and words between': ask({
    turns: [{ role: 'user', parts: [image, { type: 'text', text: 'and' }, image] }],
  }),
  'an image in an earlier turn': ask({
    turns: [{ role: 'user', parts: [image] }, assistant('A dot.'), user('Sure?')],
  }),
  'a bound': ask({ max_output_tokens: 20 }),
  'a bound of one token': ask({ max_output_tokens: 1 }),
  'a temperature': ask({ temperature: 0.3 }),
  'temperature zero': ask({ temperature: 0 }),
  top_p: ask({ top_p: 0.5 }),
  'a stop sequence': ask({ stop: ['END'] }),
  'four stop sequences': ask({ stop: ['a1', 'b2', 'c3', 'd4'] }),
  'a tool': ask({ tools: [WEATHER] }),
  'a tool without parameters': ask({ tools: [CLOCK] }),
  'two tools': ask({ tools: [WEATHER, CLOCK] }),
  'a tool that is not to be used': ask({ tools: [WEATHER], tool_choice: { type: 'none' } }),
  'a tool if it helps': ask({ tools: [WEATHER], tool_choice: { type: 'auto' } }),
  'any tool': ask({ tools: [WEATHER, CLOCK], tool_choice: { type: 'any' } }),
  'this tool': ask({ tools: [WEATHER, CLOCK], tool_choice: { type: 'tool', name: 'clock' } }),
  'several calls at once': ask({ tools: [WEATHER], turns: [user('Everywhere [[sim tools=3]]')] }),
  'the result of a tool': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain')] },
    ],
  }),
  'words before a call': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Let me see.' },
          call('call_a1', 'get_weather', { city: 'Oslo' }),
        ],
      },
      { role: 'user', parts: [result('call_a1', 'Rain')] },
    ],
  }),
  'results of two calls': ask({
    tools: [WEATHER, CLOCK],
    turns: [
      user('Weather and time?'),
      {
        role: 'assistant',
        parts: [call('call_a1', 'get_weather', { city: 'Oslo' }), call('call_b2', 'clock', {})],
      },
      { role: 'user', parts: [result('call_a1', 'Rain'), result('call_b2', '12:00')] },
    ],
  }),
  'a result and words': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain'), { type: 'text', text: 'So?' }] },
    ],
  }),
  'calls in several turns': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain')] },
      { role: 'assistant', parts: [call('call_b2', 'get_weather', { city: 'Rome' })] },
      { role: 'user', parts: [result('call_b2', 'Sun')] },
    ],
  }),
  'arguments with everything in them': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      {
        role: 'assistant',
        parts: [
          call('call_a1', 'get_weather', { city: 'Tōkyō "x" \\', deep: { a: [1, null, true] } }),
        ],
      },
      { role: 'user', parts: [result('call_a1', '{"sky":"grey"}')] },
    ],
  }),
  'an empty result': ask({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', ' ')] },
    ],
  }),
  'a schema': ask({ format: { type: 'schema', name: 'answer', schema: SCHEMA } }),
  'a schema and a system prompt': ask({
    system: ['Reply as JSON.'],
    format: { type: 'schema', name: 'answer', schema: SCHEMA },
  }),
  'low effort': ask({ reasoning: { effort: 'low' } }),
  'high effort': ask({ reasoning: { effort: 'high' }, max_output_tokens: 30_000 }),
  'effort and tools': ask({ reasoning: { effort: 'medium' }, tools: [WEATHER] }),
  'one long answer': ask({ turns: [user('Much [[sim tokens=500]]')] }),
  'an answer of several bytes a character': ask({
    turns: [user('Cut [[sim unicode=1 tokens=10 split=40]]')],
  }),
  'thinking aloud': ask({ turns: [user('Think [[sim reasoning=20 tokens=20]]')] }),
  'an answer that is cut at its bound': ask({
    turns: [user('Much [[sim tokens=100]]')],
    max_output_tokens: 10,
  }),
};
