/**
 * Images and speech through `generateContent`, the way to them in Google's SDKs (Gemini API docs:
 * Image generation; Speech generation). The SDK (@google/genai 3.1.0) sends and reads everything.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  ApiError,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
  Modality,
} from '@google/genai';
import { failureOf } from '../support/failure-of.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let client: GoogleGenAI;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  client = clientOf();
});
afterAll(() => weir.stop());

const clientOf = (headers: Record<string, string> = {}, apiVersion = 'v1beta') =>
  new GoogleGenAI({
    apiKey: weir.api_key,
    httpOptions: { baseUrl: weir.base_url, apiVersion, headers },
  });

const IMAGE_MODEL = 'gemini-2.5-flash-image';
const SPEECH_MODEL = 'gemini-2.5-flash-preview-tts';
const IMAGE = { responseModalities: [Modality.IMAGE] };
const VOICE = {
  responseModalities: [Modality.AUDIO],
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
};
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface KeyList {
  data: { used_amount: number }[];
}

/** Charges of all keys, in nano-USD. */
async function spent(): Promise<number> {
  const headers = { authorization: `Bearer ${weir.management_token}` };
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, { headers });
  const { data } = (await response.json()) as KeyList;
  return Math.round(data.reduce((sum, { used_amount }) => sum + used_amount, 0) * 1e9);
}

async function errorOf(call: Promise<unknown>) {
  const failure = await failureOf(call);
  expect(failure).toBeInstanceOf(ApiError);
  const { error } = JSON.parse((failure as ApiError).message) as {
    error: { code: number; message: string; status: string; details: { param: string | null }[] };
  };
  return { code: error.code, message: error.message, param: error.details[0]?.param };
}

const mediaIn = ({ candidates = [] }: GenerateContentResponse) =>
  candidates
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap((part) => part.inlineData ?? []);

