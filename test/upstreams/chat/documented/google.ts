/** Answers in Google's format. */
import { type ChatAnswer, SENT_BY, WEATHER } from './answer.ts';

const GEMINI = { vendor: 'Google Gemini', protocol: 'gemini' } as const;
const candidate = (parts: object[], finishReason?: string, more: object = {}) => ({
  content: { parts, role: 'model' },
  ...(finishReason === undefined ? {} : { finishReason }),
  ...{ index: 0, ...more },
});
const geminiAnswer = (each: object, prompt: number, said: number, thought: number) => ({
  candidates: [each],
  usageMetadata: {
    ...{ promptTokenCount: prompt, candidatesTokenCount: said },
    totalTokenCount: prompt + said + thought,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: prompt }],
    thoughtsTokenCount: thought,
  },
  ...{ modelVersion: 'gemini-3-pro-preview', responseId: 'Un6LacrVMcjUxs0PmJfWoQc' },
});
const TRAFFIC = {
  usageMetadata: { trafficType: 'PROVISIONED_THROUGHPUT' },
  ...{ modelVersion: 'gemini-3-flash-preview', responseId: '_vr4aYiWEJnYodAPkujX0QM' },
};
export const GOOGLE_ANSWERS: readonly ChatAnswer[] = [
  {
    ...GEMINI,
    source: `${SENT_BY}/google/src/__fixtures__/google-text.json, google-text.chunks.txt`,
    whole: geminiAnswer(
      candidate([{ text: 'There are **3**.', thoughtSignature: 'EtoF' }], 'STOP'),
      ...([9, 28, 244] as const),
    ),
    stream: [
      geminiAnswer(candidate([{ text: 'There are' }]), 9, 5, 185),
      geminiAnswer(candidate([{ text: ' **3**.' }]), 9, 23, 185),
      geminiAnswer(candidate([{ text: '', thoughtSignature: 'EqsF' }], 'STOP'), 9, 23, 185),
    ],
    means: { text: 'There are **3**.', finish: 'stop', billed: { input: 9, output: 272 } },
    stream_billed: { input: 9, output: 208 },
  },
  {
    ...GEMINI,
    source: `${SENT_BY}/google/src/__fixtures__/google-tool-call-gemini3.json, google-tool-call-gemini3.chunks.txt`,
    whole: geminiAnswer(
      candidate(
        [
          {
            functionCall: { name: 'weather', args: { location: 'San Francisco' } },
            thoughtSignature: 'Eqo+',
          },
        ],
        'STOP',
        { finishMessage: 'Model generated function call(s).' },
      ),
      ...([29, 15, 1801] as const),
    ),
    stream: [
      geminiAnswer(
        candidate([
          {
            functionCall: { name: 'weather', args: { location: 'San Francisco' } },
            thoughtSignature: 'EpEg',
          },
        ]),
        ...([29, 15, 804] as const),
      ),
      geminiAnswer(candidate([{ text: '' }], 'STOP'), 29, 15, 804),
    ],
    means: {
      text: '',
      calls: [WEATHER],
      finish: 'tool_calls',
      billed: { input: 29, output: 1816 },
    },
    stream_billed: { input: 29, output: 819 },
  },
  {
    ...{ vendor: 'Google Vertex AI', protocol: 'vertex' },
    source: `${SENT_BY}/google/src/__fixtures__/google-stream-no-args-tool-call.chunks.txt`,
    stream: [
      {
        candidates: [
          { content: { role: 'model', parts: [{ text: '**Processing**', thought: true }] } },
        ],
        ...TRAFFIC,
      },
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [{ functionCall: { name: 'weather' }, thoughtSignature: 'AY89' }],
            },
          },
        ],
        ...TRAFFIC,
      },
      {
        ...TRAFFIC,
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          ...{ promptTokenCount: 249, candidatesTokenCount: 58, totalTokenCount: 490 },
          ...{ trafficType: 'PROVISIONED_THROUGHPUT', thoughtsTokenCount: 183 },
        },
      },
    ],
    means: {
      ...{ text: '', calls: [['weather', {}]], finish: 'tool_calls' },
      billed: { input: 249, output: 241 },
    },
  },
  {
    ...GEMINI,
    source:
      'ai.google.dev/gemini-api/docs/caching; ai.google.dev/api/generate-content: UsageMetadata',
    whole: {
      candidates: [candidate([{ text: 'Long' }], 'MAX_TOKENS')],
      usageMetadata: {
        ...{ promptTokenCount: 696_219, cachedContentTokenCount: 696_190 },
        ...{ candidatesTokenCount: 214, totalTokenCount: 696_433 },
        cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 696_190 }],
      },
    },
    means: {
      ...{ text: 'Long', finish: 'length' },
      billed: { input: 29, cached: 696_190, output: 214 },
    },
  },
];
