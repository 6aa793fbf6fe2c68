/** Requests that arrive together, or while a query runs, share one query for their sessions. */
import { expect, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { SessionReader } from '../../../src/http/sign-in/session-reader.ts';

/** A database whose queries a test ends one by one. Each cookie is the id of its session. */
function world() {
  const asked: string[][] = [];
  const open: (() => void)[] = [];
  const sql = ((parts: readonly string[] | string, ...values: unknown[]) => {
    if (typeof parts === 'string' || !('raw' in parts)) return '';
    if (!parts.join('').includes('from person join')) return '';
    const ids = values.find((value) => Array.isArray(value)) as string[];
    asked.push(ids);
    const rows = ids.map((session_id) => ({ session_id, id: `person of ${session_id}` }));
    return new Promise((resolve) => open.push(() => resolve(rows)));
  }) as unknown as Sql;
  const reader = new SessionReader(sql, {
    find: async ({ cookie }) => ({ id: cookie }) as never,
  });
  const find = (cookie: string) => reader.find({ cookie, user_agent: null, address: '' });
  return { asked, find, end: () => open.shift()?.() };
}

/** Shorter than a request waits for the query of others. */
const settle = () => Bun.sleep(2);

test('requests that arrive while a query runs share the next one, and each gets its own session', async () => {
  const { asked, find, end } = world();
  const first = find('a');
  await settle();
  const others: ReturnType<typeof find>[] = [];
  for (const cookie of ['b', 'c', 'b']) {
    others.push(find(cookie));
    await Bun.sleep(1);
  }
  expect(asked).toEqual([['a']]);
  end();
  await settle();
  expect(asked).toEqual([['a'], ['b', 'c']]);
  end();
  const found = await Promise.all([first, ...others]);
  expect(found.map((each) => each?.session.id)).toEqual(['a', 'b', 'c', 'b']);
});

test('a query that hangs does not hold up the others', async () => {
  const { asked, find, end } = world();
  find('a');
  await settle();
  const other = find('b');
  await Bun.sleep(60);
  expect(asked).toEqual([['a'], ['b']]);
  end();
  end();
  expect((await other)?.session.id).toBe('b');
});
