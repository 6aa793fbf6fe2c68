/** Answers that end in a rare way, and answers with work of the provider itself. */
import { type ChatAnswer, chunk, completion, SENT_BY } from './answer.ts';

const count = (prompt_tokens: number, completion_tokens: number) => ({
  ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});

/** A chat completion that ends with a reason, whole and streamed. */
const ended = (
  from: Pick<ChatAnswer, 'vendor' | 'protocol' | 'dialect' | 'source'>,
  reason: string,
  finish: ChatAnswer['means']['finish'],
): ChatAnswer => ({
  ...from,
  whole: completion({ content: 'Once' }, reason, count(12, 4)),
  stream: [
    chunk({ role: 'assistant', content: 'Once' }),
    chunk({ content: '' }, reason, { usage: count(12, 4) }),
  ],
  means: { text: 'Once', finish, billed: { input: 12, output: 4 } },
});

const MISTRAL = {
  ...({ vendor: 'Mistral', protocol: 'openai', dialect: 'mistral' } as const),
  source: 'mistralai/platform-docs-public: openapi-public-doc.yaml, ChatCompletionChoice',
};
const COMPATIBLE: readonly ChatAnswer[] = [
  ended(MISTRAL, 'model_length', 'length'),
  ended(MISTRAL, 'error', 'length'),
  ended(
    {
      ...{ vendor: 'DeepSeek', protocol: 'openai', dialect: 'deepseek' },
      source: 'api-docs.deepseek.com: Create chat completion, finish_reason',
    },
    'insufficient_system_resource',
    'length',
  ),
  ended(
    {
      ...{ vendor: 'Azure OpenAI', protocol: 'azure-openai' },
      source: 'learn.microsoft.com: Azure OpenAI, Content filtering',
    },
    'content_filter',
    'content_filter',
  ),
];

const candidate = (finishReason: string, parts: object[] = []) => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 2, totalTokenCount: 10 },
});
const GEMINI = {
  ...({ vendor: 'Google Gemini', protocol: 'gemini' } as const),
  source: 'googleapis/python-genai: google/genai/types.py, FinishReason; BlockedReason',
};
const GOOGLE: readonly ChatAnswer[] = [
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'].map(
    (reason): ChatAnswer => ({
      ...GEMINI,
      whole: candidate(reason, [{ text: 'On' }]),
      stream: [candidate(reason, [{ text: 'On' }])],
      means: { text: 'On', finish: 'content_filter', billed: { input: 8, output: 2 } },
    }),
  ),
  {
    ...GEMINI,
    whole: candidate('OTHER', [{ text: 'On' }]),
    means: { text: 'On', finish: 'stop', billed: { input: 8, output: 2 } },
  },
];

const CLAUDE = { vendor: 'Anthropic', protocol: 'anthropic' } as const;
const message = (content: object[], stop_reason: string | null, usage: object) => ({
  ...{ model: 'claude-sonnet-4', id: 'msg_1', type: 'message', role: 'assistant' },
  ...{ content, stop_reason, stop_sequence: null, usage },
});
const USED = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search' };
const FOUND = {
  ...{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1' },
  content: [
    {
      ...{ type: 'web_search_result', title: 'News', url: 'https://example.com/news' },
      ...{ encrypted_content: 'EuAd', page_age: null },
    },
  ],
};
const CITED = {
  ...{ type: 'text', text: 'It rains.' },
  citations: [
    {
      ...{ type: 'web_search_result_location', cited_text: 'rain', title: 'News' },
      ...{ url: 'https://example.com/news', encrypted_index: 'Eo8B' },
    },
  ],
};
const SEARCHED = { web_search_requests: 1, web_fetch_requests: 0 };
const ANTHROPIC: readonly ChatAnswer[] = [
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-web-search-tool.1.json, anthropic-web-search-tool.1.chunks.txt`,
    whole: message([{ ...USED, input: { query: 'news' } }, FOUND, CITED], 'end_turn', {
      ...{ input_tokens: 15_665, output_tokens: 795, server_tool_use: SEARCHED },
    }),
    stream: [
      {
        type: 'message_start',
        message: message([], null, { input_tokens: 2037, output_tokens: 1 }),
      },
      { type: 'content_block_start', index: 0, content_block: { ...USED, input: {} } },
      {
        ...{ type: 'content_block_delta', index: 0 },
        delta: { type: 'input_json_delta', partial_json: '{"query": "news"}' },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: FOUND },
      { type: 'content_block_stop', index: 1 },
      {
        ...{ type: 'content_block_start', index: 2 },
        content_block: { type: 'text', text: '', citations: [] },
      },
      {
        ...{ type: 'content_block_delta', index: 2 },
        delta: { type: 'citations_delta', citation: CITED.citations[0] },
      },
      {
        ...{ type: 'content_block_delta', index: 2 },
        delta: { type: 'text_delta', text: 'It rains.' },
      },
      { type: 'content_block_stop', index: 2 },
      {
        ...{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } },
        usage: { input_tokens: 15_665, output_tokens: 795, server_tool_use: SEARCHED },
      },
      { type: 'message_stop' },
    ],
    means: {
      ...{ text: 'It rains.', finish: 'stop' },
      billed: { input: 15_665, output: 795, searches: 1 },
    },
  },
  {
    ...CLAUDE,
    source: 'platform.claude.com/docs/en/build-with-claude/handling-stop-reasons',
    whole: message([{ type: 'text', text: 'Full' }], 'model_context_window_exceeded', {
      ...{ input_tokens: 9, output_tokens: 3 },
    }),
    means: { text: 'Full', finish: 'length', billed: { input: 9, output: 3 } },
  },
  {
    ...CLAUDE,
    source: `${SENT_BY}/anthropic/src/__fixtures__/anthropic-compaction.1.json`,
    whole: message([{ type: 'compaction', content: '## Summary' }, CITED], 'end_turn', {
      ...{ input_tokens: 682, output_tokens: 1320, cache_read_input_tokens: 0 },
      iterations: [
        { type: 'compaction', input_tokens: 60_385, output_tokens: 592 },
        { type: 'message', input_tokens: 682, output_tokens: 1320 },
      ],
    }),
    // The compaction is not in the counts of the message, and Anthropic bills it.
    means: { text: 'It rains.', finish: 'stop', billed: { input: 61_067, output: 1912 } },
  },
];

export const RARE_ANSWERS: readonly ChatAnswer[] = [...COMPATIBLE, ...GOOGLE, ...ANTHROPIC];
