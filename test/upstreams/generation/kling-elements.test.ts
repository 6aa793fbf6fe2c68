/**
 * Kling's element ids are int64 (docs.comfy.org, development/comfy-router/models/kling/kling-v3-omni:
 * `element_list[].element_id`, integer, int64). JavaScript's numbers round the id of this test.
 */
import { afterAll, expect, test } from 'bun:test';
import type { GenerationInput } from '../../../src/catalogue/inputs.ts';
import { klingProtocol } from '../../../src/upstreams/generation/kling.ts';
import { startUpstream } from '../upstream.ts';

const upstream = startUpstream();
afterAll(() => upstream.stop());

const ID = '829836802793406551';
const json = (text: string) =>
  new Response(text, { headers: { 'content-type': 'application/json' } });

test.each([
  ['an integer', ID],
  ['a text', `"${ID}"`],
])('an element id that Kling sends as %s returns to it as the same integer', async (_, id) => {
  upstream.answer = ({ path, text }) => {
    if (!path.includes('elements')) return json('{"code":0,"data":{"task_id":"t-2"}}');
    if (text !== '') return json('{"code":0,"data":{"task_id":"t-1","task_status":"submitted"}}');
    return json(
      `{"code":0,"data":{"task_id":"t-1","task_status":"succeed","task_result":{"elements":[{"element_id":${id}}]}}}`,
    );
  };
  const element_input_urls = ['https://x.example/1.png', 'https://x.example/2.png'];
  const input = {
    ...{ scene: 'video', operation: 'image-to-video', prompt: '@cat runs', duration: 5 },
    start_image: 'https://x.example/0.png',
    kling_elements: [{ name: 'cat', element_input_urls }],
  } as unknown as GenerationInput;
  const result = await klingProtocol.submit({
    target: { channel_id: 'main', base_url: upstream.url, api_key: 'key', timeout_ms: 10_000 },
    ...{ physical_model: 'kling-v3-omni', public_model: 'kling', idempotency_key: 'k' },
    input,
    signal: new AbortController().signal,
  });
  expect(result).toMatchObject({ type: 'accepted' });
  const sent = upstream.asked.at(-1)?.text ?? '';
  expect(sent).toContain(`"element_list":[{"element_id":${ID}}]`);
});
