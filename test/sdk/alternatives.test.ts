/**
 * P13: the alternatives of `all_channels_failed` on `POST /v1/audio/speech` can serve the same call. The
 * openai package sends the call, and then the same call to each alternative.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { type APIError } from 'openai';
import { failureOf } from '../support/failure-of.ts';
import { type RunningSimulator, startSimulator } from '../support/simulator.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

const GEMINI = ['gemini-2.5-flash-preview-tts', 'gemini-2.5-pro-preview-tts'];
let simulator: RunningSimulator;
let weir: RunningWeir;
let openai: OpenAI;
beforeAll(async () => {
  simulator = await startSimulator();
  const channel = (id: string, protocol: string, base_url: string, models: string[]) => ({
    ...{ id, protocol, base_url, api_key: `sim-${id}` },
    models: Object.fromEntries(models.map((model) => [model, model])),
  });
  const google = `${simulator.url}/google/v1beta`;
  const channels = [
    channel('down', 'openai', simulator.openai_url, ['tts-1']),
    channel('away', 'openai', simulator.openai_url, ['tts-1']),
    channel('up', 'openai', simulator.openai_url, ['tts-1-hd']),
    channel('google', 'gemini', google, GEMINI),
  ];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
  for (const id of ['down', 'away']) await simulator.setAccount(id, { down: true });
  openai = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key, maxRetries: 0 });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

test.each([
  ['mp3', ['tts-1-hd']],
  [undefined, ['tts-1-hd']],
  ['pcm', ['tts-1-hd', ...GEMINI]],
] as const)('alternatives take the format %p', async (response_format, ids) => {
  const request = { voice: 'alloy', input: 'Hello', response_format } as const;
  const speak = (model: string, voice: string = request.voice) =>
    openai.audio.speech.create({ ...request, model, voice } as never);
  const failure = (await failureOf(speak('tts-1'))) as APIError;
  expect(failure).toMatchObject({ code: 'all_channels_failed' });
  const { alternatives } = failure.error as { alternatives: { id: string }[] };
  expect(alternatives.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted());
  for (const { id } of alternatives) {
    const sound = await speak(id, id.startsWith('gemini') ? 'Kore' : 'alloy');
    expect((await (sound as Response).arrayBuffer()).byteLength).toBeGreaterThan(0);
  }
});
