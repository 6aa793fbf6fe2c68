/** Calls of SDKs that make videos. */

import { expect } from 'bun:test';
import { createByteDance } from '@ai-sdk/bytedance';
import { createFal as createFalSdk } from '@ai-sdk/fal';
import { createGoogle } from '@ai-sdk/google';
import { createReplicate } from '@ai-sdk/replicate';
import { createXai } from '@ai-sdk/xai';
import { createFalClient } from '@fal-ai/client';
import RunwayML from '@runwayml/sdk';
import { experimental_generateVideo as generateVideo } from 'ai';
import { bytesOf, download, FILM, PICTURE, PNG, PROMPT, poll, type Row, SOUND } from './sdk-row.ts';

export const VIDEO_ROWS: readonly Row[] = [
  {
    ...{ name: '@ai-sdk/google: video', protocol: 'veo', path: '/google/v1beta' },
    async run({ url, key, fetch: send }) {
      const google = createGoogle({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        model: google.video('veo-3.1-generate-preview'),
        prompt: { text: PROMPT, image: Buffer.from(PNG, 'base64') },
        ...{ aspectRatio: '16:9', resolution: '1280x720', duration: 4, poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'veo-3.1',
      body: { prompt: PROMPT, image: PICTURE, aspect_ratio: '16:9', duration: 4 },
      // One video is the default.
      only_sdk: ['sampleCount'],
    },
  },
  {
    ...{ name: '@ai-sdk/xai: video', protocol: 'xai', path: '/xai/v1' },
    async run({ url, key, fetch: send }) {
      const xai = createXai({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        model: xai.video('grok-imagine-video'),
        prompt: { text: PROMPT, image: Buffer.from(PNG, 'base64') },
        ...{ aspectRatio: '16:9', resolution: '1280x720', duration: 6, poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'grok-imagine-video',
      body: { prompt: PROMPT, image: PICTURE, aspect_ratio: '16:9', duration: 6 },
    },
  },
  {
    ...{ name: '@ai-sdk/bytedance: video', protocol: 'ark', path: '/ark/api/v3' },
    async run({ url, key, fetch: send }) {
      const ark = createByteDance({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        model: ark.video('dreamina-seedance-2-0-260128'),
        ...{ prompt: PROMPT, aspectRatio: '16:9', resolution: '1280x720', duration: 5, seed: 7 },
        providerOptions: { bytedance: { generateAudio: true, pollIntervalMs: 20 } },
        ...{ poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'seedance-2.0',
      body: { prompt: PROMPT, aspect_ratio: '16:9', duration: 5, seed: 7 },
    },
  },
  {
    ...{ name: '@fal-ai/client: queue', protocol: 'fal', path: '/fal', hosts: ['queue.fal.run'] },
    async run({ key, fetch: send }) {
      const client = createFalClient({ credentials: key, fetch: send });
      const { data } = await client.subscribe('fal-ai/veo3.1', {
        ...{ input: { prompt: PROMPT, duration: '4s' }, pollInterval: 20 },
      });
      return [data.video.url];
    },
  },
  {
    ...{ name: '@ai-sdk/fal: video', protocol: 'fal', path: '/fal', hosts: ['queue.fal.run'] },
    async run({ key, fetch: send }) {
      const fal = createFalSdk({ apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        model: fal.video('fal-ai/veo3.1') as never,
        ...{ prompt: PROMPT, aspectRatio: '16:9', duration: 4, seed: 7, poll, download },
        providerOptions: { fal: { resolution: '720p', generate_audio: true } },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'veo-3.1',
      body: { prompt: PROMPT, aspect_ratio: '16:9', duration: 4 },
      only_sdk: ['seed'],
    },
  },
  {
    ...{ name: '@runwayml/sdk: textToVideo', protocol: 'runway', path: '/runway' },
    async run({ url, key, fetch: send }) {
      const client = new RunwayML({ apiKey: key, baseURL: url, fetch: send, maxRetries: 0 });
      const { id } = await client.textToVideo.create({
        ...{ model: 'gen4.5', promptText: PROMPT, ratio: '1280:720', duration: 5 },
      });
      for (;;) {
        const task = await client.tasks.retrieve(id);
        if (task.status === 'SUCCEEDED') return task.output;
        expect(['PENDING', 'RUNNING']).toContain(task.status);
        await Bun.sleep(20);
      }
    },
    same: { model: 'runway-gen4.5', body: { prompt: PROMPT, duration: 5 } },
  },
  {
    ...{ name: '@ai-sdk/google: first and last frame', protocol: 'veo', path: '/google/v1beta' },
    async run({ url, key, fetch: send }) {
      const google = createGoogle({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: google.video('veo-3.1-generate-preview'), prompt: PROMPT },
        frameImages: [
          { image: Buffer.from(PNG, 'base64'), frameType: 'first_frame' },
          { image: Buffer.from(PNG, 'base64'), frameType: 'last_frame' },
        ],
        ...{ resolution: '1920x1080', duration: 8, poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'veo-3.1',
      body: { prompt: PROMPT, start_image: PICTURE, end_image: PICTURE, resolution: '1080p' },
      only_sdk: ['sampleCount'],
    },
  },
  {
    ...{ name: '@ai-sdk/google: references', protocol: 'veo', path: '/google/v1beta' },
    async run({ url, key, fetch: send }) {
      const google = createGoogle({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: google.video('veo-3.1-generate-preview'), prompt: PROMPT },
        inputReferences: [Buffer.from(PNG, 'base64')],
        providerOptions: { google: { negativePrompt: 'fog' } },
        ...{ resolution: '1280x720', duration: 8, poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'veo-3.1',
      body: { prompt: PROMPT, reference_images: [PICTURE], negative_prompt: 'fog' },
      only_sdk: ['sampleCount'],
    },
  },
  {
    ...{ name: '@ai-sdk/xai: edit of a video', protocol: 'xai', path: '/xai/v1' },
    async run({ url, key, fetch: send }) {
      const xai = createXai({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: xai.video('grok-imagine-video'), prompt: PROMPT, poll, download },
        providerOptions: { xai: { mode: 'edit-video', videoUrl: FILM } },
      });
      return bytesOf(videos);
    },
    same: { model: 'grok-imagine-video', body: { prompt: PROMPT, video_url: FILM } },
  },
  {
    ...{ name: '@ai-sdk/xai: references', protocol: 'xai', path: '/xai/v1' },
    async run({ url, key, fetch: send }) {
      const xai = createXai({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: xai.video('grok-imagine-video'), prompt: PROMPT, poll, download },
        ...{ inputReferences: [Buffer.from(PNG, 'base64')], resolution: '1280x720', duration: 6 },
      });
      return bytesOf(videos);
    },
    same: {
      ...{ model: 'grok-imagine-video', body: { prompt: PROMPT, reference_images: [PICTURE] } },
    },
  },
  {
    ...{ name: '@ai-sdk/bytedance: first and last frame', protocol: 'ark', path: '/ark/api/v3' },
    async run({ url, key, fetch: send }) {
      const ark = createByteDance({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: ark.video('dreamina-seedance-2-0-260128'), prompt: PROMPT },
        frameImages: [
          { image: Buffer.from(PNG, 'base64'), frameType: 'first_frame' },
          { image: Buffer.from(PNG, 'base64'), frameType: 'last_frame' },
        ],
        providerOptions: { bytedance: { pollIntervalMs: 20 } },
        ...{ resolution: '1280x720', duration: 5, generateAudio: true, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'seedance-2.0',
      body: { prompt: PROMPT, start_image: PICTURE, end_image: PICTURE },
      // `adaptive` keeps the shape of the first frame.
      only_weir: ['ratio'],
    },
  },
  {
    ...{ name: '@ai-sdk/bytedance: references', protocol: 'ark', path: '/ark/api/v3' },
    async run({ url, key, fetch: send }) {
      const ark = createByteDance({ baseURL: url, apiKey: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: ark.video('dreamina-seedance-2-0-260128'), prompt: PROMPT },
        providerOptions: {
          bytedance: { pollIntervalMs: 20, referenceImages: [PICTURE], referenceAudio: [SOUND] },
        },
        ...{ resolution: '1280x720', duration: 5, generateAudio: true, download },
      });
      return bytesOf(videos);
    },
    same: {
      model: 'seedance-2.0',
      body: {
        ...{ operation: 'reference-to-video', prompt: PROMPT },
        ...{ reference_images: [PICTURE], audio_urls: [SOUND] },
      },
    },
  },
  {
    ...{ name: '@ai-sdk/replicate: video', protocol: 'replicate', path: '/replicate/v1' },
    async run({ url, key, fetch: send }) {
      const replicate = createReplicate({ baseURL: url, apiToken: key, fetch: send });
      const { videos } = await generateVideo({
        ...{ model: replicate.video('google/veo-3.1'), prompt: PROMPT, aspectRatio: '16:9' },
        providerOptions: {
          replicate: { pollIntervalMs: 20, generate_audio: true, resolution: '720p' },
        },
        ...{ duration: 8, poll, download },
      });
      return bytesOf(videos);
    },
    same: {
      ...{ model: 'veo-3.1', body: { prompt: PROMPT, aspect_ratio: '16:9', duration: 8 } },
    },
  },
];
