/**
 * The demo refuses what does not reach a provider, before anything is made or charged (P18): each
 * generation model with a misspelled parameter, and parameters that once were charged and never sent.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../support/envelope.ts';
import { bodiesOf, GENERATION_MODELS } from '../support/generation-bodies.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

setDefaultTimeout(60_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

const PATHS = { image: 'images', video: 'videos', music: 'music', '3d': '3d', audio: 'audio' };
const FILM = 'https://example.com/a.mp4';
const PICTURE = 'https://example.com/a.png';

const send = (scene: keyof typeof PATHS, body: object) =>
  fetch(`${weir.base_url}/v1/${PATHS[scene]}/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function balance(): Promise<unknown> {
  const response = await fetch(`${weir.base_url}/v1/management/balance`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  expect(response.status).toBe(200);
  return response.json();
}

test('each model refuses a misspelled parameter, and nothing is charged', async () => {
  const before = await balance();
  await Promise.all(
    GENERATION_MODELS.map(async (model) => {
      const [body = {}] = bodiesOf(model);
      const response = await send(model.scene, { ...body, model: model.id, usr: 'me' });
      const { code, param, hint } = await errorOf(response, 400);
      expect({ id: model.id, code, param, hint }).toEqual({
        ...{ id: model.id, code: 'invalid_request_error', param: 'usr' },
        hint: 'Did you mean user?',
      });
    }),
  );
  expect(await balance()).toEqual(before);
});

test.each<[keyof typeof PATHS, object, string]>([
  ['video', { model: 'veo-3.1', output_audio: false }, 'output_audio'],
  ['video', { model: 'grok-imagine-video', video_url: FILM, audio_url: FILM }, 'audio_url'],
  ['video', { model: 'runway-aleph-2', video_url: FILM, image_url: PICTURE }, 'image_url'],
  ['video', { model: 'kling-3.0', image_url: PICTURE, aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['video', { model: 'seedance-2.0', image_url: PICTURE, aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['audio', { model: 'elevenlabs-sound-effects', seed: 1 }, 'seed'],
  ['music', { model: 'suno_lyrics', tags: 'folk' }, 'tags'],
  ['image', { model: 'flux-1.1-pro', image_url: PICTURE }, 'image_url'],
  ['image', { model: 'flux-1.1-pro', size: '1000x777' }, 'size'],
])('%s %j is refused with %s', async (scene, body, param) => {
  const before = await balance();
  const error = await errorOf(await send(scene, { prompt: 'a lighthouse', ...body }), 400);
  expect({ code: error.code, param: error.param }).toEqual({
    code: 'invalid_request_error',
    param,
  });
  expect(await balance()).toEqual(before);
});
