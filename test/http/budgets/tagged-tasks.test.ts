/** Tasks and embeddings of a key that sets a tag count in the budget of the tag, although they have no `metadata`. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createVideo } from '../../support/create-video.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.stop());

async function manage<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${weir.base_url}/v1/management${path}`, {
    ...{ method, body: JSON.stringify(body ?? {}) },
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      'content-type': 'application/json',
    },
    ...(method === 'GET' ? { body: null } : {}),
  });
  return response.json() as never;
}

test('a task holds money in the budget of a tag of its key, and is charged there', async () => {
  const { key } = await manage<{ key: string }>('POST', '/api-keys', {
    call_tags: { job: 'film' },
  });
  const made = { period: 'month', limit_amount: 0, tag: { job: 'film' } };
  const { id } = await manage<{ id: string }>('POST', '/budgets', made);
  const tagged = { base_url: weir.base_url, api_key: key };
  const create = () => createVideo(tagged, 'veo-3.1', 2_000);
  await expect(create()).rejects.toThrow('The budget of calls with the tag “job: film”');
  await createVideo(weir, 'veo-3.1', 10);
  await manage('PATCH', `/budgets/${id}`, { limit_amount: 100 });
  await create();
  const read = () => manage<{ used_amount: number; held_amount: number }>('GET', `/budgets/${id}`);
  const held = await read();
  expect(held.held_amount).toBeGreaterThan(0);
  expect(held.used_amount).toBe(0);
  const charged = await until('the task is charged', async () => {
    const now = await read();
    return now.used_amount > 0 && now.held_amount === 0 ? now : undefined;
  });
  expect(charged.used_amount).toBeLessThanOrEqual(held.held_amount);
  await manage('PATCH', `/budgets/${id}`, { limit_amount: 0 });
  const embed = (secret: string) =>
    fetch(`${weir.base_url}/v1/embeddings`, {
      ...{ method: 'POST', body: '{"model": "text-embedding-3-small", "input": "hi"}' },
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    });
  expect((await embed(key)).status).toBe(402);
  expect((await embed(weir.api_key)).status).toBe(200);
});
