/** Answers in the format of OpenAI's responses. */
import { type ChatAnswer, LOCATION, SENT_BY, WEATHER } from './answer.ts';

const RESPONSES = { vendor: 'OpenAI', protocol: 'openai-responses' } as const;
const usage = (
  input_tokens: number,
  cached_tokens: number,
  output_tokens: number,
  reasoning = 0,
) => ({
  ...{ input_tokens, input_tokens_details: { cached_tokens }, output_tokens },
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input_tokens + output_tokens,
});
const response = (status: string, output: object[], counted: object | null, more: object = {}) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1_772_062_769, status, error: null },
  ...{ incomplete_details: null, model: 'gpt-5.3-codex', output, usage: counted },
  ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [], metadata: {}, ...more },
});
const said = (id: string, words: string, phase?: string) => ({
  ...{ id, type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: words }],
  ...(phase === undefined ? {} : { phase }),
});
/** The events of one message. */
const saying = (output_index: number, id: string, words: string, phase?: string) => {
  const at = { output_index, content_index: 0, item_id: id };
  const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
  const item = said(id, words, phase);
  return [
    {
      ...{ type: 'response.output_item.added', output_index },
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part },
    { type: 'response.output_text.delta', ...at, delta: words, logprobs: [] },
    { type: 'response.output_text.done', ...at, text: words, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: { ...part, text: words } },
    { type: 'response.output_item.done', output_index, item },
  ];
};
const numbered = (events: object[]) =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));
const CALL = {
  ...{ id: 'fc_1', type: 'function_call', status: 'completed', name: 'weather' },
  ...{ arguments: LOCATION, call_id: 'call_H5' },
};

const OPENAI: readonly ChatAnswer[] = [
  {
    ...RESPONSES,
    source: `${SENT_BY}/openai/src/responses/__fixtures__/openai-phase.1.json, openai-phase.1.chunks.txt`,
    whole: response(
      'completed',
      [said('msg_1', 'I’ll check. ', 'commentary'), said('msg_2', 'Here.', 'final_answer')],
      usage(7243, 3072, 423, 58),
    ),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      { type: 'response.in_progress', response: response('in_progress', [], null) },
      ...saying(0, 'msg_1', 'I’ll check. ', 'commentary'),
      ...saying(1, 'msg_2', 'Here.', 'final_answer'),
      {
        type: 'response.completed',
        response: response(
          'completed',
          [said('msg_1', 'I’ll check. ', 'commentary'), said('msg_2', 'Here.', 'final_answer')],
          usage(7112, 3072, 463, 64),
        ),
      },
    ]),
    means: {
      ...{ text: 'I’ll check. Here.', finish: 'stop' },
      billed: { input: 4171, cached: 3072, output: 423 },
    },
    stream_billed: { input: 4040, cached: 3072, output: 463 },
  },
  {
    ...RESPONSES,
    source: `${SENT_BY}/azure/src/__fixtures__/azure-tool-call.1.json, azure-tool-call.1.chunks.txt`,
    whole: response('completed', [CALL], usage(45, 0, 18)),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      {
        ...{ type: 'response.output_item.added', output_index: 0 },
        item: { ...CALL, status: 'in_progress', arguments: '' },
      },
      {
        ...{ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0 },
        ...{ delta: LOCATION, obfuscation: 'nWru' },
      },
      {
        ...{ type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 0 },
        arguments: LOCATION,
      },
      { type: 'response.output_item.done', output_index: 0, item: CALL },
      { type: 'response.completed', response: response('completed', [CALL], usage(45, 0, 18)) },
    ]),
    means: { text: '', calls: [WEATHER], finish: 'tool_calls', billed: { input: 45, output: 18 } },
  },
  {
    ...RESPONSES,
    source: `${SENT_BY}/openai/src/responses/__fixtures__/openai-reasoning-encrypted-content.1.json`,
    whole: response(
      'completed',
      [
        {
          ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAA' },
          summary: [{ type: 'summary_text', text: '**Reporting**' }],
        },
        said('msg_1', '570'),
      ],
      usage(100, 0, 30, 20),
    ),
    means: { text: '570', finish: 'stop', billed: { input: 100, output: 30 } },
  },
  {
    ...RESPONSES,
    source: 'openai/openai-openapi: openapi.yaml, response.incomplete',
    whole: response('incomplete', [said('msg_1', 'Once')], usage(11, 0, 16), {
      incomplete_details: { reason: 'max_output_tokens' },
    }),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      ...saying(0, 'msg_1', 'Once'),
      {
        type: 'response.incomplete',
        response: response('incomplete', [said('msg_1', 'Once')], usage(11, 0, 16), {
          incomplete_details: { reason: 'max_output_tokens' },
        }),
      },
    ]),
    means: { text: 'Once', finish: 'length', billed: { input: 11, output: 16 } },
  },
  {
    ...{ vendor: 'xAI', protocol: 'openai-responses' },
    source: `${SENT_BY}/xai/src/responses/__fixtures__/xai-text-streaming.1.chunks.txt`,
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      {
        ...{ type: 'response.output_item.added', output_index: 0 },
        item: { id: 'rs_1', summary: [], type: 'reasoning', status: 'in_progress' },
      },
      {
        ...{ type: 'response.reasoning_summary_part.added', item_id: 'rs_1', output_index: 0 },
        ...{ part: { text: '', type: 'summary_text' }, summary_index: 0 },
      },
      {
        ...{ type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', output_index: 0 },
        ...{ delta: 'First', summary_index: 0 },
      },
      {
        ...{ type: 'response.output_item.done', output_index: 0 },
        item: {
          ...{ id: 'rs_1', type: 'reasoning', status: 'completed' },
          summary: [{ text: 'First', type: 'summary_text' }],
        },
      },
      ...saying(1, 'msg_1', 'Sonoran cuisine'),
      {
        type: 'response.completed',
        response: response('completed', [said('msg_1', 'Sonoran cuisine')], {
          ...{ ...usage(216, 192, 863, 237), num_sources_used: 0, num_server_side_tools_used: 0 },
        }),
      },
    ]),
    means: {
      ...{ text: 'Sonoran cuisine', finish: 'stop' },
      billed: { input: 24, cached: 192, output: 863 },
    },
  },
];

const XAI_BESIDE = usage(4142, 4328, 254);
const XAI: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'xAI', protocol: 'openai-responses' },
    source: `${SENT_BY}/xai/src/responses/convert-xai-responses-usage.test.ts: non-inclusive reporting`,
    whole: response('completed', [said('msg_1', 'Hello')], {
      ...{ ...XAI_BESIDE, total_tokens: 8724 },
    }),
    means: { text: 'Hello', finish: 'stop', billed: { input: 4142, cached: 4328, output: 254 } },
  },
];

export const RESPONSES_ANSWERS: readonly ChatAnswer[] = [...OPENAI, ...XAI];
