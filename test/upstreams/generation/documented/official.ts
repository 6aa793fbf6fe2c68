/** Answers of providers that have a documented interface or an official package. */
import {
  BASE64,
  type DocumentedAnswer,
  FILM,
  fails,
  PICTURE_URL,
  PROVIDER,
  prompt,
  shownBy,
  step,
} from './answer.ts';

const film = (usd: number, more: object = {}) => ({ data: [{ file: true, ...more }], usd });
const image = (usd: number, more: object = {}) => ({ data: [{ file: true, ...more }], usd });

const AI_SDK = 'vercel/ai: packages';

const OPENAI_USAGE = {
  ...{ total_tokens: 100, input_tokens: 50, output_tokens: 50 },
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
};
const OPENAI_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy('openai-images', 'openai/openai-openapi: openapi.yaml, POST /images/generations', {
    ...{ model: 'gpt-image-1', call: { prompt, n: 1, size: '1024x1024' } },
    steps: [step({ created: 1_713_833_628, data: [{ b64_json: BASE64 }], usage: OPENAI_USAGE })],
    // 10 × 5 + 40 × 10 + 50 × 40 USD per million tokens.
    gives: image(0.00245),
  }),
  ...shownBy(
    'openai-images',
    `${AI_SDK}/openai/src/image/__fixtures__/openai-image.json`,
    {
      ...{ model: 'dall-e-3', call: { prompt } },
      steps: [
        step({
          created: 1_770_935_200,
          data: [{ b64_json: BASE64, revised_prompt: 'A tall lighthouse' }],
        }),
      ],
      gives: image(0.04, { revised_prompt: 'A tall lighthouse' }),
    },
    {
      ...{ model: 'gpt-image-1', call: { prompt, size: '1024x1024', quality: 'high' } },
      steps: [
        step({
          ...{ created: 1_770_935_251, background: 'opaque', data: [{ b64_json: BASE64 }] },
          ...{ output_format: 'png', quality: 'high', size: '1024x1024', usage: OPENAI_USAGE },
        }),
      ],
      gives: image(0.00245),
    },
  ),
  ...shownBy('azure-images', 'learn.microsoft.com: Azure OpenAI, Generate images with dall-e', {
    ...{ model: 'dall-e-3', call: { prompt } },
    steps: [
      step({
        created: 1_698_116_662,
        data: [
          {
            ...{ url: PICTURE_URL, revised_prompt: 'A vivid lighthouse' },
            content_filter_results: {
              hate: { filtered: false, severity: 'safe' },
              violence: { filtered: false, severity: 'safe' },
            },
            prompt_filter_results: { jailbreak: { detected: false, filtered: false } },
          },
        ],
      }),
    ],
    gives: image(0.04, { revised_prompt: 'A vivid lighthouse' }),
  }),
];

const candidate = (parts: readonly object[], finishReason = 'STOP') => ({
  content: { parts, role: 'model' },
  finishReason,
});
const INLINE = { inlineData: { mimeType: 'image/png', data: BASE64 } };
const GEMINI_USAGE = { promptTokenCount: 10, candidatesTokenCount: 100, totalTokenCount: 110 };
const GEMINI_IMAGE = { model: 'gemini-2.5-flash-image', call: { prompt } };
const GEMINI_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy('gemini', `${AI_SDK}/google/src/google-image-model.test.ts`, {
    ...{ ...GEMINI_IMAGE, gives: image(0.039) },
    steps: [step({ candidates: [candidate([INLINE])], usageMetadata: GEMINI_USAGE })],
  }),
  ...shownBy(
    'gemini',
    'ai.google.dev/gemini-api/docs/image-generation; ai.google.dev/api/generate-content: FinishReason, BlockReason',
    {
      ...{ ...GEMINI_IMAGE, gives: image(0.039) },
      steps: [
        step({
          candidates: [
            candidate([
              { text: 'A draft', thought: true },
              { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true },
              { text: 'Here is the lighthouse.' },
              { ...INLINE, thoughtSignature: 'c2ln' },
            ]),
          ],
          usageMetadata: {
            ...GEMINI_USAGE,
            candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 100 }],
          },
          ...{ modelVersion: 'gemini-2.5-flash-image', responseId: 'r' },
        }),
      ],
    },
    {
      ...{ ...GEMINI_IMAGE, gives: fails('moderation') },
      steps: [
        step({
          candidates: [{ content: {}, finishReason: 'IMAGE_SAFETY', index: 0 }],
          usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
        }),
      ],
    },
    {
      ...{ ...GEMINI_IMAGE, gives: fails('moderation') },
      steps: [
        step({
          promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
          usageMetadata: { promptTokenCount: 10, totalTokenCount: 10 },
        }),
      ],
    },
    {
      ...{ ...GEMINI_IMAGE, gives: fails('upstream') },
      steps: [step({ candidates: [{ content: {}, finishReason: 'NO_IMAGE', index: 0 }] })],
    },
  ),
];

const OPERATION = 'models/veo-3.1-generate-preview/operations/op-1';
const operation = (more: object) => step({ name: OPERATION, ...more });
const VEO = { model: 'veo-3.1', call: { prompt, duration: 8 } };
const generated = (response: object) =>
  operation({ done: true, response: { generateVideoResponse: response } });
