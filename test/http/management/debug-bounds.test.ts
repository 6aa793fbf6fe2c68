/** How long a debug window lasts, how much it stores, on which replicas, and what is on record of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { deleteOldCopies } from '../../../db/debug/copies.ts';
import { type DebugWorld, question, startDebugWorld } from '../../support/debug.ts';
import { errorOf } from '../../support/envelope.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let world: DebugWorld;
beforeAll(async () => {
  world = await startDebugWorld();
});
afterAll(() => world.stop());

describe('the bounds of a window', () => {
  test('a longer body is cut, and its size is named', async () => {
    await world.whileOpen(
      async () => {
        const seen = world.client();
        const text = 'é'.repeat(2_000);
        await seen.client.chat.completions.create(question(`x${text}`));
        const { request } = await world.readCopy(seen.id());
        expect(request).toMatchObject({ truncated: true, encoding: 'utf8' });
        expect(request.bytes).toBe(Buffer.byteLength(seen.sent()));
        expect(Buffer.byteLength(request.body)).toBeWithin(1_020, 1_025);
        expect(seen.sent()).toStartWith(request.body);
      },
      { max_body_bytes: 1_024 },
    );
  });

  test('a call that does not fit closes the window, on both replicas', async () => {
    const window = await world.openWindow({ max_bytes: 4_000 });
    const seen = [world.client(0), world.client(1)];
    await until('the window is full', async () => {
      for (const { client: each } of seen) await each.chat.completions.create(question());
      return (await world.readWindow(window.id)).status === 'full';
    });
    const full = await world.readWindow(window.id);
    expect(full.stored_bytes).toBeWithin(1, 4_001);
    for (const { client: each } of seen) await each.chat.completions.create(question());
    await Bun.sleep(300);
    expect(await world.readWindow(window.id)).toEqual(full);
    const [row] = await world.database.sql<{ copies: number; bytes: number }[]>`
      select count(*)::int4 as copies,
        sum(octet_length(request_body) + octet_length(answer_body))::int4 as bytes
      from debug_copy where window_id = ${window.id}`;
    expect(row).toEqual({ copies: full.stored_calls, bytes: full.stored_bytes });
  });

  test('one window for the same keys at a time, and 256 MB for all windows', async () => {
    await world.whileOpen(async () => {
      const again = await errorOf(await world.manage('POST', '/debug-windows', {}), 400);
      expect(again.message).toContain('already open');
    });
    const [key] = await world.database.sql<{ id: string }[]>`select id from api_key limit 1`;
    await world.whileOpen(
      async () => {
        const more = { api_key_id: key?.id, max_bytes: 2 * 1024 * 1024 };
        const refused = await errorOf(await world.manage('POST', '/debug-windows', more), 400);
        expect(refused.param).toBe('max_bytes');
      },
      { max_bytes: 255 * 1024 * 1024 },
    );
  });

  test.each([
    ['minutes', 0],
    ['minutes', 24 * 60 + 1],
    ['keep_hours', 169],
    ['max_bytes', 1],
    ['max_bytes', 257 * 1024 * 1024],
    ['max_body_bytes', 5 * 1024 * 1024],
    ['api_key_id', 5],
    ['api_key_id', 'a\u0000b'],
    ['hours', 1],
  ])('400: %s %p', async (param, value) => {
    const refused = await errorOf(
      await world.manage('POST', '/debug-windows', { [param]: value }),
      400,
    );
    expect(refused.param).toBe(param);
  });

  test('404: a window for a key that the organization does not have', async () => {
    const wish = { api_key_id: `key_${'0'.repeat(32)}` };
    expect((await errorOf(await world.manage('POST', '/debug-windows', wish), 404)).param).toBe(
      'api_key_id',
    );
  });

  test('it ends after an hour and deletes itself a day later, if nothing else is said', async () => {
    await world.whileOpen(async ({ closes_at, delete_at }) => {
      const hours = (to: string, from: string | number) =>
        (new Date(to).getTime() - new Date(from).getTime()) / 3_600_000;
      expect(hours(closes_at, Date.now())).toBeCloseTo(1, 1);
      expect(hours(delete_at, closes_at)).toBe(24);
    });
  });
});

describe('after the end', () => {
  test('nothing is stored any more, even if a replica does not know of the end', async () => {
    const window = await world.openWindow();
    const seen = world.client();
    await world.database
      .sql`update debug_window set closed_at = weir_now() where id = ${window.id}`;
    await seen.client.chat.completions.create(question());
    await Bun.sleep(300);
    await errorOf(await world.manage('GET', `/requests/${seen.id()}/debug`), 404);
    expect((await world.readWindow(window.id)).stored_calls).toBe(0);
  });

  test('a window ends by itself on time', async () => {
    const window = await world.openWindow({ minutes: 1 });
    await world.database
      .sql`update debug_window set closes_at = weir_now() where id = ${window.id}`;
    expect((await world.readWindow(window.id)).status).toBe('ended');
    const seen = world.client();
    await seen.client.chat.completions.create(question());
    await Bun.sleep(300);
    expect((await world.readWindow(window.id)).stored_calls).toBe(0);
    // The next window does not wait for it.
    await world.closeWindow((await world.openWindow()).id);
  });

  test('its time over, a copy cannot be read, and housekeeping deletes it', async () => {
    const seen = world.client();
    const window = await world.openWindow();
    await seen.client.chat.completions.create(question());
    await world.readCopy(seen.id());
    const closed = await world.closeWindow(window.id);
    expect(closed.status).toBe('closed');
    await world.readCopy(seen.id());
    await world.database
      .sql`update debug_window set keep_until = weir_now() where id = ${window.id}`;
    await errorOf(await world.manage('GET', `/requests/${seen.id()}/debug`), 404);
    const count = async () =>
      (await world.database.sql`select from debug_copy where window_id = ${window.id}`).length;
    expect(await count()).toBe(1);
    await deleteOldCopies(world.database.sql, 10);
    expect(await count()).toBe(0);
  });
});

test('calls on the other replica are copied within seconds, and read there', async () => {
  await world.whileOpen(async () => {
    const seen = world.client(1);
    await until('the other replica copies', async () => {
      await seen.client.chat.completions.create(question());
      await Bun.sleep(50);
      return (await world.manage('GET', `/requests/${seen.id()}/debug`)).ok;
    });
    expect((await world.readCopy(seen.id(), 1)).request.body).toBe(seen.sent());
  });
});

test('opening, closing and each reading are on record, and no row of the record can change', async () => {
  const window = await world.openWindow();
  const seen = world.client();
  await seen.client.chat.completions.create(question());
  await world.readCopy(seen.id());
  await world.closeWindow(window.id);
  await world.closeWindow(window.id);
  await world.readCopy(seen.id());
  const list = (await (await world.manage('GET', '/debug-events?limit=100')).json()) as {
    data: { action: string; window_id: string; request_id: string | null; token_id: string }[];
  };
  const own = list.data.filter(({ window_id }) => window_id === window.id).toReversed();
  const [token] = await world.database.sql<{ id: string }[]>`
    select id from access_token where kind = 'management'`;
  expect(own.map(({ action, request_id }) => [action, request_id])).toEqual([
    ['opened', null],
    ['read', seen.id()],
    ['closed', null],
    ['read', seen.id()],
  ]);
  expect(new Set(own.map(({ token_id }) => token_id))).toEqual(new Set([token?.id ?? '']));
  const { sql } = world.database;
  for (const change of [
    () => sql`update debug_event set token_id = 'nobody'`,
    () => sql`delete from debug_event`,
    () => sql`truncate debug_event`,
  ]) {
    await expect(Promise.resolve(change())).rejects.toThrow('never changed');
  }
});

test('windows are listed page by page, the newest first', async () => {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = (await (await world.manage('GET', `/debug-windows?limit=3${query}`)).json()) as {
      data: { id: string }[];
      next_cursor: string | null;
    };
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== null);
  const stored = await world.database.sql<{ id: string }[]>`
    select id from debug_window order by opened_at desc, id desc`;
  expect(ids).toEqual(stored.map(({ id }) => id));
  expect(ids.length).toBeGreaterThan(3);
});
