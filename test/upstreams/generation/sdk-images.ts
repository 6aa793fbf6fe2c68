/** Calls of SDKs that make images. */
import { createBlackForestLabs } from '@ai-sdk/black-forest-labs';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createReplicate } from '@ai-sdk/replicate';
import { createXai } from '@ai-sdk/xai';
import { GoogleGenAI } from '@google/genai';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import Replicate from 'replicate';
import { bytesOf, PICTURE, PNG, PROMPT, type Row } from './sdk-row.ts';

export const IMAGE_ROWS: readonly Row[] = [
  {
    ...{ name: 'openai: images.generate', protocol: 'openai-images', path: '/openai/v1' },
    async run({ url, key, fetch: send }) {
      const client = new OpenAI({ baseURL: url, apiKey: key, fetch: send, maxRetries: 0 });
      const { data = [] } = await client.images.generate({
        ...{ model: 'gpt-image-1', prompt: PROMPT, n: 2, size: '1024x1024', quality: 'low' },
      });
      return data.map(({ b64_json = '' }) => Buffer.from(b64_json, 'base64'));
    },
    same: {
      model: 'gpt-image-1',
      body: { prompt: PROMPT, n: 2, size: '1024x1024', quality: 'low' },
    },
  },
  {
    ...{ name: 'openai: images.edit', protocol: 'openai-images', path: '/openai/v1' },
    async run({ url, key, fetch: send }) {
      const client = new OpenAI({ baseURL: url, apiKey: key, fetch: send, maxRetries: 0 });
      const image = await toFile(Buffer.from(PNG, 'base64'), 'a.png', { type: 'image/png' });
      const both = await client.images.edit({
        ...{ model: 'gpt-image-1', prompt: PROMPT, image: [image, image], mask: image },
      });
      const one = await client.images.edit({ model: 'gpt-image-1', prompt: PROMPT, image });
      return [both, one].flatMap(({ data = [] }) =>
        data.map(({ b64_json = '' }) => Buffer.from(b64_json, 'base64')),
      );
    },
  },
  {
    ...{ name: '@ai-sdk/openai: image', protocol: 'openai-images', path: '/openai/v1' },
    async run({ url, key, fetch: send }) {
      const model = createOpenAI({ baseURL: url, apiKey: key, fetch: send }).image('gpt-image-2');
      const { images } = await generateImage({ model, prompt: PROMPT, size: '1024x1024' });
      return bytesOf(images);
    },
    same: {
      ...{ model: 'gpt-image-2', body: { prompt: PROMPT, size: '1024x1024' } },
      only_weir: ['quality'],
    },
  },
  {
    ...{ name: '@ai-sdk/openai: edit', protocol: 'openai-images', path: '/openai/v1' },
    async run({ url, key, fetch: send }) {
      const model = createOpenAI({ baseURL: url, apiKey: key, fetch: send }).image('gpt-image-2');
      const image = Buffer.from(PNG, 'base64');
      const { images } = await generateImage({
        ...{ model, prompt: { text: PROMPT, images: [image], mask: image } },
      });
      return bytesOf(images);
    },
  },
  {
    ...{ name: '@google/genai: generateContent', protocol: 'gemini', path: '/google' },
    async run({ url, key }) {
      const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
      const { candidates = [] } = await client.models.generateContent({
        model: 'gemini-3-pro-image-preview',
        contents: [{ role: 'user', parts: [{ text: PROMPT }] }],
        config: {
          responseModalities: ['TEXT', 'IMAGE'],
          imageConfig: { aspectRatio: '16:9', imageSize: '1K' },
        },
      });
      return (candidates[0]?.content?.parts ?? []).flatMap(({ inlineData }) =>
        inlineData?.data ? [Buffer.from(inlineData.data, 'base64')] : [],
      );
    },
  },
  {
    ...{ name: '@ai-sdk/google: image', protocol: 'gemini', path: '/google/v1beta' },
    async run({ url, key, fetch: send }) {
      const google = createGoogle({ baseURL: url, apiKey: key, fetch: send });
      const { images } = await generateImage({
        model: google.image('gemini-3-pro-image-preview'),
        prompt: { text: PROMPT, images: [Buffer.from(PNG, 'base64')] },
        aspectRatio: '16:9',
      });
      return bytesOf(images);
    },
    same: {
      model: 'gemini-3-pro-image-preview',
      body: { prompt: PROMPT, aspect_ratio: '16:9', image: PICTURE },
      // Weir also takes a text, and sends the default size.
      ...{ only_sdk: ['responseModalities'], only_weir: ['responseModalities', 'imageSize'] },
    },
  },
  {
    ...{ name: '@ai-sdk/xai: image', protocol: 'xai', path: '/xai/v1' },
    async run({ url, key, fetch: send }) {
      const model = createXai({ baseURL: url, apiKey: key, fetch: send }).image(
        'grok-imagine-image',
      );
      const { images } = await generateImage({ model, prompt: PROMPT, n: 2, aspectRatio: '16:9' });
      return bytesOf(images);
    },
    same: {
      model: 'grok-imagine-image',
      body: { prompt: PROMPT, n: 2, aspect_ratio: '16:9' },
      // Weir downloads the images by their URLs. 1k is the default.
      ...{ only_sdk: ['response_format'], only_weir: ['response_format', 'resolution'] },
    },
  },
  {
    ...{ name: '@ai-sdk/xai: edit of an image', protocol: 'xai', path: '/xai/v1' },
    async run({ url, key, fetch: send }) {
      const model = createXai({ baseURL: url, apiKey: key, fetch: send }).image(
        'grok-imagine-image',
      );
      const { images } = await generateImage({
        ...{ model, prompt: { text: PROMPT, images: [Buffer.from(PNG, 'base64')] } },
      });
      return bytesOf(images);
    },
    same: {
      model: 'grok-imagine-image',
      body: { prompt: PROMPT, image: PICTURE },
      ...{ only_sdk: ['response_format'], only_weir: ['response_format', 'resolution'] },
    },
  },
  {
    ...{ name: '@ai-sdk/black-forest-labs: image', protocol: 'bfl', path: '/bfl/v1' },
    async run({ url, key, fetch: send }) {
      const bfl = createBlackForestLabs({
        ...{ baseURL: url, apiKey: key, fetch: send, pollIntervalMillis: 20 },
      });
      const { images } = await generateImage({
        ...{ model: bfl.image('flux-2-pro'), prompt: PROMPT, size: '1024x1024', seed: 7 },
      });
      return bytesOf(images);
    },
    same: {
      model: 'flux-2-pro',
      body: { prompt: PROMPT, size: '1024x1024', seed: 7 },
      // It has the same ratio as the size.
      only_sdk: ['aspect_ratio'],
    },
  },
  {
    ...{ name: 'replicate: run', protocol: 'replicate', path: '/replicate/v1' },
    async run({ url, key, fetch: send }) {
      const client = new Replicate({ auth: key, baseUrl: url, fetch: send, useFileOutput: false });
      const input = { prompt: PROMPT };
      const wait = { mode: 'poll', interval: 20 } as const;
      const output = await client.run('google/nano-banana', { input, wait });
      return [output].flat().map(String);
    },
  },
  {
    ...{ name: '@ai-sdk/replicate: image', protocol: 'replicate', path: '/replicate/v1' },
    async run({ url, key, fetch: send }) {
      const replicate = createReplicate({ baseURL: url, apiToken: key, fetch: send });
      const { images } = await generateImage({
        ...{ model: replicate.image('black-forest-labs/flux-2-pro'), prompt: PROMPT },
        ...{ aspectRatio: '16:9', seed: 7 },
      });
      return bytesOf(images);
    },
    same: {
      model: 'flux-2-pro',
      body: { prompt: PROMPT, aspect_ratio: '16:9', seed: 7 },
      // One image is the default.
      only_sdk: ['num_outputs'],
    },
  },
];
