/**
 * A group of sums leads to exactly its calls, also the group without a name, and tasks that run are left out
 * on request. Of a real Weir.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createVideo } from '../../support/create-video.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
}, 60_000);
afterAll(() => weir.stop());

const post = (path: string, body: object) =>
  fetch(`${weir.base_url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const chat = (model: string) =>
  post('chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] });

async function read<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(`${weir.base_url}/v1/management/${path}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

interface Calls {
  readonly data: readonly { readonly outcome: string; readonly logical_model: string | null }[];
}
interface Sums {
  readonly series: readonly { readonly group: string | null; readonly requests: number }[];
  readonly total: { readonly requests: number };
  readonly as_of: string;
}

test('each group has as many requests as its sum counts, also the one without a name', async () => {
  for (const model of ['gpt-4o-mini', 'gpt-4o', 'no-such-model', 'nor-such']) await chat(model);
  await until(
    'the calls are on record',
    async () => (await read<Calls>('requests')).data.length === 4,
  );
  for (const [group, filter] of [
    ['logical_model', 'logicalModel'],
    ['model_vendor', 'modelVendor'],
    ['scene', 'scene'],
    ['protocol', 'protocol'],
  ]) {
    const sums = await read<Sums>(`usage/query?metric=requests&group=${group}&bucket=none`);
    expect(sums.total.requests).toBe(4);
    for (const { group: name, requests } of sums.series) {
      const query = `${filter}=${name ?? 'none'}&as_of=${encodeURIComponent(sums.as_of)}`;
      const { data } = await read<Calls>(`requests?${query}`);
      expect([group, name, data.length]).toEqual([group, name, requests]);
      const again = await read<Sums>(`usage/query?metric=requests&bucket=none&${query}`);
      expect([group, name, again.total.requests]).toEqual([group, name, requests]);
    }
  }
});

test('a task that runs is listed, unless it is left out, as the sums do', async () => {
  const before = (await read<Calls>('requests')).data.length;
  await createVideo(weir, 'grok-imagine-video', 60_000);
  const all = await read<Calls>('requests');
  expect(all.data.map(({ outcome }) => outcome)).toContain('accepted');
  expect(all.data).toHaveLength(before + 1);
  const { data } = await read<Calls>('requests?running=false');
  expect(data).toHaveLength(before);
  const sums = await read<Sums>('usage/query?metric=requests&bucket=none');
  expect(sums.total.requests).toBe(before);
});

test('a link may name the organization of an export, but no other one', async () => {
  const { id } = await read<{ id: string }>('organization');
  const export_of = (organization_id: string) =>
    fetch(`${weir.base_url}/v1/management/usage/export?organization_id=${organization_id}`, {
      headers: { authorization: `Bearer ${weir.management_token}` },
    });
  expect((await export_of(id)).status).toBe(200);
  const other = await export_of('org_other');
  expect(other.status).toBe(403);
  expect(await other.json()).toMatchObject({ error: { param: 'organization_id' } });
});
