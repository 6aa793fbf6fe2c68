/** Answers with work that the provider itself did, which clients of other protocols cannot see. */
import { type ChatAnswer, SENT_BY } from './answer.ts';

const usage = (input_tokens: number, output_tokens: number) => ({
  ...{ input_tokens, input_tokens_details: { cached_tokens: 0 }, output_tokens },
  ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input_tokens + output_tokens },
});
const response = (status: string, output: readonly object[], counted: object | null) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1_764_964_102, status, error: null },
  ...{ incomplete_details: null, model: 'gpt-5-mini', output, usage: counted, metadata: {} },
  ...{ parallel_tool_calls: true, tool_choice: 'auto', tools: [{ type: 'web_search' }] },
});
const numbered = (events: object[]) =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));

const THOUGHT = { id: 'rs_1', type: 'reasoning', summary: [] };
const SEARCH = {
  ...{ id: 'ws_1', type: 'web_search_call', status: 'completed' },
  action: {
    ...{ type: 'search', query: 'tech news' },
    sources: [{ type: 'url', url: 'https://example.com/news' }],
  },
};
const OPENED = {
  ...{ id: 'ws_2', type: 'web_search_call', status: 'completed' },
  action: { type: 'open_page', url: 'https://example.com/news' },
};
const CITATION = {
  ...{ type: 'url_citation', start_index: 0, end_index: 5, title: 'News' },
  url: 'https://example.com/news',
};
const SAID = {
  ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
  content: [{ type: 'output_text', annotations: [CITATION], logprobs: [], text: 'It rains.' }],
};
const AT = { item_id: 'msg_1', output_index: 3, content_index: 0 };
const PART = { type: 'output_text', annotations: [], logprobs: [], text: '' };
const item = (output_index: number, each: object, begun: object = each): object[] => [
  { type: 'response.output_item.added', output_index, item: begun },
  { type: 'response.output_item.done', output_index, item: each },
];
const searching = (output_index: number, item_id: string) =>
  ['in_progress', 'searching', 'completed'].map((state) => ({
    ...{ type: `response.web_search_call.${state}`, output_index, item_id },
  }));

const RESPONSES: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'OpenAI', protocol: 'openai-responses' },
    source: `${SENT_BY}/openai/src/responses/__fixtures__/openai-web-search-tool.1.json, openai-web-search-tool.1.chunks.txt`,
    whole: response('completed', [THOUGHT, SEARCH, OPENED, SAID], usage(900, 120)),
    stream: numbered([
      { type: 'response.created', response: response('in_progress', [], null) },
      { type: 'response.in_progress', response: response('in_progress', [], null) },
      ...item(0, THOUGHT),
      ...item(1, SEARCH, { ...SEARCH, status: 'in_progress' }).toSpliced(
        1,
        0,
        ...searching(1, 'ws_1'),
      ),
      ...item(2, OPENED).toSpliced(1, 0, ...searching(2, 'ws_2')),
      {
        ...{ type: 'response.output_item.added', output_index: 3 },
        item: { ...SAID, status: 'in_progress', content: [] },
      },
      { type: 'response.content_part.added', ...AT, part: PART },
      { type: 'response.output_text.delta', ...AT, delta: 'It rains.', logprobs: [] },
      {
        ...{ type: 'response.output_text.annotation.added', ...AT, annotation_index: 0 },
        annotation: CITATION,
      },
      { type: 'response.output_text.done', ...AT, text: 'It rains.', logprobs: [] },
      { type: 'response.content_part.done', ...AT, part: SAID.content[0] },
      { type: 'response.output_item.done', output_index: 3, item: SAID },
      {
        type: 'response.completed',
        response: response('completed', [THOUGHT, SEARCH, OPENED, SAID], usage(900, 120)),
      },
    ]),
    means: {
      ...{ text: 'It rains.', finish: 'stop' },
      // Opening a page that a search found is free.
      billed: { input: 900, output: 120, searches: 1 },
    },
  },
];

const candidate = (parts: object[], finishReason?: string) => ({
  content: { parts, role: 'model' },
  ...(finishReason === undefined ? {} : { finishReason }),
  index: 0,
});
const USAGE = { promptTokenCount: 20, candidatesTokenCount: 60, totalTokenCount: 80 };
const CODE = { executableCode: { language: 'PYTHON', code: 'print(5117)' } };
const RESULT = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '5117\n' } };
const GROUNDED = {
  groundingMetadata: {
    webSearchQueries: ['UEFA Euro 2024 winner'],
    groundingChunks: [{ web: { uri: 'https://example.com/uefa', title: 'uefa.com' } }],
  },
};
const GOOGLE: readonly ChatAnswer[] = [
  {
    ...{ vendor: 'Google Gemini', protocol: 'gemini' },
    source: 'ai.google.dev/gemini-api/docs: Code execution; Grounding with Google Search',
    whole: {
      candidates: [
        {
          ...candidate([{ text: 'The sum ' }, CODE, RESULT, { text: 'is 5117.' }], 'STOP'),
          ...GROUNDED,
        },
      ],
      usageMetadata: USAGE,
    },
    stream: [
      { candidates: [candidate([{ text: 'The sum ' }])] },
      { candidates: [candidate([CODE])] },
      { candidates: [candidate([RESULT])] },
      {
        candidates: [{ ...candidate([{ text: 'is 5117.' }], 'STOP'), ...GROUNDED }],
        usageMetadata: USAGE,
      },
    ],
    means: { text: 'The sum is 5117.', finish: 'stop', billed: { input: 20, output: 60 } },
  },
];

export const OWN_WORK_ANSWERS: readonly ChatAnswer[] = [...RESPONSES, ...GOOGLE];
