/** An edit of a budget, an own key or an alert endpoint that somebody else changed meanwhile is refused (`If-Match`). */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { errorOf } from '../../support/envelope.ts';
import { OwnKeysWorld } from '../../support/own-keys-world.ts';

setDefaultTimeout(60_000);

let world: OwnKeysWorld;
beforeAll(async () => {
  world = await OwnKeysWorld.start();
});
afterAll(() => world.stop());

const send = (method: string, path: string, body?: object, etag?: string) =>
  world.send(world.home.management_token, method, `/v1/management${path}`, body, {
    ...(etag === undefined ? {} : { 'if-match': etag }),
  });
const tagOf = ({ headers }: Response) => headers.get('etag') ?? '';

interface Kind {
  path: string;
  create(): object;
  /** Two edits of two people. */
  first: object;
  second: object;
  /** More changes that take `If-Match`. */
  others: [method: string, path: string, body?: object][];
}

const KINDS: Kind[] = [
  {
    path: '/budgets',
    create: () => ({ period: 'day', limit_amount: 5 }),
    first: { limit_amount: 7 },
    second: { when_reached: 'warn' },
    others: [['DELETE', '']],
  },
  {
    path: '/upstream-keys',
    create: () => world.account(),
    first: { priority: 2 },
    second: { name: 'second' },
    others: [
      ['POST', '/rotate', { api_key: 'sim-another' }],
      ['POST', '/revoke', {}],
    ],
  },
  {
    path: '/alert-endpoints',
    create: () => ({ name: 'On call', type: 'webhook', url: 'https://example.com/hook' }),
    first: { kinds: ['budget_used'] },
    second: { enabled: false },
    others: [
      ['POST', '/rotate'],
      ['DELETE', ''],
    ],
  },
];

describe.each(KINDS)('$path', ({ path, create, first, second, others }) => {
  test('412: an edit with an old ETag changes nothing, and says what to do', async () => {
    const created = await send('POST', path, create());
    const { id } = (await created.json()) as { id: string };
    const item = `${path}/${id}`;
    const old = tagOf(created);
    expect(old).toMatch(/^"[\w-]+"$/);
    expect(tagOf(await send('GET', item))).toBe(old);

    const edited = await send('PATCH', item, first, old);
    expect(edited.status).toBe(200);
    const now = await edited.json();
    for (const [method, below, body] of [['PATCH', '', second] as const, ...others]) {
      const error = await errorOf(await send(method, item + below, body, old), 412);
      expect(error).toMatchObject({
        ...{ code: 'precondition_failed', param: 'If-Match' },
        message: 'Somebody changed this object after you read it.',
        hint: 'GET the object again, repeat your change, and send the new ETag.',
      });
    }
    const read = await send('GET', item);
    expect(await read.json()).toEqual(now);
    expect(tagOf(read)).toBe(tagOf(edited));

    const retried = await send('PATCH', item, second, tagOf(read));
    expect(retried.status).toBe(200);
    expect(await retried.json()).toMatchObject(second);
  });

  test('200: without If-Match the last edit wins; * and one of several tags match', async () => {
    // An organization has one budget of each period.
    const body = path === '/budgets' ? { ...create(), period: 'week' } : create();
    const created = await send('POST', path, body);
    const { id } = (await created.json()) as { id: string };
    const item = `${path}/${id}`;
    expect((await send('PATCH', item, first)).status).toBe(200);
    expect((await send('PATCH', item, second)).status).toBe(200);
    expect((await send('PATCH', item, first, '*')).status).toBe(200);
    const tag = tagOf(await send('GET', item));
    expect((await send('PATCH', item, second, `"other", ${tag}`)).status).toBe(200);
  });

  test('of concurrent edits with the same ETag, one is made', async () => {
    const body = path === '/budgets' ? { ...create(), period: 'month' } : create();
    const created = await send('POST', path, body);
    const { id } = (await created.json()) as { id: string };
    const tag = tagOf(created);
    const edits = [first, second, first, second, first, second];
    const answers = await Promise.all(
      edits.map((edit) => send('PATCH', `${path}/${id}`, edit, tag)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 412, 412, 412, 412, 412]);
  });
});

test('412: alert settings that somebody else changed', async () => {
  const old = tagOf(await send('GET', '/alert-settings'));
  expect((await send('PATCH', '/alert-settings', { unused_days: 20 }, old)).status).toBe(200);
  const stale = await send('PATCH', '/alert-settings', { unusual_factor: 5 }, old);
  expect((await errorOf(stale, 412)).param).toBe('If-Match');
});
