/**
 * Speech as server-sent events (openai/openai-openapi: schemas `SpeechAudioDeltaEvent` and
 * `SpeechAudioDoneEvent` of `CreateSpeechResponseStreamEvent`). The decoder of the openai package (7.55.0:
 * core/streaming) reads them, from the simulator and from Weir.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { Stream } from 'openai/core/streaming';
import { failureOf } from '../support/failure-of.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const MODEL = 'gpt-4o-mini-tts';
/** USD per million tokens (OpenAI price list: gpt-4o-mini-tts). */
const PRICE = { input_usd_per_mtok: 0.6, output_usd_per_mtok: 12 };

let simulator: RunningSimulator;
let weir: RunningWeir;
let openai: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  const models = Object.fromEntries([MODEL, 'tts-1'].map((id) => [id, id]));
  const url = simulator.openai_url;
  const main = { id: 'main', protocol: 'openai', base_url: url, api_key: 'sim-main', models };
  const speech = { category: 'tts', family: 'openai-speech', owned_by: 'openai', price: PRICE };
  weir = await startWeir({
    config: JSON.stringify({
      channels: [main],
      models: [{ id: MODEL, ...speech, max_output_tokens: 4_096 }],
    }),
    shared_database: true,
  });
  openai = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

interface SpeechEvent {
  type: string;
  audio?: string;
  usage?: { input_tokens: number; output_tokens: number; total_tokens: number };
}

interface Sent {
  input?: string;
  model?: string;
  headers?: Record<string, string>;
}

async function speak(client: OpenAI, sent: Sent = {}) {
  const { input = 'A lighthouse in a storm', model = MODEL, headers = {} } = sent;
  const request = { model, input, voice: 'coral', instructions: 'Slowly' } as const;
  const controller = new AbortController();
  const response = await client.audio.speech.create(
    { ...request, stream_format: 'sse' },
    { headers, signal: controller.signal },
  );
  return {
    response,
    controller,
    events: Stream.fromSSEResponse<SpeechEvent>(response, controller),
  };
}

async function all(stream: AsyncIterable<SpeechEvent>): Promise<SpeechEvent[]> {
  const events: SpeechEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const soundOf = (events: readonly SpeechEvent[]) =>
  Buffer.concat(events.map(({ audio = '' }) => Buffer.from(audio, 'base64')));

/** Charges of all keys, in nano-USD. */
async function spent(): Promise<number> {
  const headers = { authorization: `Bearer ${weir.management_token}` };
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, { headers });
  const { data } = (await response.json()) as { data: { used_amount: number }[] };
  return Math.round(data.reduce((sum, { used_amount }) => sum + used_amount, 0) * 1e9);
}

describe('speech events', () => {
  test('have the sound of the provider, and the charged usage after the charge', async () => {
    const direct = new OpenAI({ baseURL: simulator.openai_url, apiKey: 'sim-main' });
    const native = await all((await speak(direct)).events);
    const before = await spent();
    const { response, events: stream } = await speak(openai);
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const events: SpeechEvent[] = [];
    let charged = 0;
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'speech.audio.done') charged = (await spent()) - before;
    }
    expect(events.map(({ type }) => type)).toEqual([
      ...Array.from({ length: events.length - 1 }, () => 'speech.audio.delta'),
      'speech.audio.done',
    ]);
    expect(events.length).toBeGreaterThan(2);
    expect(soundOf(events).equals(soundOf(native))).toBe(true);
    const usage = events.at(-1)?.usage;
    expect(usage).toEqual(native.at(-1)?.usage as never);
    // P4: the charge is committed before the last event.
    expect(charged).toBe((usage?.input_tokens ?? 0) * 600 + (usage?.output_tokens ?? 0) * 12_000);
    const { calls } = await simulator.books();
    expect(calls.at(-1)).toMatchObject({
      completion_tokens: usage?.output_tokens,
      prompt_tokens: usage?.input_tokens,
    });
  });

  test('are repeated for the same Idempotency-Key, with one charge', async () => {
    const headers = { 'Idempotency-Key': `speech-${crypto.randomUUID()}` };
    const first = await all((await speak(openai, { headers })).events);
    const before = await spent();
    const { response, events } = await speak(openai, { headers });
    expect(response.headers.get('idempotent-replayed')).toBe('true');
    expect(await all(events)).toEqual(first);
    expect(await spent()).toBe(before);
  });

  test('that break off end with an error that the package throws, without a charge', async () => {
    const before = await spent();
    const input = 'Broken [[sim truncate_after=5 chunk_ms=50]]';
    const { events } = await speak(openai, { input });
    const failure = await failureOf(all(events));
    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ code: 'upstream_error' });
    expect(await spent()).toBe(before);
  });

  test('stop the provider if the client leaves; what was delivered is charged', async () => {
    const before = await spent();
    const input = 'Left [[sim chunk_ms=100 stall_after=4]]';
    const { events, controller } = await speak(openai, { input });
    for await (const _ of events) break;
    controller.abort();
    await until('it is charged', async () => (await spent()) !== before);
    await until('the provider has stopped', async () => {
      const { calls } = await simulator.books();
      return calls.at(-1)?.outcome !== 'running';
    });
  });

  test('are refused by name for models that have none', async () => {
    const failure = await failureOf(
      openai.audio.speech.create({
        ...{ model: 'tts-1', input: 'Hello', voice: 'alloy', stream_format: 'sse' },
      }),
    );
    expect(failure).toMatchObject({ status: 400, param: 'stream_format' });
    expect((failure as Error).message).toContain('must be audio for this model');
  });
});
