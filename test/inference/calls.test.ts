import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import {
  type KeyAnswer,
  startInstallation,
  type TestInstallation,
} from '../support/installation.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

interface Line {
  model: string;
  outcome: string;
  estimated: boolean;
  output_tokens: number;
  charged: number;
  overrun: number;
}

describe('the life of a call', () => {
  let installation: TestInstallation;
  let database: Database;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const fresh = await createTestDatabase();
    drop = fresh.drop;
    database = connectDatabase(fresh.url, { pool: 'single' });
    installation = await startInstallation({ env: { DATABASE_URL: fresh.url } });
  });

  afterAll(async () => {
    await installation.stop();
    expect(await findMoneyFaults(database.sql)).toEqual([]);
    await database.close();
    await drop();
  });

  async function newKey(body: object = {}): Promise<KeyAnswer> {
    return installation.manage<KeyAnswer>('POST', '/api-keys', body);
  }

  function chat(key: KeyAnswer, content: string, extra: object = {}, signal?: AbortSignal) {
    return fetch(`${installation.weir.base_url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content }],
        ...extra,
      }),
      ...(signal ? { signal } : {}),
    });
  }

  async function linesOf(key: KeyAnswer): Promise<Line[]> {
    const lines = await database.sql<Line[]>`
      select model, outcome, estimated, output_tokens, charged_nano_usd as charged,
        overrun_nano_usd as overrun
      from usage_line where key_id = ${key.id} order by created_at`;
    return lines.map((line) => ({ ...line }));
  }

  async function moneyOf(key: KeyAnswer): Promise<{ used: number; reserved: number }> {
    const [row] = await database.sql<{ used: number; open: number }[]>`
      select (used_nano_usd + coalesce(sum(settled_nano_usd - posted_nano_usd), 0))::int8 as used,
        coalesce(sum(granted_nano_usd - settled_nano_usd), 0)::int8 as open
      from api_key left join quota_grant on key_id = api_key.id and quota_grant.status = 'open'
      where api_key.id = ${key.id} group by api_key.id`;
    return { used: row?.used ?? 0, reserved: row?.open ?? 0 };
  }

  /** Returns the charge of one call with this content, nano-USD. */
  async function priceOf(content: string, extra: object = {}): Promise<number> {
    const key = await newKey();
    await (await chat(key, content, extra)).text();
    return (await moneyOf(key)).used;
  }

  describe('near the cap', () => {
    for (const [name, extra] of [
      ['a call with max_tokens', { max_tokens: 20 }],
      ['a call whose upper bound is far above its price', {}],
      ['a stream', { stream: true }],
    ] as const) {
      test(`P2: 64 concurrent callers with a cap for exactly 10 calls get exactly 10: ${name}`, async () => {
        const content = 'Say it [[sim tokens=20 latency_ms=30]]';
        const price = await priceOf(content, extra);
        const key = await newKey({ limitAmount: (price * 10) / 1e9 });
        const answers = await Promise.all(
          Array.from({ length: 64 }, async () => {
            const answer = await chat(key, content, extra);
            return { status: answer.status, text: await answer.text() };
          }),
        );
        const served = answers.filter(({ status }) => status === 200);
        const refused = answers.filter(({ status }) => status !== 200);
        expect(served).toHaveLength(10);
        expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([402]));
        for (const { text } of refused) expect(JSON.parse(text).error.code).toBe('quota_exceeded');
        expect(await moneyOf(key)).toMatchObject({ used: price * 10 });
      });
    }

    test('P2: a stream that reaches the cap ends cleanly, and its output is charged', async () => {
      const key = await newKey({ limitAmount: 0.0005 });
      const answer = await chat(key, 'Tell it all [[sim tokens=4000]]', { stream: true });
      const text = await answer.text();
      expect(text).toContain('"finish_reason":"length"');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
      const { used } = await moneyOf(key);
      expect(used).toBeLessThanOrEqual(500_000);
      expect(used).toBeGreaterThan(300_000);
      const again = await chat(key, 'Once more, at length: '.repeat(200));
      expect(again.status).toBe(402);
    });

    test('P17: a high limit that hides behind a low one is charged in full, with no overrun', async () => {
      const key = await newKey({ limitAmount: 0.001 });
      const limits = { max_completion_tokens: 1, max_tokens: 20_000 };
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => chat(key, 'Tell it all [[sim tokens=20000]]', limits)),
      );
      for (const answer of answers) await answer.text();
      const lines = await linesOf(key);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.map(({ overrun }) => overrun)).toEqual(lines.map(() => 0));
      expect((await moneyOf(key)).used).toBeLessThanOrEqual(1_000_000);
    });

    test('a limit below the used amount stops the key at once', async () => {
      const key = await newKey({ limitAmount: 1 });
      expect((await chat(key, 'Hi')).status).toBe(200);
      await installation.manage('PATCH', `/api-keys/${key.id}`, { limitAmount: 0 });
      const refused = await until('the key is stopped', async () => {
        const answer = await chat(key, 'Hi');
        return answer.status === 402 ? answer.json() : undefined;
      });
      expect(refused).toMatchObject({ error: { code: 'quota_exceeded' } });
    });
  });

  describe('what is charged', () => {
    test('P12: without reported usage the tokens are counted, and the usage line is marked as estimated', async () => {
      const key = await newKey();
      await (await chat(key, 'Hi [[sim tokens=12 no_usage=1]]')).text();
      await (await chat(key, 'Hi [[sim tokens=12 no_usage=1]]', { stream: true })).text();
      const lines = await linesOf(key);
      expect(lines.map((line) => [line.estimated, line.output_tokens])).toEqual([
        [true, 12],
        [true, 12],
      ]);
    });

    test('P12: if the upstream fails before any output, nothing is charged', async () => {
      const key = await newKey();
      await (await chat(key, 'Hi [[sim status=400]]')).text();
      await (await chat(key, 'Hi [[sim status=400]]', { stream: true })).text();
      expect(await linesOf(key)).toEqual([]);
      expect(await moneyOf(key)).toMatchObject({ used: 0 });
    });

    test('P12: a stream that breaks in the middle is charged for its output and ends with an error event', async () => {
      const key = await newKey();
      const answer = await chat(key, 'Hi [[sim tokens=100 truncate_after=20]]', { stream: true });
      const text = await answer.text();
      expect(text).toContain('"error":{');
      const [line] = await linesOf(key);
      expect(line).toMatchObject({ outcome: 'partial', estimated: true });
      expect(line?.output_tokens).toBeGreaterThan(5);
      expect(line?.output_tokens).toBeLessThan(100);
    });

    test('P8: if the client leaves, the upstream stops within a second, and only the output so far is charged', async () => {
      const key = await newKey();
      const client = new AbortController();
      const content = 'Slowly [[sim tokens=400 chunk_ms=25]]';
      const extra = { stream: true, user: 'client-that-leaves' };
      const answer = await chat(key, content, extra, client.signal);
      const reader = answer.body?.getReader();
      for (let chunk = 0; chunk < 20; chunk += 1) await reader?.read();
      const left_at = Date.now();
      client.abort();
      const [line] = await until('the produced part is charged', async () => {
        const lines = await linesOf(key);
        return lines.length > 0 ? lines : undefined;
      });
      expect(line).toMatchObject({ outcome: 'partial' });
      expect(line?.output_tokens).toBeGreaterThan(5);
      expect(line?.output_tokens).toBeLessThan(200);
      const { calls } = await installation.simulator.closedBooks();
      const call = calls.find((each) => each.client_reference === 'client-that-leaves');
      expect(call?.outcome).toBe('aborted');
      // P8 is the only promise with a time limit.
      expect((call?.at ?? 0) + (call?.aborted_at_ms ?? 1e9) - left_at).toBeLessThan(1_000);
    });

    test('P15: the metrics of a replica can be scraped, and name no provider, organization or key', async () => {
      const text = await (await fetch(`${installation.weir.base_url}/metrics`)).text();
      expect(text).toContain('weir_lane_depth 0');
      expect(text).not.toMatch(/openai|org_|key_/);
    });

    test('P15: each usage line has one billing transaction, and the lines sum to the used amount', async () => {
      const key = await newKey();
      await Promise.all(Array.from({ length: 20 }, async () => (await chat(key, 'Hi')).text()));
      const lines = await linesOf(key);
      expect(lines).toHaveLength(20);
      const sum = lines.reduce((total, line) => total + line.charged, 0);
      expect((await moneyOf(key)).used).toBe(sum);
      const [ids] = await database.sql`
        select count(distinct id)::int4 as transactions, count(distinct request_id)::int4 as requests
        from usage_line where key_id = ${key.id}`;
      expect({ ...ids }).toEqual({ transactions: 20, requests: 20 });
    });
  });

  describe('failover', () => {
    const onMainChannel = (directive: string) => `Hi [[sim channel=openai-main ${directive}]]`;
    const accountsCalled = async (reference: string) =>
      (await installation.simulator.closedBooks()).calls
        .filter((call) => call.client_reference === reference)
        .map((call) => call.account);

    for (const directive of ['status=500', 'lose=1', 'malformed=1', 'status=401']) {
      test(`another channel serves if the first fails with ${directive}`, async () => {
        await installation.stop();
        await restart();
        const key = await newKey();
        const extra = { model: 'gpt-4o', user: `failover ${directive}` };
        const answer = await chat(key, onMainChannel(directive), extra);
        expect(answer.status).toBe(200);
        await answer.text();
        expect(await linesOf(key)).toHaveLength(1);
      });
    }

    async function restart(): Promise<void> {
      const fresh = await createTestDatabase();
      await database.close();
      await drop();
      drop = fresh.drop;
      database = connectDatabase(fresh.url, { pool: 'single' });
      installation = await startInstallation({ env: { DATABASE_URL: fresh.url } });
    }

    test('P7: after the first byte was sent, no other channel is tried', async () => {
      await installation.stop();
      await restart();
      const key = await newKey();
      const extra = { model: 'gpt-4o', stream: true, user: 'after the first byte' };
      const text = await (
        await chat(key, onMainChannel('tokens=60 truncate_after=10'), extra)
      ).text();
      expect(text).toContain('"error":{');
      expect(await accountsCalled('after the first byte')).toEqual(['openai-main']);
    });

    test('P9: a client’s error never counts against a channel', async () => {
      const key = await newKey();
      for (let time = 0; time < 30; time += 1) {
        const answer = await chat(key, 'Hi', { model: 'gpt-4.1', no_such_parameter: true });
        expect(answer.status).toBe(400);
        await answer.text();
      }
      expect((await chat(key, 'Hi', { model: 'gpt-4.1' })).status).toBe(200);
    });

    test('P9: a failing channel gets at most 5 of 20 calls while the others serve', async () => {
      const key = await newKey();
      await installation.simulator.setAccount('openai-main', { status: 500 });
      const statuses: number[] = [];
      for (let time = 0; time < 20; time += 1) {
        const answer = await chat(key, 'Hi', { model: 'gpt-4o', user: 'sick' });
        statuses.push(answer.status);
        await answer.text();
      }
      expect(new Set(statuses)).toEqual(new Set([200]));
      const accounts = await accountsCalled('sick');
      expect(accounts.filter((account) => account === 'openai-main').length).toBeLessThanOrEqual(5);
      await installation.simulator.setAccount('openai-main', {});
    });

    test('if no channel is available, the answer is 503 with the time to wait and models that work now', async () => {
      const key = await newKey();
      await installation.simulator.setAccount('openai-lonely', { revoked: true });
      const answer = await chat(key, 'Hi', { model: 'gpt-4.1' });
      expect(answer.status).toBe(503);
      const { error } = (await answer.json()) as {
        error: { code: string; retry_after: number; alternatives: { id: string }[] };
      };
      expect(error.code).toBe('all_channels_failed');
      expect(Number(answer.headers.get('retry-after'))).toBe(error.retry_after);
      const [alternative] = error.alternatives;
      expect(alternative?.id).not.toBe('gpt-4.1');
      expect((await chat(key, 'Hi', { model: alternative?.id })).status).toBe(200);
    });
  });
});
