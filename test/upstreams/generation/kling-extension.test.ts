/** An extension has the members of kling-api@1.0.0 (dist/operations/video.js: extendVideo), and Weir's own id. */
import { afterAll, expect, test } from 'bun:test';
import type { GenerationInput } from '../../../src/catalogue/inputs.ts';
import { klingProtocol } from '../../../src/upstreams/generation/kling.ts';
import { unsentParameter } from '../../../src/upstreams/generation/sent-parameters.ts';
import { accept, declaredModel } from '../../support/contracts.ts';
import { startUpstream } from '../upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

test('a call with the defaults of a model has a channel, and one with sound has none', () => {
  const model = declaredModel({
    ...{ family: 'kling-video', category: 'video', price: { usd_per_second: 0.1 } },
    offers: { operations: ['video-extension'], max_source_seconds: 30 },
  });
  const input = accept(model, { task_id: 't/1' });
  expect(unsentParameter('kling', 'kling-v1-6', input)).toBeUndefined();
  const loud = { ...input, output_audio: true } as GenerationInput;
  expect(unsentParameter('kling', 'kling-v1-6', loud)).toBe('output_audio');
});

test('an extension sends only what Kling documents', async () => {
  upstream.answer = () => Response.json({ code: 0, data: { task_id: 't-1' } });
  const input = {
    ...{ scene: 'video', operation: 'video-extension', prompt: 'It rains' },
    ...{ continued_job: 'video-1', negative_prompt: 'blurry', cfg_scale: 10, watermark: false },
  } as GenerationInput;
  const result = await klingProtocol.submit({
    target: { channel_id: 'main', base_url: upstream.url, api_key: 'key', timeout_ms: 10_000 },
    ...{ physical_model: 'kling-v1-6', public_model: 'kling', idempotency_key: 'own-1', input },
    signal: new AbortController().signal,
  });
  expect(result).toMatchObject({ type: 'accepted', job: { id: 't-1' } });
  const { path = '', text = '' } = upstream.asked.at(-1) ?? {};
  expect(path).toBe('/v1/videos/video-extend');
  expect(JSON.parse(text)).toEqual({
    ...{ video_id: 'video-1', prompt: 'It rains', negative_prompt: 'blurry', cfg_scale: 0.5 },
    external_task_id: 'own-1',
  });
});
