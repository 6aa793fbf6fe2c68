/**
 * Conversations in the neutral form. Every pair of protocols must translate all of them without loss.
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
const requestWith = (members: Partial<NeutralRequest>): NeutralRequest => ({ ...base, ...members });
const image = { type: 'image' as const, media_type: 'image/png', data: PNG };

/** Requests by name. The name says what the request tests. */
export const CONVERSATIONS: Readonly<Record<string, NeutralRequest>> = {
  'one line': base,
  'a long line': requestWith({ turns: [user('word '.repeat(5_000))] }),
  'characters of several bytes': requestWith({ turns: [user('Grüße, 世界 👩‍👩‍👧‍👦 \u202e ')] }),
  'quotes, backslashes, control characters': requestWith({
    turns: [user('"\\ \n\t\u0001 </script> %s')],
  }),
  'two texts in one turn': requestWith({ turns: [user('One', 'Two')] }),
  'a system prompt': requestWith({ system: ['Be brief.'] }),
  'several system prompts': requestWith({ system: ['Be brief.', 'Be kind.'] }),
  'several turns': requestWith({ turns: [user('Hi'), assistant('Hello!'), user('Again')] }),
  'twenty turns': requestWith({
    turns: [
      ...Array.from({ length: 10 }, (_, at) => [user(`Q${at}`), assistant(`A${at}`)]).flat(),
      user('End'),
    ],
  }),
  'an inline image': requestWith({
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'What?' }, image] }],
  }),
  'two images with text between them': requestWith({
    turns: [{ role: 'user', parts: [image, { type: 'text', text: 'and' }, image] }],
  }),
  'an image in an earlier turn': requestWith({
    turns: [{ role: 'user', parts: [image] }, assistant('A dot.'), user('Sure?')],
  }),
  'a token limit': requestWith({ max_output_tokens: 20 }),
  'a limit of one token': requestWith({ max_output_tokens: 1 }),
  'a temperature': requestWith({ temperature: 0.3 }),
  'temperature zero': requestWith({ temperature: 0 }),
  top_p: requestWith({ top_p: 0.5 }),
  'a stop sequence': requestWith({ stop: ['END'] }),
  'four stop sequences': requestWith({ stop: ['a1', 'b2', 'c3', 'd4'] }),
  'a tool': requestWith({ tools: [WEATHER] }),
  'a tool without parameters': requestWith({ tools: [CLOCK] }),
  'two tools': requestWith({ tools: [WEATHER, CLOCK] }),
  'a tool that must not be called': requestWith({
    tools: [WEATHER],
    tool_choice: { type: 'none' },
  }),
  'a tool that may be called': requestWith({ tools: [WEATHER], tool_choice: { type: 'auto' } }),
  'a call of any tool': requestWith({ tools: [WEATHER, CLOCK], tool_choice: { type: 'any' } }),
  'a call of one named tool': requestWith({
    tools: [WEATHER, CLOCK],
    tool_choice: { type: 'tool', name: 'clock' },
  }),
  'several calls in one answer': requestWith({
    tools: [WEATHER],
    turns: [user('Everywhere [[sim tools=3]]')],
  }),
  'the result of a tool': requestWith({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain')] },
    ],
  }),
  'text before a call': requestWith({
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
  'results of two calls': requestWith({
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
  'a result and text': requestWith({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain'), { type: 'text', text: 'So?' }] },
    ],
  }),
  'calls in several turns': requestWith({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', 'Rain')] },
      { role: 'assistant', parts: [call('call_b2', 'get_weather', { city: 'Rome' })] },
      { role: 'user', parts: [result('call_b2', 'Sun')] },
    ],
  }),
  'arguments with quotes, nesting and null': requestWith({
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
  'an empty result': requestWith({
    tools: [WEATHER],
    turns: [
      user('Weather?'),
      { role: 'assistant', parts: [call('call_a1', 'get_weather', { city: 'Oslo' })] },
      { role: 'user', parts: [result('call_a1', ' ')] },
    ],
  }),
  'a schema': requestWith({ format: { type: 'schema', name: 'answer', schema: SCHEMA } }),
  'a schema and a system prompt': requestWith({
    system: ['Reply as JSON.'],
    format: { type: 'schema', name: 'answer', schema: SCHEMA },
  }),
  'low effort': requestWith({ reasoning: { effort: 'low' } }),
  'high effort': requestWith({ reasoning: { effort: 'high' }, max_output_tokens: 30_000 }),
  'effort and tools': requestWith({ reasoning: { effort: 'medium' }, tools: [WEATHER] }),
  'one long answer': requestWith({ turns: [user('Much [[sim tokens=500]]')] }),
  'an answer with characters of several bytes': requestWith({
    turns: [user('Cut [[sim unicode=1 tokens=10 split=40]]')],
  }),
  'an answer with reasoning': requestWith({
    turns: [user('Think [[sim reasoning=20 tokens=20]]')],
  }),
  'an answer that reaches its token limit': requestWith({
    turns: [user('Much [[sim tokens=100]]')],
    max_output_tokens: 10,
  }),
};
