import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import {
  configOf,
  type KeyAnswer,
  startInstallation,
  type TestInstallation,
} from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { sharedRedisUrl } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';

describe.each(['PostgreSQL', 'Redis'])(
  'two replicas on one database, with messages over %s',
  (carrier) => {
    let installation: TestInstallation;
    let second: RunningWeir;
    let database: Database;
    let drop: () => Promise<void>;
    let env: Record<string, string>;

    beforeAll(async () => {
      const fresh = await createTestDatabase(15);
      drop = fresh.drop;
      env = { DATABASE_URL: fresh.url };
      if (carrier === 'Redis') env['REDIS_URL'] = await sharedRedisUrl();
      database = connectDatabase(fresh.url, { pool: 'single' });
      installation = await startInstallation({ env });
      second = await startSecond();
    });

    afterAll(async () => {
      await second.stop();
      await installation.stop();
      expect(await findMoneyFaults(database.sql)).toEqual([]);
      await database.close();
      await drop();
    });

    function startSecond(): Promise<RunningWeir> {
      return startWeir({ config: configOf(installation.simulator.url), env });
    }

    function chat(
      weir: RunningWeir,
      key: string,
      content: string,
      metadata?: object,
    ): Promise<Response> {
      const messages = [{ role: 'user', content }];
      return fetch(`${weir.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages, metadata }),
      });
    }

    const newKey = (body: object = {}) => installation.manage<KeyAnswer>('POST', '/api-keys', body);

    async function usedBy(id: string): Promise<number> {
      const { data } = await installation.manage<{ data: KeyAnswer[] }>('GET', '/api-keys');
      return data.find((each) => each.id === id)?.used_amount ?? Number.NaN;
    }

    test('P2: 64 concurrent calls over both replicas get exactly the 10 that the cap covers', async () => {
      const content = 'Say it [[sim tokens=20 latency_ms=30]]';
      const probe = await newKey();
      await (await chat(second, probe.key, content)).text();
      const price = await usedBy(probe.id);
      const { id, key } = await newKey({ limitAmount: price * 10 });
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async (_, caller) => {
          const answer = await chat(caller % 2 ? second : installation.weir, key, content);
          await answer.text();
          return answer.status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(statuses.filter((status) => status === 402)).toHaveLength(54);
      expect(await usedBy(id)).toBeCloseTo(price * 10, 9);
    });

    test('P2: 64 concurrent calls with a tag get exactly the 10 that its budget covers', async () => {
      const content = 'Say it [[sim tokens=20 latency_ms=30]]';
      const keys = [await newKey(), await newKey()] as const;
      await (await chat(second, keys[0].key, content)).text();
      const price = await usedBy(keys[0].id);
      const budget = (tag: object, limit_amount: number) =>
        installation.manage<{ id: string }>('POST', '/budgets', {
          ...{ period: 'month', tag, limit_amount },
        });
      const { id } = await budget({ team: 'blue' }, Number((price * 10).toFixed(9)));
      await budget({ team: 'none' }, 0);
      // The other replica reads the tags in the order of the messages.
      await until('the other replica knows the tags', async () => {
        const answer = await chat(second, keys[0].key, 'Hi', { team: 'none' });
        await answer.text();
        return answer.status === 402;
      });
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async (_, caller) => {
          const weir = caller % 2 ? second : installation.weir;
          const { key } = keys[caller % 4 < 2 ? 0 : 1];
          const answer = await chat(weir, key, content, { team: 'blue', caller: `${caller}` });
          await answer.text();
          return answer.status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(statuses.filter((status) => status === 402)).toHaveLength(54);
      const path = `/budgets/${id}`;
      const { used_amount } = await installation.manage<{ used_amount: number }>('GET', path);
      expect(used_amount).toBeCloseTo(price * 10, 9);
    });

    test('each replica receives the heartbeat of the other', async () => {
      for (const weir of [installation.weir, second]) {
        await until('the metrics show a peer', async () => {
          const text = await (await fetch(`${weir.base_url}/metrics`)).text();
          expect(text).toContain('# TYPE weir_bus_gaps_total counter');
          return text.includes('\nweir_bus_peers 1\n');
        });
      }
    });

    test('P6: a key that is revoked on one replica is refused by the other', async () => {
      const { id, key } = await newKey();
      expect((await chat(second, key, 'Hi')).status).toBe(200);
      await installation.manage('PATCH', `/api-keys/${id}`, { status: 'revoked' });
      await until('the other replica refuses it', async () => {
        const answer = await chat(second, key, 'Hi');
        await answer.text();
        return answer.status === 401;
      });
    });

    test('after the lease of a killed replica its grants are closed, and all sums match', async () => {
      const { key } = await newKey();
      expect((await chat(second, key, 'Hi')).status).toBe(200);
      second.kill('SIGKILL');
      await second.exited;
      const replicaState = async () => {
        const [row] = await database.sql<{ n: number }[]>`
        select count(*)::int4 as n from quota_grant join replica on replica.id = replica_id
        where quota_grant.status = 'open' and replica.lease_until < now()`;
        const [dead] = await database.sql<{ n: number }[]>`
        select count(*)::int4 as n from replica where status = 'dead'`;
        return { open: row?.n ?? 1, dead: dead?.n ?? 0 };
      };
      await until('the dead replica is closed', async () => {
        const { open, dead } = await replicaState();
        return open === 0 && dead >= 1;
      });
      expect(await findMoneyFaults(database.sql)).toEqual([]);
      second = await startSecond();
      expect((await chat(second, key, 'Hi again')).status).toBe(200);
    }, 60_000);
  },
);
