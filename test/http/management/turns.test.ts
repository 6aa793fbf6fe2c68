import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Turns } from '../../../src/http/management/turns.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ManagedKeys } from '../../support/managed-keys.ts';
import { beginSilent } from '../../support/silent-transaction.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(30_000);

describe('turns', () => {
  test('run the work of one organization in order, and that of others meanwhile', async () => {
    const turns = new Turns();
    const events: string[] = [];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const work =
      (name: string, until: Promise<unknown> = Promise.resolve()) =>
      async () => {
        events.push(`${name} begins`);
        await until;
        events.push(`${name} ends`);
      };
    const mine = [turns.run('a', work('a1', gate)), turns.run('a', work('a2'))];
    await turns.run('b', work('b1'));
    open();
    await Promise.all(mine);
    expect(events).toEqual([
      ...['a1 begins', 'b1 begins', 'b1 ends', 'a1 ends', 'a2 begins', 'a2 ends'],
    ]);
  });

  test('go on after work that fails, and have a limit', async () => {
    const turns = new Turns();
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const failed = turns.run('a', () => gate.then(() => Promise.reject(new Error('no'))));
    const others = Array.from({ length: 999 }, () => turns.run('a', async () => 1));
    const refused = await turns.run('a', async () => 1).catch((error: unknown) => error);
    expect(refused).toMatchObject({ id: 'service_unavailable', details: { retry_after: 1 } });
    expect(await turns.run('b', async () => 2)).toBe(2);
    open();
    expect(await failed.catch((error: Error) => error.message)).toBe('no');
    expect(new Set(await Promise.all(others))).toEqual(new Set([1]));
    expect(await turns.run('a', async () => 3)).toBe(3);
  });
});

describe('P20: many changes of one organization', () => {
  let app: TestApp;
  const keys = new ManagedKeys(() => app);
  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.stop());

  test('wait for each other with one connection, so that another one’s requests do not wait', async () => {
    const { token } = await keys.addStranger();
    const { sql } = app.database;
    await sql.unsafe(`
      create function wait_for_the_test() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock(42); return new; end $$;
      create trigger waits before insert on api_key
        for each row execute function wait_for_the_test()`);
    // Each change that reaches the database waits for this lock, and fails if it waits too long.
    const mine = await beginSilent(sql, async (tx) => {
      await tx`select pg_advisory_xact_lock(42)`;
      const created = Promise.all(Array.from({ length: 80 }, () => keys.create()));
      await until('the first change waits', async () => {
        const waiting = await sql`select from pg_locks where locktype = 'advisory' and not granted`;
        return waiting.length > 0;
      });
      for (let n = 0; n < 3; n += 1) {
        const response = await fetch(`${app.base_url}/v1/management/balance`, {
          headers: { authorization: `Bearer ${token}` },
        });
        await response.text();
        expect(response.status).toBe(200);
      }
      const waiting = await sql`select from pg_locks where locktype = 'advisory' and not granted`;
      expect(waiting.length).toBe(1);
      return { created };
    });
    const statuses = (await mine.created).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
