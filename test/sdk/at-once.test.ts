/** Stored responses, embeddings and audio through the official packages, as `bin/start` starts Weir. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createOpenAI } from '@ai-sdk/openai';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embedMany } from 'ai';
import OpenAI from 'openai';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
let base: string;
beforeAll(async () => {
  weir = await startWeir();
  base = `${weir.base_url}/v1`;
});
afterAll(() => weir.stop());

const openai = () => new OpenAI({ baseURL: base, apiKey: weir.api_key, maxRetries: 0 });

/** The package's promises are no promises to `expect`. */
async function failureOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('stored responses', () => {
  test('are there for their organization until they are deleted', async () => {
    const client = openai();
    const model = 'gpt-4o';
    const made = await client.responses.create({ model, input: 'Hello', metadata: { a: 'b' } });
    expect(await client.responses.retrieve(made.id)).toMatchObject({
      ...{ id: made.id, output: made.output, metadata: { a: 'b' } },
    });
    const items = await client.responses.inputItems.list(made.id);
    expect(items.data).toMatchObject([{ type: 'message', role: 'user' }]);
    expect(await failureOf(client.responses.cancel(made.id))).toMatchObject({
      status: 400,
      param: 'response_id',
    });
    await client.responses.delete(made.id);
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    expect(await failureOf(client.responses.delete(made.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  test('are none with store: false, and a chain needs its beginning', async () => {
    const client = openai();
    const made = await client.responses.create({ model: 'gpt-4o', input: 'Hi', store: false });
    expect(await failureOf(client.responses.retrieve(made.id))).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    const next = { model: 'gpt-4o', input: 'And?', previous_response_id: made.id };
    expect(await failureOf(client.responses.create(next))).toMatchObject({
      ...{ status: 400, param: 'previous_response_id' },
    });
  });

  test('a streamed one is kept as well', async () => {
    const client = openai();
    const stream = client.responses.stream({ model: 'claude-haiku-4-5', input: 'Hello' });
    const { id, output_text } = await stream.finalResponse();
    expect((await client.responses.retrieve(id)).output_text).toBe(output_text);
  });
});

describe('embeddings', () => {
  test('through the openai package, the AI SDK and LangChain, all the same', async () => {
    const model = 'text-embedding-3-small';
    const input = ['One', 'Two'];
    const floats = await openai().embeddings.create({ model, input, encoding_format: 'float' });
    const base64 = await openai().embeddings.create({ model, input });
    expect(floats.data).toHaveLength(2);
    expect(floats.data[1]).toMatchObject({ object: 'embedding', index: 1 });
    expect(floats.usage.prompt_tokens).toBe(2);
    for (const [at, value] of (floats.data[0]?.embedding ?? []).entries()) {
      expect(base64.data[0]?.embedding[at]).toBeCloseTo(value, 6);
    }
    const provider = createOpenAI({ baseURL: base, apiKey: weir.api_key });
    const { embeddings } = await embedMany({ model: provider.embedding(model), values: input });
    expect(embeddings[0]?.[0]).toBeCloseTo(floats.data[0]?.embedding[0] ?? 0, 6);
    const langchain = new OpenAIEmbeddings({
      ...{ model, apiKey: weir.api_key, configuration: { baseURL: base } },
    });
    expect((await langchain.embedQuery('One'))[0]).toBeCloseTo(embeddings[0]?.[0] ?? 0, 6);
    const short = await openai().embeddings.create({ model, input: 'One', dimensions: 8 });
    expect(short.data[0]?.embedding).toHaveLength(8);
  });

  test.each([
    [{ model: 'text-embedding-3-small', input: '' }, 'input'],
    [{ model: 'text-embedding-3-small', input: 'x', dimensions: 1_537 }, 'dimensions'],
    [{ model: 'text-embedding-ada-002', input: 'x', dimensions: 8 }, 'dimensions'],
    [{ model: 'gpt-4o', input: 'x' }, 'model'],
  ])('400: %p', async (body, param) => {
    const failure = await openai()
      .embeddings.create(body)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 400, param });
  });
});

describe('audio', () => {
  const sound = () => new File([new Uint8Array(64_000)], 'speech.wav', { type: 'audio/wav' });

  test('translations in every format', async () => {
    const client = openai();
    const model = 'whisper-1';
    const json = await client.audio.translations.create({ model, file: sound() });
    expect(json.text.length).toBeGreaterThan(5);
    const verbose = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'verbose_json' },
    });
    expect(verbose).toMatchObject({ duration: 4, language: 'german', text: json.text });
    const srt = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'srt' },
    });
    expect(String(srt)).toStartWith('1\n00:00:00,000 --> 00:00:04,000\n');
    const vtt = await client.audio.translations.create({
      ...{ model, file: sound(), response_format: 'vtt' },
    });
    expect(String(vtt)).toStartWith('WEBVTT\n\n00:00:00.000 --> 00:00:04.000\n');
    const text = await client.audio.transcriptions.create({
      ...{ model, file: sound(), response_format: 'text', language: 'de' },
    });
    expect(String(text).trim()).toBe(json.text);
  });

  test('the default model, an ignored language, and refusals', async () => {
    const send = async (fields: Record<string, string | File>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) {
        if (typeof value === 'string') body.set(name, value);
        else body.set(name, value, value.name);
      }
      const response = await fetch(`${base}/audio/translations`, {
        ...{ method: 'POST', body, headers: { authorization: `Bearer ${weir.api_key}` } },
      });
      return { status: response.status, answer: (await response.json()) as { error?: object } };
    };
    expect((await send({ file: sound(), language: 'de' })).status).toBe(200);
    expect(await send({})).toMatchObject({ status: 400, answer: { error: { param: 'file' } } });
    const wrongs: [Record<string, string | File>, number, string][] = [
      [{ file: new File(['x'], 'a.txt') }, 400, 'file'],
      [{ file: sound(), temperature: '2' }, 400, 'temperature'],
      [{ file: sound(), response_format: 'xml' }, 400, 'response_format'],
      [{ file: sound(), model: 'gpt-4o' }, 400, 'model'],
      [{ file: new File([new Uint8Array(26_300_000)], 'a.mp3') }, 413, 'file'],
    ];
    for (const [fields, status, param] of wrongs) {
      expect(await send(fields)).toMatchObject({ status, answer: { error: { param } } });
    }
  });
});