const VEO_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'veo',
    `${AI_SDK}/google/src/google-video-model.test.ts`,
    {
      ...{ ...VEO, gives: film(3.2) },
      steps: [
        operation({ done: false }),
        operation({ done: false }),
        generated({ generatedSamples: [{ video: { uri: FILM } }] }),
      ],
    },
    {
      ...{ ...VEO, gives: fails('upstream') },
      steps: [
        operation({ done: false }),
        operation({
          done: true,
          error: { code: 9, message: 'Video generation failed', status: 'FAILED_PRECONDITION' },
        }),
      ],
    },
  ),
  ...shownBy('veo', 'googleapis/python-genai: google/genai/types.py, GenerateVideosResponse', {
    ...{ ...VEO, gives: fails('moderation') },
    steps: [
      operation({}),
      generated({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['Sensitive words.'] }),
    ],
  }),
];

const XAI_VIDEO = { model: 'grok-imagine-video', call: { prompt, duration: 5 } };
const XAI_ID = step({ request_id: 'req-123' });
const XAI_MODEL = { model: 'grok-imagine-video' };
const xaiVideo = (more: object = {}) => ({
  video: { url: FILM, duration: 5, respect_moderation: true, ...more },
});
const XAI_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'xai',
    `${AI_SDK}/xai/src/xai-video-model.test.ts`,
    {
      ...{ ...XAI_VIDEO, gives: film(0.35, { duration: 5 }) },
      steps: [
        XAI_ID,
        step({ status: 'pending' }, 202),
        step({ status: 'pending', progress: 40 }),
        step({
          ...{ status: 'done', ...xaiVideo(), ...XAI_MODEL, progress: 100 },
          usage: { cost_in_usd_ticks: 4_000_000_000 },
        }),
      ],
    },
    // An answer without a status.
    {
      ...{ ...XAI_VIDEO, gives: film(0.35, { duration: 5 }) },
      steps: [XAI_ID, step({ ...xaiVideo(), ...XAI_MODEL })],
    },
    {
      ...{ ...XAI_VIDEO, gives: fails('upstream') },
      steps: [XAI_ID, step({ status: 'expired', ...XAI_MODEL })],
    },
    {
      ...{ ...XAI_VIDEO, gives: fails('moderation') },
      steps: [
        XAI_ID,
        step({
          ...{ status: 'failed', ...XAI_MODEL, progress: 0 },
          error: { message: 'Content policy violation' },
        }),
      ],
    },
    {
      ...{ ...XAI_VIDEO, gives: fails('upstream') },
      steps: [XAI_ID, step({ status: 'done', video: null, ...XAI_MODEL })],
    },
    {
      ...{ ...XAI_VIDEO, gives: fails('moderation') },
      steps: [
        XAI_ID,
        step({ status: 'done', ...xaiVideo({ url: '', respect_moderation: false }), ...XAI_MODEL }),
      ],
    },
  ),
  ...shownBy(
    'xai',
    `${AI_SDK}/xai/src/xai-image-model.test.ts`,
    {
      ...{ model: 'grok-imagine-image', call: { prompt } },
      steps: [step({ data: [{ b64_json: BASE64, revised_prompt: 'A revised prompt' }] })],
      gives: image(0.02, { revised_prompt: 'A revised prompt' }),
    },
    {
      ...{ model: 'grok-imagine-image', call: { prompt }, gives: fails('moderation') },
      steps: [step({ data: [{ url: null, b64_json: null, respect_moderation: false }] })],
    },
  ),
];

const BFL = { model: 'flux-2-pro', call: { prompt, size: '1024x1024' } };
const BFL_JOB = step({ id: 'req-123', polling_url: `${PROVIDER}/get_result` });
const BFL_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'bfl',
    `${AI_SDK}/black-forest-labs/src/black-forest-labs-image-model.test.ts`,
    {
      ...{ ...BFL, gives: image(0.03) },
      steps: [
        BFL_JOB,
        step({ status: 'Pending' }),
        step({ status: 'Ready', result: { sample: PICTURE_URL } }),
      ],
    },
    {
      ...{ ...BFL, gives: image(0.03) },
      steps: [BFL_JOB, step({ state: 'Ready', result: { sample: PICTURE_URL } })],
    },
  ),
  ...shownBy(
    'bfl',
    'docs.bfl.ai: Image generation; Get result, StatusResponse',
    {
      ...{ ...BFL, gives: image(0.03) },
      steps: [
        step({
          ...{ id: 'req-123', polling_url: `${PROVIDER}/get_result?id=req-123` },
          ...{ cost: 3, input_mp: 0, output_mp: 1.05 },
        }),
        step({
          ...{ id: 'req-123', status: 'Ready', progress: null, details: null, preview: null },
          result: {
            ...{ sample: PICTURE_URL, prompt, seed: 42, start_time: 1_758_116_361.7 },
            ...{ end_time: 1_758_116_370.4, duration: 8.7 },
          },
        }),
      ],
    },
    {
      ...{ ...BFL, gives: fails('moderation') },
      steps: [
        BFL_JOB,
        step({
          ...{ id: 'req-123', status: 'Request Moderated', result: null, progress: null },
          details: { 'Moderation Reasons': ['Protected Content'] },
        }),
      ],
    },
    {
      ...{ ...BFL, gives: fails('moderation') },
      steps: [BFL_JOB, step({ id: 'req-123', status: 'Content Moderated', result: null })],
    },
    {
      ...{ ...BFL, gives: fails('upstream') },
      steps: [BFL_JOB, step({ id: 'req-123', status: 'Error', result: null, details: {} })],
    },
  ),
];

export const OFFICIAL_ANSWERS: readonly DocumentedAnswer[] = [
  ...OPENAI_ANSWERS,
  ...GEMINI_ANSWERS,
  ...VEO_ANSWERS,
  ...XAI_ANSWERS,
  ...BFL_ANSWERS,
];
