/** Answers of providers that host the models of others: Ark, fal, Runway, Replicate. */
import {
  type DocumentedAnswer,
  FILES,
  FILM,
  fails,
  PICTURE_URL,
  PROVIDER,
  prompt,
  shownBy,
  step,
} from './answer.ts';

const AI_SDK = 'vercel/ai: packages';
const one = (usd: number, more: object = {}) => ({ data: [{ file: true, ...more }], usd });

const ARK = { model: 'seedance-2.0', call: { prompt, duration: 5, resolution: '480p' } };
const ARK_JOB = step({ id: 'cgt-1' });
const arkTask = (status: string, more: object = {}) =>
  step({ id: 'cgt-1', model: 'seedance-1-0-pro-250528', status, ...more });
const ARK_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy('ark', `${AI_SDK}/bytedance/src/bytedance-video-model.test.ts`, {
    ...{ ...ARK, gives: one(0.6725) },
    steps: [
      ARK_JOB,
      arkTask('succeeded', { content: { video_url: FILM }, usage: { completion_tokens: 100 } }),
    ],
  }),
  ...shownBy(
    'ark',
    'docs.byteplus.com/en/docs/ModelArk/1521309: Retrieve a video generation task; Error codes',
    {
      ...{ ...ARK, gives: one(0.6725, { duration: 5 }) },
      steps: [
        ARK_JOB,
        arkTask('queued'),
        arkTask('running'),
        arkTask('succeeded', {
          ...{ content: { video_url: FILM }, created_at: 1_743_414_619, updated_at: 1_743_414_673 },
          ...{ usage: { completion_tokens: 108_900, total_tokens: 108_900 }, seed: 58_944 },
          ...{ resolution: '480p', ratio: '16:9', duration: 5, framespersecond: 24 },
        }),
      ],
    },
    {
      ...{ ...ARK, gives: fails('moderation') },
      steps: [
        ARK_JOB,
        arkTask('failed', {
          error: {
            code: 'OutputVideoSensitiveContentDetected',
            message:
              'The request failed because the output video may contain sensitive information.',
          },
        }),
      ],
    },
    {
      ...{ ...ARK, gives: fails('upstream') },
      steps: [
        ARK_JOB,
        arkTask('failed', { error: { code: 'InternalServiceError', message: 'Internal error.' } }),
      ],
    },
  ),
];

const QUEUE = {
  ...{ request_id: 'r-1', response_url: `${PROVIDER}/fal-ai/m/requests/r-1` },
  ...{ status_url: `${PROVIDER}/fal-ai/m/requests/r-1/status` },
  cancel_url: `${PROVIDER}/fal-ai/m/requests/r-1/cancel`,
};
const QUEUED = step({ status: 'IN_QUEUE', queue_position: 0, ...QUEUE });
const falLog = { message: 'step 1', level: 'INFO', source: 'USER', timestamp: '2026-01-01' };
const IN_PROGRESS = step({ status: 'IN_PROGRESS', ...QUEUE, logs: [falLog] }, 202);
const COMPLETED = step({
  ...{ status: 'COMPLETED', ...QUEUE, logs: [falLog], metrics: { inference_time: 3.7 } },
});
const FAL = '@fal-ai/client@1.10.1: src/types/common.d.ts, QueueStatus';
const FAL_VIDEO = { model: 'grok-imagine-video', call: { prompt, duration: 5 } };
const FAL_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'fal',
    `${FAL}; ${AI_SDK}/fal/src/fal-video-model.test.ts, fal-image-model.test.ts`,
    {
      ...{ ...FAL_VIDEO, gives: one(0.35, { duration: 5, width: 1920, height: 1080 }) },
      steps: [
        QUEUED,
        step({ status: 'IN_QUEUE', queue_position: 2, ...QUEUE }, 202),
        IN_PROGRESS,
        COMPLETED,
        step({
          video: {
            ...{ url: FILM, width: 1920, height: 1080, duration: 5.0, fps: 24 },
            content_type: 'video/mp4',
          },
          ...{ seed: 12_345, timings: { inference: 45.5 } },
        }),
      ],
    },
    {
      ...{ model: 'flux-2-pro', call: { prompt, size: '1024x1024' }, gives: one(0.03) },
      steps: [
        QUEUED,
        COMPLETED,
        step({
          images: [
            {
              ...{ url: PICTURE_URL, width: 1024, height: 1024, content_type: 'image/png' },
              ...{ file_data: '<data>', file_size: 123, file_name: 'x.png' },
            },
          ],
          ...{ prompt, seed: 123, has_nsfw_concepts: [false], debug_latents: null },
        }),
      ],
    },
    // The result is not ready, although the status is COMPLETED.
    {
      ...{ ...FAL_VIDEO, gives: one(0.35, { duration: 5, width: 1280, height: 720 }) },
      steps: [
        QUEUED,
        COMPLETED,
        step({ detail: 'Request is still in progress' }, 500),
        COMPLETED,
        step({ video: { url: FILM, width: 1280, height: 720, duration: 5.0 }, seed: 67_890 }),
      ],
    },
    {
      ...{ model: 'trellis', gives: one(0.02) },
      call: { image_url: 'https://example.com/a.png' },
      steps: [
        QUEUED,
        COMPLETED,
        step({
          model_mesh: {
            ...{ url: `${FILES}/1.glb`, content_type: 'model/gltf-binary', file_size: 1000 },
            file_name: '1.glb',
          },
          timings: { prepare: 2.1, generation: 9.5, export: 7.9 },
        }),
      ],
    },
  ),
  ...shownBy('fal', 'docs.fal.ai: Model API errors', {
    ...{ ...FAL_VIDEO, gives: fails('moderation') },
    steps: [
      QUEUED,
      COMPLETED,
      step(
        {
          detail: [
            {
              ...{ loc: ['body', 'prompt'], type: 'content_policy_violation' },
              msg: 'The content could not be processed because it was flagged by a content checker.',
              url: 'https://docs.fal.ai/errors#content_policy_violation',
            },
          ],
        },
        422,
      ),
    ],
  }),
];

