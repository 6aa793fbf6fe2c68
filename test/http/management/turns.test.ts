import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Turns } from '../../../src/http/management/turns.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { ManagedKeys } from '../../support/managed-keys.ts';

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

  test('all succeed, and do not delay the requests of another one', async () => {
    const { token } = await keys.addStranger();
    const { sql } = app.database;
    await sql`create function take_a_while() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.05); return new; end $$`;
    await sql`create trigger slow before insert on api_key
      for each row execute function take_a_while()`;
    const since = performance.now();
    const mine = Promise.all(Array.from({ length: 80 }, () => keys.create()));
    const delays: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const asked = performance.now();
      const response = await fetch(`${app.base_url}/v1/management/balance`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await response.text();
      expect(response.status).toBe(200);
      delays.push(performance.now() - asked);
    }
    expect(Math.max(...delays)).toBeLessThan(1_000);
    const statuses = (await mine).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    // The changes took longer than the database lets a statement wait for a lock.
    expect(performance.now() - since).toBeGreaterThan(3_000);
  });
});
