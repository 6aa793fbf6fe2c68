/** Requests that arrive together, or while a query runs, share one query for their sessions. */
import { expect, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { SessionReader } from '../../../src/http/sign-in/session-reader.ts';
import { fc } from '../../support/property.ts';

/**
 * A database whose queries a test ends one by one. Each cookie is the id of its session. A query sees the sessions
 * that have not ended when it begins. Nobody waits long enough for a query until `hang` says so.
 */
function world() {
  const asked: string[][] = [];
  const ended = new Set<string>();
  const open: (() => void)[] = [];
  const waits: (() => void)[] = [];
  const sql = ((parts: readonly string[] | string, ...values: unknown[]) => {
    if (typeof parts === 'string' || !('raw' in parts)) return '';
    if (!parts.join('').includes('from person join')) return '';
    const ids = values.find((value) => Array.isArray(value)) as string[];
    asked.push(ids);
    const live = ids.filter((id) => !ended.has(id));
    const rows = live.map((session_id) => ({ session_id, id: `person of ${session_id}` }));
    return new Promise((resolve) => open.push(() => resolve(rows)));
  }) as unknown as Sql;
  const library = { find: async ({ cookie }: { cookie: string }) => ({ id: cookie }) as never };
  const sleep = () => new Promise<void>((resolve) => waits.push(resolve));
  const reader = new SessionReader(sql, library as never, sleep);
  const find = (cookie: string) => reader.find({ cookie, user_agent: null, address: '' });
  const hang = () => {
    for (const wait of waits.splice(0)) wait();
  };
  return { asked, ended, open, find, hang, end: () => open.shift()?.() };
}

/** Lets begin what can begin. */
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
  const { asked, find, hang, end } = world();
  find('a');
  await settle();
  const other = find('b');
  await settle();
  expect(asked).toEqual([['a']]);
  hang();
  await settle();
  expect(asked).toEqual([['a'], ['b']]);
  end();
  end();
  expect((await other)?.session.id).toBe('b');
});

test('a session that ended while a query runs is not let in by it', async () => {
  const { asked, ended, find, end } = world();
  const before = find('a');
  await settle();
  ended.add('a');
  const after = find('a');
  const other = find('b');
  await settle();
  end();
  await settle();
  end();
  // The first request came before the end.
  expect((await before)?.session.id).toBe('a');
  expect(await after).toBeUndefined();
  expect((await other)?.session.id).toBe('b');
  expect(asked).toEqual([['a'], ['a', 'b']]);
});

test('no request gets in with a session that ended before it, in any order of requests and queries', async () => {
  const session = fc.constantFrom('a', 'b');
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom('find' as const, 'end session' as const), session }),
    fc.record({ do: fc.constantFrom('end query' as const, 'hang' as const, 'rest' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const { ended, find, open, hang, end } = world();
      const found: Promise<boolean>[] = [];
      for (const each of steps) {
        if (each.do === 'find') {
          const hasEnded = ended.has(each.session);
          found.push(find(each.session).then((got) => !(hasEnded && got)));
        } else if (each.do === 'end session') ended.add(each.session);
        else if (each.do === 'end query') end();
        else if (each.do === 'hang') hang();
        else await settle();
      }
      do {
        while (open.length > 0) end();
        await settle();
      } while (open.length > 0);
      expect(await Promise.all(found)).not.toContain(false);
    }),
    { numRuns: 40 },
  );
});
