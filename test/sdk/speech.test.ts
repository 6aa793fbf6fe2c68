/** Creates speech through the official packages. They call a real Weir process. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createOpenAI } from '@ai-sdk/openai';
import { experimental_generateSpeech as generateSpeech } from 'ai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import OpenAI from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let base: string;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
  base = `${weir.base_url}/v1`;
});
afterAll(() => weir.stop());

const openai = () => new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0 });

/** Charges of all keys, in nano-USD. */
async function spent(): Promise<number> {
  const headers = { authorization: `Bearer ${weir.management_token}` };
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, { headers });
  const { data } = (await response.json()) as { data: { used_amount: number }[] };
  return Math.round(data.reduce((sum, { used_amount }) => sum + used_amount, 0) * 1e9);
}

describe('speech', () => {
  test('through the openai package and the AI SDK is charged by characters', async () => {
    const before = await spent();
    const response = await openai().audio.speech.create({
      ...{ model: 'tts-1', voice: 'alloy', input: 'Grüße 👋', response_format: 'mp3' },
    });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.byteLength).toBeGreaterThan(2_000);
    // Seven code points at 15 USD per million.
    expect((await spent()) - before).toBe(7 * 15_000);
    const provider = createOpenAI({ baseURL: base, apiKey: weir.api_key });
    const { audio } = await generateSpeech({
      model: provider.speech('tts-1-hd'),
      text: 'Grüße 👋',
    });
    expect(Buffer.from(audio.uint8Array).equals(bytes)).toBe(true);
    expect((await spent()) - before).toBe(7 * 45_000);
  });

  test('of Gemini is WAV or PCM, charged by tokens; other formats are refused by name', async () => {
    const before = await spent();
    const model = 'gemini-2.5-flash-preview-tts';
    const request = {
      model,
      voice: 'Kore',
      input: 'Grüße aus Köln',
      instructions: 'Say it slowly',
    };
    const wav = await openai().audio.speech.create({ ...request, response_format: 'wav' });
    expect(wav.headers.get('content-type')).toBe('audio/wav');
    const file = Buffer.from(await wav.arrayBuffer());
    const pcm = await openai().audio.speech.create({ ...request, response_format: 'pcm' });
    const samples = Buffer.from(await pcm.arrayBuffer());
    expect(file.toString('latin1', 0, 4)).toBe('RIFF');
    expect(file.readUInt32LE(24)).toBe(24_000);
    expect(file.readUInt32LE(40)).toBe(samples.byteLength);
    expect(file.subarray(44).equals(samples)).toBe(true);
    // The charge covers the input tokens, and 25 output tokens per second of sound. A second of
    // sound has 48,000 bytes.
    const text = countTokens('Say it slowly: Grüße aus Köln');
    const tokens = Math.ceil((samples.byteLength / 48_000) * 25);
    expect((await spent()) - before).toBe(2 * (text * 500 + tokens * 10_000));
    for (const [more, param] of [
      [{ response_format: 'mp3' }, 'response_format'],
      [{}, 'response_format'],
      [{ response_format: 'wav', speed: 2 }, 'speed'],
      [{ response_format: 'wav', voice: 'nobody' }, null],
    ] as const) {
      const failure = await failureOf(
        openai().audio.speech.create({ ...request, ...more } as never),
      );
      expect(failure).toMatchObject({ status: 400, param });
    }
    expect((await spent()) - before).toBe(2 * (text * 500 + tokens * 10_000));
  });

  test('is streamed as it is made; a client that leaves in the middle pays for the whole text', async () => {
    const before = await spent();
    const client = new AbortController();
    const input = 'Slowly [[sim chunk_ms=100 stall_after=4]]';
    const response = await openai().audio.speech.create(
      { model: 'tts-1', voice: 'alloy', input },
      { signal: client.signal },
    );
    const reader = response.body?.getReader();
    expect((await reader?.read())?.value?.byteLength).toBeGreaterThan(0);
    client.abort();
    await reader?.read().catch(() => undefined);
    // The charge is committed after the client left; the next test must not count it.
    await until('it is charged', async () => (await spent()) !== before);
    expect((await spent()) - before).toBe([...input].length * 15_000);
  });

  test('that breaks off is an error, without a charge', async () => {
    const before = await spent();
    const voiced = { model: 'tts-1', voice: 'alloy' } as const;
    const listen = async () => {
      const input = 'Broken [[sim truncate_after=2 chunk_ms=50]]';
      await (await openai().audio.speech.create({ ...voiced, input })).arrayBuffer();
    };
    expect(await failureOf(listen())).toBeInstanceOf(Error);
    expect(await spent()).toBe(before);
  });

  test.each([
    [{ input: '' }, 'input'],
    [{ input: 'x'.repeat(4_097) }, 'input'],
    [{ voice: 7 }, 'voice'],
    [{ speed: 5 }, 'speed'],
    [{ response_format: 'ogg' }, 'response_format'],
    [{ stream_format: 'sse' }, 'stream_format'],
    [{ model: 'whisper-1' }, 'model'],
  ])('400: %#', async (more, param) => {
    const body = { model: 'tts-1', voice: 'alloy', input: 'Hello', ...more };
    const failure = await failureOf(openai().audio.speech.create(body as never));
    expect(failure).toMatchObject({ status: 400, param });
  });
});