async function chunksOf(stream: AsyncIterable<GenerateContentResponse>) {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

describe('an image', () => {
  const make = (config: GenerateContentConfig = IMAGE, contents: unknown = 'A lighthouse') =>
    client.models.generateContent({ model: IMAGE_MODEL, contents: contents as string, config });

  test.each(['v1beta', 'v1'])('is in the answer and charged once, %s', async (version) => {
    const before = await spent();
    const { models } = clientOf({}, version);
    const answer = await models.generateContent({
      ...{ model: IMAGE_MODEL, contents: 'A lighthouse', config: IMAGE },
    });
    const [picture, ...others] = mediaIn(answer);
    expect(others).toEqual([]);
    expect(picture?.mimeType).toBe('image/png');
    expect(Buffer.from(picture?.data ?? '', 'base64').toString('latin1', 1, 4)).toBe('PNG');
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP' as never);
    expect(answer.modelVersion).toBe(IMAGE_MODEL);
    // The tokens that the provider reports (Gemini API docs: an image of 1,290 tokens).
    const { usageMetadata } = answer;
    expect(usageMetadata?.candidatesTokenCount).toBe(1_290);
    expect(usageMetadata?.totalTokenCount).toBe(1_290 + (usageMetadata?.promptTokenCount ?? 0));
    // 0.039 USD an image (Gemini API price list).
    expect((await spent()) - before).toBe(39_000_000);
  });

  test('of several has a candidate for each', async () => {
    const before = await spent();
    const answer = await make({ ...IMAGE, candidateCount: 2 });
    expect(answer.candidates?.map(({ index }) => index)).toEqual([0, 1]);
    expect(mediaIn(answer)).toHaveLength(2);
    expect((await spent()) - before).toBe(2 * 39_000_000);
  });

  test('is streamed in one chunk', async () => {
    const before = await spent();
    const chunks = await chunksOf(
      await client.models.generateContentStream({
        ...{ model: IMAGE_MODEL, contents: 'A lighthouse', config: IMAGE },
      }),
    );
    expect(chunks.flatMap(mediaIn)).toHaveLength(1);
    expect(chunks.at(-1)?.usageMetadata?.candidatesTokenCount).toBe(1_290);
    expect((await spent()) - before).toBe(39_000_000);
  });

  test('has the shape that imageConfig names', async () => {
    const wide = { ...IMAGE, imageConfig: { aspectRatio: '16:9' } };
    const [picture] = mediaIn(await make(wide));
    const png = Buffer.from(picture?.data ?? '', 'base64');
    expect(png.readUInt32BE(16) / png.readUInt32BE(20)).toBeCloseTo(16 / 9, 1);
    // 0.24 USD an image of 4K, 0.134 USD an image of 2K (Gemini API price list).
    for (const [imageSize, nano_usd] of [
      ['4K', 240_000_000],
      ['2K', 134_000_000],
    ] as const) {
      const before = await spent();
      await client.models.generateContent({
        ...{ model: 'gemini-3-pro-image-preview', contents: 'A lighthouse' },
        config: { ...IMAGE, imageConfig: { imageSize } },
      });
      expect((await spent()) - before).toBe(nano_usd);
    }
  });

  test('is made again for the same Idempotency-Key only once', async () => {
    const { models } = clientOf({ 'Idempotency-Key': `image-${crypto.randomUUID()}` });
    const request = { model: IMAGE_MODEL, contents: 'A lighthouse', config: IMAGE };
    const first = await models.generateContent(request);
    const before = await spent();
    expect(mediaIn(await models.generateContent(request))).toEqual(mediaIn(first));
    expect(await spent()).toBe(before);
  });

  test('is refused by the client’s own name of a parameter, without a charge', async () => {
    const before = await spent();
    const turn = (role: string, parts: object[]) => ({ role, parts });
    const refused: [() => Promise<unknown>, string][] = [
      [() => make({ ...IMAGE, imageConfig: { aspectRatio: 'wide' } }), 'imageConfig.aspectRatio'],
      [() => make({ ...IMAGE, imageConfig: { imageSize: '4K' } }), 'imageConfig.imageSize'],
      [() => make({ ...IMAGE, candidateCount: 30 }), 'generationConfig.candidateCount'],
      [() => make({ ...IMAGE, seed: 7 }), 'generationConfig.seed'],
      [() => make({ ...IMAGE, temperature: 0.2 }), 'generationConfig.temperature'],
      [() => make({ responseModalities: [Modality.TEXT] }), 'generationConfig.responseModalities'],
      [() => make({ responseModalities: [Modality.AUDIO] }), 'generationConfig.responseModalities'],
      [() => make({ ...IMAGE, systemInstruction: 'Be brief' }), 'systemInstruction'],
      [() => make(IMAGE, [turn('user', [{ text: '' }])]), 'contents'],
      [
        () => make(IMAGE, [turn('user', [{ text: 'a' }]), turn('model', [{ text: 'b' }])]),
        '[1].role',
      ],
      [() => make(IMAGE, [turn('user', [{ fileData: { fileUri: 'x' } }])]), 'parts[0].fileData'],
    ];
    for (const [call, name] of refused) {
      const { code, param, message } = await errorOf(call());
      expect([code, param]).toEqual([400, expect.stringContaining(name)]);
      expect(message).not.toMatch(/\b(?:aspect_ratio|resolution|prompt)\b/);
    }
    expect(await spent()).toBe(before);
  });

  test('that the provider refuses is an error, without a charge', async () => {
    const before = await spent();
    const { code } = await errorOf(make(IMAGE, 'A lighthouse [[sim fail=moderation]]'));
    expect(code).toBe(400);
    expect(await spent()).toBe(before);
  });

  test('is cancelled if the client leaves, without a charge', async () => {
    const before = await spent();
    const contents = 'A lighthouse [[sim latency_ms=2000]]';
    const left = make({ ...IMAGE, abortSignal: AbortSignal.timeout(300) }, contents);
    expect(await failureOf(left)).toBeInstanceOf(Error);
    const held = async () => {
      const response = await fetch(`${weir.base_url}/v1/management/balance`, {
        headers: { authorization: `Bearer ${weir.management_token}` },
      });
      return ((await response.json()) as { used: number }).used;
    };
    await Bun.sleep(2_500);
    expect(await held()).toBeCloseTo(before / 1e9, 9);
  });

  test.each(['gpt-image-1', 'dall-e-3', 'flux-1.1-pro'])('of %s too', async (model) => {
    const answer = await client.models.generateContent({
      ...{ model, contents: 'A lighthouse', config: IMAGE },
    });
    expect(mediaIn(answer)[0]?.mimeType).toStartWith('image/');
    const shaped = { ...IMAGE, imageConfig: { imageSize: '2K' } };
    const { param } = await errorOf(
      client.models.generateContent({ model, contents: 'A lighthouse', config: shaped }),
    );
    expect(param).toBe('generationConfig.imageConfig.imageSize');
  });

  test('is edited, with image and text in one turn', async () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: PNG } }, { text: 'Add a ship' }];
    const [picture] = mediaIn(
      await client.models.generateContent({
        ...{ model: 'gpt-image-1', contents: [{ role: 'user', parts }], config: IMAGE },
      }),
    );
    expect(picture?.mimeType).toBe('image/png');
  });

  test('of a model that works by task only is refused with the route that makes it', async () => {
    const { message } = await errorOf(
      client.models.generateContent({ model: 'midjourney', contents: 'A cat', config: IMAGE }),
    );
    expect(message).toContain('midjourney');
  });
});

