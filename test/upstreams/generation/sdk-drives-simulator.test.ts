/**
 * The providers' own SDKs, and the AI SDK's packages for providers, create generations at the simulator:
 * it answers as these packages expect. Where the AI SDK builds the request itself, Weir's request for the
 * same call has the same path and the same body, but for the members that a row names.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createBlackForestLabs } from '@ai-sdk/black-forest-labs';
import { createByteDance } from '@ai-sdk/bytedance';
import { createFal as createFalSdk } from '@ai-sdk/fal';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createReplicate } from '@ai-sdk/replicate';
import { createXai } from '@ai-sdk/xai';
import { createFalClient } from '@fal-ai/client';
import { GoogleGenAI } from '@google/genai';
import RunwayML from '@runwayml/sdk';
import { generateImage, experimental_generateVideo as generateVideo } from 'ai';
import OpenAI, { toFile } from 'openai';
import Replicate from 'replicate';
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import { GENERATION_PROTOCOLS } from '../../../src/upstreams/generation/protocols.ts';
import { generationModel } from '../../support/contracts.ts';
import { type OutgoingRecorder, startOutgoingRecorder } from '../../support/outgoing.ts';
import { type RecordedFetch, recordedFetch } from '../../support/recorded-fetch.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { WITNESSES } from './witnesses.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let recorder: OutgoingRecorder;
beforeAll(async () => {
  simulator = await startSimulator();
  recorder = startOutgoingRecorder();
});
afterAll(async () => {
  await recorder.stop();
  await simulator.stop();
});

const PROMPT = 'A lighthouse in a storm [[sim task_ms=50]]';
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE = `data:image/png;base64,${PNG}`;
const poll = { intervalMs: 20 };
/** The simulator's files are on this machine, which the AI SDK's own download refuses. */
const download = async ({ url }: { url: URL }) => {
  const response = await fetch(url);
  return { data: await response.bytes(), mediaType: 'video/mp4' };
};

interface Call {
  readonly url: string;
  readonly key: string;
  readonly fetch: RecordedFetch['fetch'];
}

/** A call of Weir that means the same as the call of the SDK. */
interface Same {
  readonly model: string;
  readonly body: object;
  /** Members of the SDK's body that Weir does not send, and why the result is the same. */
  readonly only_sdk?: readonly string[];
  /** Members of Weir's body that the SDK does not send. */
  readonly only_weir?: readonly string[];
}

interface Row {
  readonly name: string;
  readonly protocol: GenerationProtocolName;
  readonly path: string;
  readonly hosts?: readonly string[];
  readonly run: (call: Call) => Promise<readonly (Uint8Array | string)[]>;
  readonly same?: Same;
}

const bytesOf = (files: readonly { uint8Array: Uint8Array }[]) =>
  files.map(({ uint8Array }) => uint8Array);

const ROWS: readonly Row[] = [
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
];

async function run(row: Row) {
  const url = simulator.url + row.path;
  const recorded = recordedFetch(url, row.hosts);
  const key = `sim-witness-${row.name.replace(/\W+/g, '-')}`;
  const results = await row.run({ url, key, fetch: recorded.fetch });
  return { results, submissions: recorded.submissions };
}

describe('the simulator answers as the package expects', () => {
  test.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_, row) => {
    const { results } = await run(row);
    expect(results.length).toBeGreaterThan(0);
    for (const result of results) expect(result.length).toBeGreaterThan(20);
  });
});

describe('Weir sends the same request as the package', () => {
  const rows = ROWS.flatMap((row) => (row.same ? [[row.name, row, row.same] as const] : []));
  test.each(rows)('%s', async (_, row, { model, body, only_sdk = [], only_weir = [] }) => {
    const [first] = (await run(row)).submissions;
    const input = generationModel(model).contract.accept({ ...body });
    const { requests } = await recorder.submit(row.protocol, model, input);
    const [method, path, ...text] = (requests[0] ?? '').split(' ');
    expect({ method, path }).toEqual({ method: first?.method, path: first?.path });
    expect(without(JSON.parse(text.join(' ')), only_weir)).toEqual(without(first?.body, only_sdk));
  });
});

test('the table of witnesses has these numbers, and every protocol', () => {
  const counted = WITNESSES.map(({ protocol }) => {
    const rows = ROWS.filter((row) => row.protocol === protocol);
    return { protocol, same: rows.filter(({ same }) => same).length, simulator: rows.length };
  });
  expect(counted).toEqual(
    WITNESSES.map(({ protocol, payloads: { same, simulator: calls } }) => ({
      ...{ protocol, same, simulator: calls },
    })),
  );
  expect(WITNESSES.map(({ protocol }) => protocol).toSorted()).toEqual(
    (Object.keys(GENERATION_PROTOCOLS) as GenerationProtocolName[]).toSorted(),
  );
});

/** Returns a value without these members, at any depth. */
function without(value: unknown, names: readonly string[]): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each: unknown) => (names.includes(name) ? undefined : each)),
  );
}
