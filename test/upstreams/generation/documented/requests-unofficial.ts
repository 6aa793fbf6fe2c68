/** Requests to providers without an official package. */
import {
  type DocumentedRequest,
  IMAGE,
  INLINE,
  OTHER_IMAGE,
  PNG_BASE64,
  shown,
  VIDEO,
} from './request.ts';

const AI_SDK = 'vercel/ai: packages/klingai/src/klingai-video-model.test.ts';
const prompt = 'A sunset over the ocean';
/** Weir finds a lost task by its own id. */
const OWN_ID = ['external_task_id'];

export const UNOFFICIAL_REQUESTS: readonly DocumentedRequest[] = [
  ...shown(
    'kling',
    AI_SDK,
    {
      path: '/v1/videos/text2video',
      body: {
        ...{ model_name: 'kling-v2-6', prompt, mode: 'std', aspect_ratio: '16:9', duration: '5' },
        ...{ negative_prompt: 'blurry, low quality', sound: 'on', cfg_scale: 0.7 },
        watermark_info: { enabled: true },
      },
      same: {
        ...{ model: 'kling-3.0', more: OWN_ID },
        call: {
          ...{ prompt, aspect_ratio: '16:9', duration: 5, negative_prompt: 'blurry, low quality' },
          // Weir's clients send 0 to 20.
          ...{ output_audio: true, cfg_scale: 14, watermark: true },
        },
      },
    },
    {
      path: '/v1/videos/motion-control',
      body: {
        ...{ model_name: 'kling-v2-6', prompt, image_url: IMAGE, video_url: VIDEO },
        ...{ character_orientation: 'video', mode: 'pro' },
      },
      same: {
        ...{ model: 'kling-3.0-motion-control', more: OWN_ID },
        call: { prompt, image_url: IMAGE, video_url: VIDEO, resolution: '1080p' },
      },
    },
  ),
  ...shown('kling', 'kling-api@1.0.0: dist/operations/video.js, imageToVideo', {
    path: '/v1/videos/image2video',
    body: {
      ...{ model_name: 'kling-v1', image: PNG_BASE64, image_tail: PNG_BASE64, prompt },
      ...{ negative_prompt: 'blurry', cfg_scale: 0.5, mode: 'pro', duration: '5' },
    },
    same: {
      // The package sends Base64, and Weir a URL. Kling takes both.
      ...{ model: 'kling-3.0', more: [...OWN_ID, 'sound', 'image', 'image_tail'] },
      call: {
        ...{ prompt, start_image: IMAGE, end_image: OTHER_IMAGE, negative_prompt: 'blurry' },
        ...{ cfg_scale: 10, resolution: '1080p', duration: 5 },
      },
      not_sent: ['image', 'image_tail'],
    },
  }),
  ...shown('kling', 'kling-api@1.0.0: dist/operations/video.js, extendVideo', {
    path: '/v1/videos/video-extend',
    body: { video_id: 'video-1', prompt, negative_prompt: 'blurry', cfg_scale: 0.5 },
  }),
  ...shown('kling', 'apidoc.cometapi.com: Kling, multi-image2video', {
    path: '/v1/videos/multi-image2video',
    body: {
      ...{ model_name: 'kling-v1-6', duration: '5', prompt },
      image_list: [{ image: IMAGE }, { image: OTHER_IMAGE }],
    },
  }),
  ...shown(
    'ideogram',
    'developer.ideogram.ai: Generate with Ideogram 3.0; @aigne/ideogram@0.4.16: lib/esm/ideogram-image-model.js',
    {
      ...{ path: '/v1/ideogram-v3/generate', form: true },
      body: {
        ...{ prompt, seed: '7', aspect_ratio: '16x9', negative_prompt: 'people' },
        ...{ num_images: '2', rendering_speed: 'DEFAULT' },
      },
      same: {
        ...{ model: 'ideogram-v3', not_sent: ['rendering_speed'] },
        call: { prompt, seed: 7, aspect_ratio: '16:9', negative_prompt: 'people', n: 2 },
      },
    },
    {
      ...{ path: '/v1/ideogram-v3/generate', form: true },
      body: { prompt, resolution: '1024x1024', num_images: '1', style_type: 'GENERAL' },
      same: {
        // Weir sends the ratio of this size, which has this resolution.
        ...{ model: 'ideogram-v3', call: { prompt, size: '1024x1024' } },
        ...{ not_sent: ['style_type', 'resolution'], more: ['aspect_ratio'] },
      },
    },
  ),
  ...shown(
    'stability',
    'litellm-core@1.106.4: litellm/types/llms/stability.py; stability-ai@0.7.0: dist/v2beta/stable-image/generate.js',
    {
      ...{ path: '/v2beta/stable-image/generate/sd3', form: true },
      body: {
        ...{ prompt, model: 'sd3.5-large', negative_prompt: 'people', aspect_ratio: '16:9' },
        ...{ seed: '7', output_format: 'png', mode: 'text-to-image' },
      },
      same: {
        ...{ model: 'stable-diffusion-3.5-large', not_sent: ['mode'] },
        call: {
          ...{ prompt, negative_prompt: 'people', aspect_ratio: '16:9', seed: 7 },
          output_format: 'png',
        },
      },
    },
    {
      ...{ path: '/v2beta/stable-image/generate/ultra', form: true },
      body: { prompt, output_format: 'webp' },
    },
  ),
  ...shown(
    'midjourney',
    'novicezk/midjourney-proxy: SubmitImagineDTO.java, BaseSubmitDTO.java',
    {
      path: '/submit/imagine',
      body: { base64Array: [], prompt: 'Cat --ar 16:9', state: 's', notifyHook: '' },
      same: {
        // QuantumNous/new-api has `botType` too; midjourney-proxy ignores it.
        ...{ model: 'midjourney', not_sent: ['notifyHook', 'state'], more: ['botType', 'state'] },
        call: { prompt: 'Cat', aspect_ratio: '16:9' },
      },
    },
    {
      path: '/submit/imagine',
      body: { prompt: 'Cat', base64Array: [INLINE] },
      same: {
        // No model of the catalogue takes images for Midjourney.
        ...{ model: 'midjourney', more: ['botType', 'state', 'base64Array'] },
        ...{ not_sent: ['base64Array'], call: { prompt: 'Cat' } },
      },
    },
  ),
  ...shown(
    'suno',
    'docs.newapi.pro/api/suno-music; Suno-API/Suno-API: docs/swagger.yaml, SubmitGenSongReq',
    {
      path: '/suno/submit/music',
      body: {
        ...{ prompt: '[Verse]\nWalking', tags: 'emotional punk', mv: 'chirp-v4' },
        title: 'City Lights',
      },
      same: {
        model: 'suno_music',
        call: {
          ...{ prompt: '[Verse]\nWalking', tags: 'emotional punk', mv: 'chirp-v4' },
          title: 'City Lights',
        },
      },
    },
    {
      path: '/suno/submit/music',
      body: { gpt_description_prompt: prompt, make_instrumental: false, mv: 'chirp-v4' },
      same: {
        // False is the default.
        ...{ model: 'suno_music', not_sent: ['make_instrumental'] },
        call: { prompt, mv: 'chirp-v4' },
      },
    },
    {
      path: '/suno/submit/lyrics',
      body: { prompt: 'dance' },
      same: { model: 'suno_lyrics', call: { prompt: 'dance' } },
    },
  ),
];