describe('speech', () => {
  const speak = (config: GenerateContentConfig = VOICE, contents = 'Say: have a good day!') =>
    client.models.generateContent({ model: SPEECH_MODEL, contents, config });

  test('is in the answer as samples, charged by the reported tokens', async () => {
    const before = await spent();
    const answer = await speak();
    const [sound] = mediaIn(answer);
    expect(sound?.mimeType).toContain('audio/L16');
    expect(sound?.mimeType).toContain('rate=24000');
    const bytes = Buffer.from(sound?.data ?? '', 'base64');
    const { promptTokenCount = 0, candidatesTokenCount = 0 } = answer.usageMetadata ?? {};
    // A second has 48,000 bytes and 25 tokens (Gemini API docs: Speech generation; Tokens).
    expect(candidatesTokenCount).toBe(Math.ceil((bytes.byteLength / 48_000) * 25));
    // 0.5 and 10 USD per million tokens (Gemini API price list).
    expect((await spent()) - before).toBe(promptTokenCount * 500 + candidatesTokenCount * 10_000);
  });

  test('is streamed with the same samples, and the usage after the charge', async () => {
    const whole = await speak();
    const before = await spent();
    let charged = 0;
    const chunks: GenerateContentResponse[] = [];
    for await (const chunk of await client.models.generateContentStream({
      ...{ model: SPEECH_MODEL, contents: 'Say: have a good day!', config: VOICE },
    })) {
      chunks.push(chunk);
      if (chunk.usageMetadata) charged = (await spent()) - before;
    }
    const bytesOf = (media: ReturnType<typeof mediaIn>) =>
      Buffer.concat(media.map(({ data = '' }) => Buffer.from(data, 'base64')));
    expect(bytesOf(chunks.flatMap(mediaIn)).equals(bytesOf(mediaIn(whole)))).toBe(true);
    expect(chunks.at(-1)?.usageMetadata).toEqual(whole.usageMetadata as never);
    const { promptTokenCount = 0, candidatesTokenCount = 0 } = whole.usageMetadata ?? {};
    expect(charged).toBe(promptTokenCount * 500 + candidatesTokenCount * 10_000);
  });

  test('has several speakers', async () => {
    const speaker = (name: string, voiceName: string) => ({
      speaker: name,
      voiceConfig: { prebuiltVoiceConfig: { voiceName } },
    });
    const speakerVoiceConfigs = [speaker('Joe', 'Kore'), speaker('Jane', 'Puck')];
    const speechConfig = {
      multiSpeakerVoiceConfig: { speakerVoiceConfigs },
      languageCode: 'en-US',
    };
    const answer = await speak(
      { responseModalities: [Modality.AUDIO], speechConfig },
      'Joe: Hello!\nJane: Hi',
    );
    expect(mediaIn(answer)).toHaveLength(1);
    const { param } = await errorOf(
      client.models.generateContent({
        model: 'tts-1',
        contents: 'Joe: Hello!',
        config: { responseModalities: [Modality.AUDIO], speechConfig },
      }),
    );
    expect(param).toBe('generationConfig.speechConfig.multiSpeakerVoiceConfig');
  });

  test('of another provider has its voices, and is charged by characters', async () => {
    const before = await spent();
    const voiceConfig = { prebuiltVoiceConfig: { voiceName: 'alloy' } };
    const answer = await client.models.generateContent({
      ...{ model: 'tts-1', contents: 'Grüße 👋' },
      config: { responseModalities: [Modality.AUDIO], speechConfig: { voiceConfig } },
    });
    expect(mediaIn(answer)).toHaveLength(1);
    expect(answer.usageMetadata).toBeUndefined();
    expect((await spent()) - before).toBe(7 * 15_000);
  });

  test('is refused by the client’s own name of a parameter, without a charge', async () => {
    const before = await spent();
    const voiceName = 'nobody';
    const refused: [() => Promise<unknown>, unknown][] = [
      [
        () => speak({ ...VOICE, responseModalities: [Modality.TEXT] }),
        'generationConfig.responseModalities',
      ],
      [() => speak({ ...VOICE, temperature: 1 }), 'generationConfig.temperature'],
      [
        () => speak({ responseModalities: [Modality.AUDIO] }),
        'generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName',
      ],
      [() => speak(VOICE, 'x'.repeat(4_097)), 'contents'],
      [
        () =>
          speak({
            ...VOICE,
            speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
          }),
        expect.anything(),
      ],
    ];
    for (const [call, param] of refused) {
      const failure = await errorOf(call());
      expect(failure.code).toBe(400);
      if (failure.param !== null) expect(failure.param).toEqual(param as string);
    }
    expect(await spent()).toBe(before);
  });

  test('is free if the client leaves before the answer', async () => {
    const before = await spent();
    const left = speak(
      { ...VOICE, abortSignal: AbortSignal.timeout(300) },
      'Slowly [[sim latency_ms=1500]]',
    );
    expect(await failureOf(left)).toBeInstanceOf(Error);
    await Bun.sleep(1_800);
    expect(await spent()).toBe(before);
  });

  test('is repeated for the same Idempotency-Key, with one charge', async () => {
    const { models } = clientOf({ 'Idempotency-Key': `speech-${crypto.randomUUID()}` });
    const request = { model: SPEECH_MODEL, contents: 'Hello', config: VOICE };
    const first = await chunksOf(await models.generateContentStream(request));
    const before = await spent();
    const again = await chunksOf(await models.generateContentStream(request));
    expect(again.flatMap(mediaIn)).toEqual(first.flatMap(mediaIn));
    await until('nothing more is charged', async () => (await spent()) === before);
  });
});

test('a model lists the methods that make something', async () => {
  const actions = async (model: string) => (await client.models.get({ model })).supportedActions;
  for (const model of [IMAGE_MODEL, SPEECH_MODEL, 'gpt-image-1', 'tts-1']) {
    expect(await actions(model)).toEqual(['generateContent', 'streamGenerateContent']);
  }
  expect(await actions('midjourney')).toEqual([]);
});

test.each([
  ['veo-3.1', 'POST /v1/videos/generations'],
  ['text-embedding-3-small', '/v1/embeddings'],
])('%s is refused with the route that serves it', async (model, route) => {
  const failure = await failureOf(client.models.generateContent({ model, contents: 'A cat' }));
  expect((failure as ApiError).message).toContain(route.replace('POST ', ''));
});
