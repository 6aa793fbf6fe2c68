/** What needs a person (`GET /v1/management/notices`): each kind, its bounds, and who sees it. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { insertDeliveries } from '../../support/listed-rows.ts';

setDefaultTimeout(60_000);

const NANO = 1_000_000_000;
const DAY_MS = 86_400_000;

interface Notice {
  id: string;
  kind: string;
  severity: string;
  subject: { kind: string; id: string; name: string };
  since: string | null;
  text: string;
  act: string;
  page: string;
  figures: Record<string, number>;
}

let app: TestApp;
let key_id = '';
const down = new Map<string, number>();
beforeAll(async () => {
  app = await startTestApp({ downSince: (model) => down.get(model) });
  const [key] = await app.pool.sql<{ id: string }[]>`select id from api_key`;
  key_id = key?.id ?? '';
});
afterAll(() => app.stop());
beforeEach(async () => {
  const { sql } = app.pool;
  down.clear();
  await sql`delete from webhook_delivery`;
  await sql`delete from task`;
  await sql`delete from usage_line`;
  await sql`update api_key set limit_nano_usd = null, ceiling_nano_usd = null, used_nano_usd = 0`;
  await setMoney({ available: 100 });
});

async function list(token = app.credentials.management_token): Promise<Notice[]> {
  const answer = await fetch(`${app.base_url}/v1/management/notices`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const body = (await answer.json()) as { object: string; data: Notice[] };
  expect({ status: answer.status, object: body.object }).toEqual({ status: 200, object: 'list' });
  return body.data;
}

/** Sets what the organization has; USD. */
async function setMoney({ available, held = 0 }: { available: number; held?: number }) {
  const [balance, hold] = [available * NANO, held * NANO];
  await app.pool.sql`
    update organization set balance_nano_usd = ${balance}, held_nano_usd = ${hold},
      settled_nano_usd = 0, deposited_nano_usd = ${balance + hold}`;
}

/** Adds a charge of `usd`, `days` days ago. */
async function spend(usd: number, days: number, model = 'gpt-4o'): Promise<void> {
  const at = new Date(Date.now() - days * DAY_MS);
  await app.pool.sql`insert into usage_line ${app.pool.sql({
    ...{ id: Bun.randomUUIDv7(), request_id: Bun.randomUUIDv7(), grant_id: Bun.randomUUIDv7() },
    ...{ organization_id: app.organization_id, key_id, scene: 'chat', model, model_vendor: 'v' },
    ...{ access_channel: 'platform', channel_id: 'canary', outcome: 'completed' },
    ...{ estimated: false, charged_nano_usd: usd * NANO, input_tokens: 1, output_tokens: 1 },
    ...{ cached_input_tokens: 0, cache_write_tokens: 0, created_at: at, at },
  })}`;
}

const cap = (limit: number, used: number) => app.pool.sql`
  update api_key set limit_nano_usd = ${limit * NANO}, ceiling_nano_usd = ${limit * NANO},
    used_nano_usd = ${used * NANO} where id = ${key_id}`;

test('nothing, if nothing needs a person', async () => {
  await spend(1, 1);
  await cap(10, 7.9);
  down.set('gpt-4o-mini', Date.now());
  expect(await list()).toEqual([]);
});

describe('a key', () => {
  test('near its cap is a warning, with its share', async () => {
    await cap(10, 8);
    expect(await list()).toEqual([
      {
        ...{ id: `key_near_cap:${key_id}:${10 * NANO}`, kind: 'key_near_cap' },
        severity: 'warning',
        subject: { kind: 'key', id: key_id, name: expect.any(String) as never },
        since: null,
        text: 'The key has used 80 % of its cap: $8.00 of $10.00.',
        act: 'Raise limitAmount of the key, or use another key.',
        page: 'api-keys',
        figures: { used_amount: 8, limit_amount: 10 },
      },
    ]);
  });

  test('at its cap is a problem, and another cap is another cause', async () => {
    await cap(10, 10);
    const [before] = await list();
    expect(before).toMatchObject({ kind: 'key_at_cap', severity: 'problem' });
    await cap(11, 11);
    const [after] = await list();
    expect(after?.kind).toBe('key_at_cap');
    expect(after?.id).not.toBe(before?.id as string);
  });

  test('counts charges that are not posted yet', async () => {
    await cap(10, 7);
    await app.pool.sql`insert into replica (id, lease_until) values ('replica_n', now())
      on conflict do nothing`;
    await app.pool.sql`insert into quota_grant ${app.pool.sql({
      ...{ id: Bun.randomUUIDv7(), replica_id: 'replica_n', key_id },
      ...{ organization_id: app.organization_id, status: 'open', granted_nano_usd: 2 * NANO },
      ...{ settled_nano_usd: 1.5 * NANO, posted_nano_usd: 0.5 * NANO },
    })}`;
    const [notice] = await list();
    await app.pool.sql`delete from quota_grant`;
    expect(notice).toMatchObject({ kind: 'key_near_cap', figures: { used_amount: 8 } });
  });

  test.each([
    ['that is revoked', "status = 'revoked'", "status = 'active'"],
    ['that has expired', "expires_at = now() - interval '1 s'", 'expires_at = null'],
    ['that may spend nothing', 'limit_nano_usd = 0', 'limit_nano_usd = 0'],
  ])('%s is no notice', async (_, change, back) => {
    await cap(10, 10);
    const { sql } = app.pool;
    await sql`update api_key set ${sql.unsafe(change)} where id = ${key_id}`;
    const found = await list();
    await sql`update api_key set ${sql.unsafe(back)} where id = ${key_id}`;
    expect(found).toEqual([]);
  });

  test('of many, the fullest twenty', async () => {
    const rows = Array.from({ length: 30 }, (_, at) => {
      const secret = newCredential('sk');
      return {
        ...{ id: newId('key'), organization_id: app.organization_id, name: `key ${at}` },
        ...{ key_hash: hashCredential(secret), key_prefix: shownPrefix(secret) },
        ...{ limit_nano_usd: 100, ceiling_nano_usd: 100, used_nano_usd: 70 + at },
      };
    });
    const { sql } = app.pool;
    await sql`insert into api_key ${sql(rows)}`;
    const found = await list();
    await sql`delete from api_key where name like 'key %'`;
    expect(found.map(({ subject }) => subject.name)).toEqual(
      Array.from({ length: 20 }, (_, at) => `key ${29 - at}`),
    );
  });
});

