/** Requests that the providers' documentation and packages show. */
import {
  type DocumentedRequest,
  FILE,
  IMAGE,
  INLINE,
  OTHER_IMAGE,
  PNG_BASE64,
  shown,
  VIDEO,
} from './request.ts';

const prompt = 'A cute baby sea otter';
const AI_SDK = 'vercel/ai: packages';
const OPENAPI = 'openai/openai-openapi: openapi.yaml';
const GEMINI_DOCS = 'ai.google.dev/gemini-api/docs/image-generation';
const VEO = '/models/veo-3.1-generate-preview:predictLongRunning';
const VEO_DOCS =
  'googleapis/python-genai: google/genai/models.py, _GenerateVideosParameters_to_mldev';
const TASKS = '/contents/generations/tasks';
const arkBody = (content: object[], more: object = {}) => ({
  ...{ model: 'seedance-1-5-pro-251215', content, ...more },
});
const arkImage = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role });

export const OFFICIAL_REQUESTS: readonly DocumentedRequest[] = [
  ...shown('openai-images', `${OPENAPI}, POST /images/generations`, {
    path: '/images/generations',
    body: { model: 'gpt-image-1.5', prompt, n: 1, size: '1024x1024' },
    same: { model: 'gpt-image-1', call: { prompt, n: 1, size: '1024x1024' }, more: ['quality'] },
  }),
  ...shown('openai-images', `${OPENAPI}, POST /images/edits`, {
    ...{ path: '/images/edits', form: true },
    body: { model: 'gpt-image-1.5', 'image[]': [FILE, FILE], prompt, mask: FILE },
    same: {
      ...{ model: 'gpt-image-1', more: ['n', 'size', 'quality'] },
      call: { prompt, image: [INLINE, INLINE], mask: INLINE },
    },
  }),
  ...shown('openai-images', `${AI_SDK}/openai/src/image/openai-image-model.test.ts`, {
    path: '/images/generations',
    body: {
      ...{ model: 'dall-e-3', prompt, n: 1, size: '1024x1024', style: 'vivid' },
      response_format: 'b64_json',
    },
    same: {
      // The spec forbids this member upstream.
      ...{ model: 'dall-e-3', not_sent: ['response_format'], more: ['quality'] },
      call: { prompt, n: 1, size: '1024x1024', style: 'vivid' },
    },
  }),
  ...shown('azure-images', 'learn.microsoft.com: Azure OpenAI, Generate images', {
    path: '/images/generations',
    body: { model: 'gpt-image-1', prompt, n: 1, size: '1024x1024', quality: 'medium' },
    same: {
      model: 'gpt-image-1',
      call: { prompt, n: 1, size: '1024x1024', quality: 'medium' },
    },
  }),
  ...shown(
    'gemini',
    GEMINI_DOCS,
    {
      path: '/models/gemini-2.5-flash-image:generateContent',
      body: { contents: [{ parts: [{ text: prompt }] }] },
      same: {
        ...{ model: 'gemini-2.5-flash-image', call: { prompt } },
        more: ['role', 'generationConfig'],
      },
    },
    {
      path: '/models/gemini-3-pro-image-preview:generateContent',
      body: {
        contents: [
          {
            role: 'user',
            parts: [{ text: prompt }, { inlineData: { mimeType: 'image/png', data: PNG_BASE64 } }],
          },
        ],
        generationConfig: {
          responseModalities: ['TEXT', 'IMAGE'],
          imageConfig: { aspectRatio: '5:4', imageSize: '2K' },
        },
      },
      same: {
        model: 'gemini-3-pro-image-preview',
        call: { prompt, image: INLINE, aspect_ratio: '5:4', resolution: '2k' },
      },
    },
  ),
  ...shown(
    'veo',
    VEO_DOCS,
    {
      path: VEO,
      body: {
        instances: [
          {
            prompt,
            image: { bytesBase64Encoded: PNG_BASE64, mimeType: 'image/png' },
            lastFrame: { bytesBase64Encoded: PNG_BASE64, mimeType: 'image/png' },
          },
        ],
        parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 8 },
      },
      same: {
        model: 'veo-3.1',
        call: {
          ...{ prompt, start_image: INLINE, end_image: INLINE, aspect_ratio: '16:9' },
          ...{ resolution: '720p', duration: 8 },
        },
      },
    },
    {
      path: VEO,
      body: {
        instances: [
          {
            prompt,
            referenceImages: [
              {
                image: { bytesBase64Encoded: PNG_BASE64, mimeType: 'image/png' },
                referenceType: 'asset',
              },
            ],
          },
        ],
        parameters: { durationSeconds: 8, negativePrompt: 'cartoon' },
      },
      same: {
        ...{ model: 'veo-3.1', more: ['aspectRatio', 'resolution'] },
        call: { prompt, reference_images: [INLINE], duration: 8, negative_prompt: 'cartoon' },
      },
    },
  ),
  ...shown(
    'xai',
    `${AI_SDK}/xai/src/xai-video-model.test.ts; docs.x.ai: Video generations`,
    {
      path: '/videos/generations',
      body: {
        ...{ model: 'grok-imagine-video', prompt, duration: 10, aspect_ratio: '16:9' },
        resolution: '720p',
      },
      same: {
        model: 'grok-imagine-video',
        call: { prompt, duration: 10, aspect_ratio: '16:9', resolution: '720p' },
      },
    },
    {
      path: '/videos/generations',
      body: { model: 'grok-imagine-video', prompt, image: { url: IMAGE }, duration: 5 },
      same: {
        ...{ model: 'grok-imagine-video', more: ['aspect_ratio', 'resolution'] },
        call: { prompt, image_url: IMAGE, duration: 5 },
      },
    },
    {
      path: '/videos/generations',
      body: {
        ...{ model: 'grok-imagine-video', prompt, duration: 5 },
        reference_images: [{ url: IMAGE }, { url: OTHER_IMAGE }],
      },
      same: {
        ...{ model: 'grok-imagine-video', more: ['aspect_ratio', 'resolution'] },
        call: { prompt, reference_images: [IMAGE, OTHER_IMAGE], duration: 5 },
      },
    },
    {
      path: '/videos/edits',
      body: { model: 'grok-imagine-video', prompt, video: { url: VIDEO } },
      same: { model: 'grok-imagine-video', call: { prompt, video_url: VIDEO } },
    },
    {
      path: '/videos/extensions',
      body: { model: 'grok-imagine-video', prompt, video: { url: VIDEO }, duration: 6 },
    },
  ),
  ...shown(
    'bfl',
    'docs.bfl.ai: Image generation; @ai-sdk/black-forest-labs tests',
    {
      path: '/flux-2-pro',
      body: { prompt, width: 1024, height: 768, seed: 42, output_format: 'jpeg' },
      same: {
        model: 'flux-2-pro',
        call: { prompt, size: '1024x768', seed: 42, output_format: 'jpeg' },
      },
    },
    {
      path: '/flux-kontext-pro',
      body: { prompt, input_image: PNG_BASE64, aspect_ratio: '16:9' },
    },
  ),
  ...shown(
    'ark',
    `${AI_SDK}/bytedance/src/bytedance-video-model.test.ts; docs.byteplus.com: Create a video generation task`,
    {
      path: TASKS,
      body: arkBody([{ type: 'text', text: prompt }], {
        ...{ ratio: '16:9', duration: 5, resolution: '480p', seed: 7, watermark: false },
        generate_audio: true,
      }),
      same: {
        model: 'seedance-2.0',
        call: {
          ...{ prompt, aspect_ratio: '16:9', duration: 5, resolution: '480p', seed: 7 },
          ...{ watermark: false, output_audio: true },
        },
      },
    },
    {
      path: TASKS,
      body: arkBody([
        { type: 'text', text: prompt },
        arkImage(IMAGE, 'first_frame'),
        arkImage(OTHER_IMAGE, 'last_frame'),
      ]),
      same: {
        ...{ model: 'seedance-2.0', call: { prompt, start_image: IMAGE, end_image: OTHER_IMAGE } },
        more: ['ratio', 'duration', 'resolution', 'generate_audio', 'watermark'],
      },
    },
    {
      path: TASKS,
      body: arkBody([
        { type: 'text', text: prompt },
        arkImage(IMAGE, 'reference_image'),
        arkImage(OTHER_IMAGE, 'reference_image'),
      ]),
      same: {
        ...{ model: 'seedance-2.0', call: { prompt, reference_images: [IMAGE, OTHER_IMAGE] } },
        more: ['ratio', 'duration', 'resolution', 'generate_audio', 'watermark'],
      },
    },
  ),
  ...shown(
    'runway',
    'runwayml/sdk-node: tests/api-resources, README.md',
    {
      path: '/v1/text_to_video',
      body: { duration: 5, model: 'gen4.5', promptText: prompt, ratio: '1280:720' },
      same: { model: 'runway-gen4.5', call: { prompt, duration: 5, aspect_ratio: '16:9' } },
    },
    {
      path: '/v1/image_to_video',
      body: {
        ...{ duration: 5, model: 'gen4.5', promptImage: IMAGE, promptText: prompt, seed: 7 },
        ratio: '1280:720',
      },
      same: {
        model: 'runway-gen4.5',
        call: { prompt, image_url: IMAGE, duration: 5, aspect_ratio: '16:9', seed: 7 },
      },
    },
  ),
  ...shown('fal', `${AI_SDK}/fal/src/fal-image-model.test.ts`, {
    path: '/fal-ai/flux-2-pro',
    body: { prompt, seed: 123, image_size: { width: 1024, height: 1024 }, num_images: 1 },
    same: {
      ...{ model: 'flux-2-pro', call: { prompt, seed: 123, size: '1024x1024' } },
      // One image is the default.
      not_sent: ['num_images'],
    },
  }),
  ...shown('replicate', `${AI_SDK}/replicate/src/replicate-image-model.test.ts`, {
    path: '/models/black-forest-labs/flux-2-pro/predictions',
    body: { input: { prompt, aspect_ratio: '3:4', seed: 123, num_outputs: 1 } },
    same: {
      ...{ model: 'flux-2-pro', call: { prompt, aspect_ratio: '3:4', seed: 123 } },
      not_sent: ['num_outputs'],
    },
  }),
];
