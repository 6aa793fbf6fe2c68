/**
 * Embeddings, images, speech, transcription and video through the AI SDK (ai 7.0.173), on models of
 * several vendors. What a vendor's package requests and Weir does not offer is refused in the format
 * that the package decodes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createXai } from '@ai-sdk/xai';
import {
  APICallError,
  embedMany,
  generateImage,
  generateSpeech,
  experimental_generateVideo as generateVideo,
  transcribe,
} from 'ai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let openai: ReturnType<typeof createOpenAI>;
let compatible: ReturnType<typeof createOpenAICompatible>;
let google: ReturnType<typeof createGoogle>;
let xai: ReturnType<typeof createXai>;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  const access = { baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key };
  openai = createOpenAI(access);
  compatible = createOpenAICompatible({ ...access, name: 'weir' });
  xai = createXai(access);
  google = createGoogle({ baseURL: `${weir.base_url}/v1beta`, apiKey: weir.api_key });
});
afterAll(() => weir.stop());

const SOON = '[[sim task_ms=200]]';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('embedMany', () => {
  test.each([
    ['text-embedding-3-small', 1_536],
    ['gemini-embedding-001', 3_072],
  ])('of %s has %i numbers, through both packages', async (id, length) => {
    for (const model of [openai.embedding(id), compatible.embeddingModel(id)]) {
      const { embeddings, usage } = await embedMany({ model, values: ['One', 'Two', 'Three'] });
      expect(embeddings.map((each) => each.length)).toEqual([length, length, length]);
      expect(usage.tokens).toBeGreaterThan(2);
    }
  });
});

describe('generateImage', () => {
  test.each(['dall-e-3', 'grok-imagine-image', 'gemini-2.5-flash-image', 'flux-1.1-pro'])(
    'makes images of %s, through three packages',
    async (id) => {
      for (const model of [openai.image(id), compatible.imageModel(id), xai.image(id)]) {
        const { image } = await generateImage({ model, prompt: `A ship ${SOON}` });
        expect(image.mediaType).toBe('image/png');
      }
    },
  );
});

describe('generateSpeech', () => {
  test.each([
    ['tts-1', 'mp3', 'audio/mpeg'],
    ['gemini-2.5-flash-preview-tts', 'wav', 'audio/wav'],
  ])('of %s makes %s', async (id, outputFormat, mediaType) => {
    const { audio } = await generateSpeech({
      ...{ model: openai.speech(id), text: 'Hello', outputFormat },
      ...(id.startsWith('gemini') ? { voice: 'Kore' } : {}),
    });
    expect(audio.mediaType).toBe(mediaType);
    expect(audio.uint8Array.length).toBeGreaterThan(1_000);
  });
});

describe('transcribe', () => {
  const audio = new Uint8Array(64_000);
  audio.set(Buffer.from('RIFF\0\0\0\0WAVEfmt '));

  test('returns the text with its times', async () => {
    const model = openai.transcription('whisper-1');
    const heard = await transcribe({ model, audio });
    expect(heard).toMatchObject({ language: 'de', durationInSeconds: 4 });
    expect(heard.text.length).toBeGreaterThan(5);
    expect(heard.segments).toMatchObject([{ startSecond: 0, endSecond: 4 }]);
  });

  test('of another kind of model is refused with the path that the client requested', async () => {
    const model = openai.transcription('gemini-2.5-flash');
    const failure = await failureOf(transcribe({ model, audio, maxRetries: 0 }));
    expect(failure.message).toContain('is not available on /v1/audio/transcriptions.');
    expect(refusalIn(failure)).toMatchObject({
      ...{ param: 'model', hint: expect.stringContaining('/v1/chat/completions') },
    });
  });
});

/** The error in the body of a refused call. */
function refusalIn(failure: Error): unknown {
  expect(APICallError.isInstance(failure)).toBe(true);
  return JSON.parse((failure as APICallError).responseBody ?? '').error;
}

describe('generateVideo', () => {
  /** The AI SDK downloads a video itself. It takes files of public addresses only. */
  const download = async ({ url }: { url: URL }) => {
    const response = await fetch(url);
    const data = new Uint8Array(await response.arrayBuffer());
    return { data, mediaType: response.headers.get('content-type') ?? undefined };
  };
  const shared = { download, maxRetries: 0, poll: { intervalMs: 200 } };

  test.each(['grok-imagine-video', 'veo-3.1', 'kling-3.0'])('makes videos of %s', async (id) => {
    const { video } = await generateVideo({
      ...{ ...shared, model: xai.video(id), prompt: `A lighthouse ${SOON}` },
    });
    expect(video.mediaType).toBe('video/mp4');
    expect(video.uint8Array.length).toBeGreaterThan(100);
  });

  test('takes a first frame', async () => {
    const { video } = await generateVideo({
      ...{ ...shared, model: xai.video('grok-imagine-video') },
      prompt: { text: `Waves ${SOON}`, image: PNG },
    });
    expect(video.mediaType).toBe('video/mp4');
  });

  test('tells why a video failed', async () => {
    const prompt = 'A lighthouse [[sim fail=moderation at=processing task_ms=200]]';
    const model = xai.video('grok-imagine-video');
    const failure = await failureOf(generateVideo({ ...shared, model, prompt }));
    expect(failure.message).toStartWith('Video generation failed: ');
  });

  test.each(['edit-video', 'extend-video'])('with %s is refused with a hint', async (mode) => {
    const xaiOptions = { mode, videoUrl: 'https://example.com/a.mp4' };
    const call = generateVideo({
      ...{ ...shared, model: xai.video('grok-imagine-video'), prompt: 'Waves' },
      providerOptions: { xai: xaiOptions },
    });
    expect(refusalIn(await failureOf(call))).toMatchObject({
      hint: expect.stringContaining('/v1/videos/generations'),
    });
  });

  test('of Google’s package is refused with a hint', async () => {
    const call = generateVideo({ ...shared, model: google.video('veo-3.1'), prompt: 'Waves' });
    expect(refusalIn(await failureOf(call))).toMatchObject({
      status: 'NOT_FOUND',
      details: [{ hint: expect.stringContaining('/v1/videos/generations') }],
    });
  });
});

describe('Google’s package', () => {
  test('makes images and speech', async () => {
    const model = google.image('gemini-2.5-flash-image');
    const { image } = await generateImage({ model, prompt: `A ship ${SOON}` });
    expect(image.mediaType).toBe('image/png');
    const { audio } = await generateSpeech({
      ...{ model: google.speech('gemini-2.5-flash-preview-tts'), text: 'Hello', voice: 'Kore' },
    });
    expect(audio.uint8Array.length).toBeGreaterThan(1_000);
  });

  test('is refused embeddings with a hint', async () => {
    const model = google.embedding('gemini-embedding-001');
    const failure = await failureOf(embedMany({ model, values: ['One'], maxRetries: 0 }));
    expect(refusalIn(failure)).toMatchObject({
      ...{ status: 'NOT_FOUND', details: [{ hint: expect.stringContaining('/v1/embeddings') }] },
    });
  });
});