describe('the balance', () => {
  test('is low if it lasts for fewer than three days', async () => {
    await spend(70, 2);
    await setMoney({ available: 60 });
    expect(await list()).toEqual([]);
    await setMoney({ available: 15, held: 5 });
    const [notice] = await list();
    expect(notice).toMatchObject({
      ...{ kind: 'balance_low', severity: 'warning', page: 'billing' },
      subject: { kind: 'organization', id: app.organization_id },
      figures: { available: 20 },
    });
    const { days_left = 0, spend_per_day = 0 } = notice?.figures ?? {};
    // The time begins with a day in UTC, so it is seven to eight days long.
    expect(spend_per_day).toBeGreaterThanOrEqual(70 / 8);
    expect(spend_per_day).toBeLessThanOrEqual(10);
    expect(days_left).toBeGreaterThanOrEqual(2);
    expect(days_left).toBeLessThan(3);
  });

  test('is not low because of what was spent long ago', async () => {
    await spend(1_000, 20);
    await setMoney({ available: 1 });
    expect(await list()).toEqual([]);
  });

  test('that is used up is a problem', async () => {
    await setMoney({ available: 0 });
    expect(await list()).toMatchObject([
      { kind: 'balance_exhausted', severity: 'problem', figures: { available: 0, days_left: 0 } },
    ]);
  });
});

describe('webhooks that failed', () => {
  const failed = async (count: number, days: number) => {
    const rows = Array.from({ length: count }, (_, at) => ({
      id: `weir_${days}_${String(at).padStart(4, '0')}`,
      at_us: (Date.now() - days * DAY_MS + at * 1_000) * 1_000,
    }));
    await insertDeliveries(app.pool.sql, { organization_id: app.organization_id, key_id }, rows);
    await app.pool.sql`
      update webhook_delivery set status = 'failed', ended_at = created_at
      where task_id like ${`weir_${days}_%`}`;
    return rows;
  };

  test('are counted, with the first time and the latest receiver', async () => {
    const rows = await failed(3, 1);
    const [notice] = await list();
    expect(notice).toMatchObject({
      ...{ id: `webhooks_failed:msg_${rows[2]?.id}`, kind: 'webhooks_failed', page: 'tasks' },
      subject: { kind: 'delivery', id: `msg_${rows[2]?.id}`, name: 'example.com' },
      text: '3 webhooks of the last 7 days failed, the latest one to example.com.',
      figures: { failed: 3 },
    });
    expect(notice?.since).toBe(new Date((rows[0]?.at_us ?? 0) / 1_000).toISOString());
  });

  test('are counted up to a bound, and not for ever', async () => {
    await failed(120, 1);
    expect((await list())[0]?.text).toStartWith('At least 100 webhooks');
    await app.pool.sql`delete from webhook_delivery`;
    await failed(2, 8);
    expect(await list()).toEqual([]);
  });
});

describe('a model without a healthy channel', () => {
  test('is named if it was called lately, and no channel is', async () => {
    const since = Date.now() - 60_000;
    down.set('gpt-4o', since);
    expect(await list()).toEqual([]);
    await spend(0.01, 1);
    const found = await list();
    expect(found).toMatchObject([
      {
        ...{ id: 'model_down:gpt-4o', kind: 'model_down', severity: 'problem', page: 'models' },
        ...{ subject: { kind: 'model', id: 'gpt-4o' }, since: new Date(since).toISOString() },
      },
    ]);
    expect(JSON.stringify(found)).not.toContain('canary');
  });
});

describe('the list', () => {
  beforeEach(async () => {
    await cap(10, 9);
    await spend(1, 1);
    down.set('gpt-4o', Date.now());
    await setMoney({ available: 0 });
  });

  test('has problems first', async () => {
    expect((await list()).map(({ kind }) => kind)).toEqual([
      ...['balance_exhausted', 'model_down', 'key_near_cap'],
    ]);
  });

  test('has what the caller may see only', async () => {
    const secret = newCredential('mt');
    await app.pool.sql`insert into access_token ${app.pool.sql({
      ...{ id: newId('token'), kind: 'management', organization_id: app.organization_id },
      ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret) },
      scopes: ['billing'],
    })}`;
    expect((await list(secret)).map(({ kind }) => kind)).toEqual([
      ...['balance_exhausted', 'model_down'],
    ]);
  });

  test('P6: has nothing of another organization', async () => {
    await app.pool.sql`insert into organization (id, name, balance_nano_usd, deposited_nano_usd)
      values ('org_other', 'Other', ${NANO}, ${NANO}) on conflict do nothing`;
    const secret = newCredential('mt');
    await app.pool.sql`insert into access_token ${app.pool.sql({
      ...{ id: newId('token'), kind: 'management', organization_id: 'org_other' },
      ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret) },
    })}`;
    expect(await list(secret)).toEqual([]);
  });

  test('400: a parameter', async () => {
    await errorOf(await app.manage('GET', '/notices?limit=5'), 400);
  });
});