const RUNWAY_ID = '17f20503-6c24-4c16-946b-35dbbce2af2f';
const runwayTask = (status: string, more: object = {}) =>
  step({ id: RUNWAY_ID, createdAt: '2024-06-27T19:49:32.334Z', status, ...more });
const RUNWAY = { model: 'runway-gen4.5', call: { prompt, duration: 5 } };
const RUNWAY_ANSWERS: readonly DocumentedAnswer[] = [
  ...shownBy(
    'runway',
    'runwayml/sdk-node: src/resources/tasks.ts; docs.dev.runwayml.com: Task failures',
    {
      ...{ ...RUNWAY, gives: one(0.6) },
      steps: [step({ id: RUNWAY_ID }), runwayTask('SUCCEEDED', { output: [FILM] })],
    },
    {
      ...{ ...RUNWAY, gives: fails('moderation') },
      steps: [
        step({ id: RUNWAY_ID }),
        runwayTask('FAILED', { failure: 'Text moderated.', failureCode: 'SAFETY.INPUT.TEXT' }),
      ],
    },
    {
      ...{ ...RUNWAY, gives: fails('input') },
      steps: [
        step({ id: RUNWAY_ID }),
        runwayTask('FAILED', { failure: 'Bad asset.', failureCode: 'ASSET.INVALID' }),
      ],
    },
    {
      ...{ ...RUNWAY, gives: fails('upstream') },
      steps: [
        step({ id: RUNWAY_ID }),
        runwayTask('FAILED', {
          ...{ failure: 'An internal error.', failureCode: 'INTERNAL.BAD_OUTPUT.CODE01' },
        }),
      ],
    },
    {
      ...{ ...RUNWAY, gives: fails('upstream') },
      steps: [step({ id: RUNWAY_ID }), runwayTask('CANCELLED')],
    },
  ),
];

const prediction = (status: string, more: object = {}) => ({
  ...{ id: 's7x1e3dcmhrmc0cm8rbatcneec', model: 'black-forest-labs/flux-schnell' },
  ...{ version: 'dp-4d0bcc01', input: { prompt }, logs: '', data_removed: false, error: null },
  ...{ output: null, status, created_at: '2025-01-08T13:24:38.692Z' },
  urls: { get: `${PROVIDER}/predictions/s7`, cancel: `${PROVIDER}/predictions/s7/cancel` },
  ...more,
});
const FLUX = { model: 'flux-2-pro', call: { prompt, size: '1024x1024' } };
const REPLICATE_ANSWERS: readonly DocumentedAnswer[] = shownBy(
  'replicate',
  `${AI_SDK}/replicate/src/replicate-image-model.test.ts, replicate-video-model.test.ts`,
  {
    ...{ ...FLUX, gives: one(0.03) },
    steps: [
      step(prediction('starting'), 201),
      step(prediction('processing')),
      step(prediction('succeeded', { output: [PICTURE_URL], metrics: { predict_time: 2.1 } })),
    ],
  },
  {
    ...{ ...FLUX, gives: one(0.03) },
    steps: [step(prediction('starting')), step(prediction('succeeded', { output: PICTURE_URL }))],
  },
  {
    ...{ model: 'veo-3.1-fast', call: { prompt, duration: 8 }, gives: one(0.8) },
    steps: [step(prediction('starting')), step(prediction('succeeded', { output: FILM }))],
  },
  {
    ...{ ...FLUX, gives: fails('upstream') },
    steps: [
      step(prediction('starting')),
      step(prediction('failed', { error: 'GPU out of memory' })),
    ],
  },
  {
    ...{ ...FLUX, gives: fails('upstream') },
    steps: [step(prediction('starting')), step(prediction('canceled'))],
  },
);

export const HOSTED_ANSWERS: readonly DocumentedAnswer[] = [
  ...ARK_ANSWERS,
  ...FAL_ANSWERS,
  ...RUNWAY_ANSWERS,
  ...REPLICATE_ANSWERS,
];
