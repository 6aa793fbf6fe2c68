/** What the rules find of budgets: shares and forecasts, once for each budget, window and share. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { BudgetPeriod } from '../../../db/budgets/calendar.ts';
import { newId } from '../../../db/secrets.ts';
import { alertRecord } from '../../../src/actors/alerts/record.ts';
import { AlertWorld } from '../../support/alert-world.ts';
import { makeBudget } from '../../support/budgets.ts';

setDefaultTimeout(60_000);

const USD = 1_000_000_000;
const DAY_MS = 86_400_000;
let world: AlertWorld;
beforeAll(async () => {
  world = await AlertWorld.start();
});
afterAll(async () => {
  expect(world.errors).toEqual([]);
  await world.stop();
});
beforeEach(async () => {
  const { sql } = world;
  await sql`truncate alert, alert_delivery, alert_endpoint, alert_turn, usage_series, usage_day,
    usage_key_day, call_record, quota_grant, budget_window, budget`;
  await sql`update api_key set status = 'revoked', deleted_at = now()`;
});

/** Makes a budget of a key, or of the organization, whose present window has used some dollars. */
async function budget(key_id: string | null, period: BudgetPeriod, limit: number, used = 0) {
  const { sql, organization_id } = world;
  const id = await makeBudget(sql, { organization_id, key_id }, period, Math.round(limit * USD));
  await spend(id, used);
  return id;
}
const spend = (id: string, usd: number) => world.sql`
  update budget_window set used_nano_usd = ${usd * USD},
    ceiling_nano_usd = greatest(ceiling_nano_usd, ${usd * USD}) where budget_id = ${id}`;
const shares = async () =>
  (await world.evaluate())
    .map(({ subject_id, figures }) => [subject_id, figures['share']] as [string, number])
    .toSorted((a, b) => a[1] - b[1]);

describe('budget_used', () => {
  test('is found once for each share of a window, and again for another limit or window', async () => {
    await world.endpoint(['budget_used']);
    const id = await budget(await world.key(), 'day', 10, 4.99);
    expect(await shares()).toEqual([]);
    await spend(id, 5);
    expect(await shares()).toEqual([[id, 50]]);
    expect(await shares()).toEqual([]);
    await spend(id, 10);
    expect(await shares()).toEqual([
      [id, 80],
      [id, 100],
    ]);
    await world.sql`update budget set limit_nano_usd = ${20 * USD} where id = ${id}`;
    expect(await shares()).toEqual([[id, 50]]);
    // The window that the alerts were about is over: the present one is another cause.
    await world.sql`update alert set cause = replace(cause, figures->>'window', '2020-01-01')`;
    expect(await shares()).toEqual([[id, 50]]);
  });

  test('is found for the organization and for each budget of a key on its own', async () => {
    await world.endpoint(['budget_used']);
    const key = await world.key();
    const ids = [
      await budget(null, 'month', 10, 5),
      await budget(key, 'week', 10, 5),
      await budget(key, 'day', 10, 5),
    ];
    const found = await shares();
    expect(found.toSorted()).toEqual(ids.map((id) => [id, 50] as [string, number]).toSorted());
  });

  test('counts charges of open grants that are not posted yet, of the keys of the budget', async () => {
    await world.endpoint(['budget_used']);
    const [key, other] = [await world.key(), await world.key()];
    await world.sql`insert into replica (id, lease_until) values ('replica_a', now()) on conflict do nothing`;
    const id = await budget(key, 'day', 10, 4);
    await budget(other, 'day', 10, 4);
    await world.sql`
      insert into quota_grant (id, key_id, organization_id, replica_id, granted_nano_usd,
        settled_nano_usd, posted_nano_usd, day)
      values (${crypto.randomUUID()}, ${key}, ${world.organization_id}, 'replica_a', ${3 * USD},
        ${2 * USD}, ${1 * USD}, (weir_now() at time zone 'UTC')::date)`;
    expect(await shares()).toEqual([[id, 50]]);
  });

  test('is 100 % if nearly all is used and a call of the window was refused', async () => {
    await world.endpoint(['budget_used']);
    const [key, other] = [await world.key(), await world.key()];
    const id = await budget(key, 'month', 10, 9.6);
    await budget(other, 'month', 10, 9.6);
    expect((await shares()).map(([, share]) => share)).toEqual([50, 50, 80, 80]);
    const refused = (of: string, at: Date) => world.sql`
      insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
        outcome, status, error_code, at)
      values (${crypto.randomUUID()}, ${world.organization_id}, ${of}, 'chat', 'm', 'v', '',
        'refused', 402, 'quota_exceeded', ${at})`;
    await refused(other, new Date(Date.now() - 2 * DAY_MS));
    await refused(key, new Date());
    expect(await shares()).toEqual([[id, 100]]);
  });

  test('of a soft budget is found once with its choice, and refused calls are of other limits', async () => {
    await world.endpoint(['budget_used']);
    const { sql, organization_id } = world;
    const key_id = await world.key();
    const choice = { when_reached: 'move', move_to: 'gpt-4o-mini' } as const;
    const id = await makeBudget(sql, { organization_id, key_id }, 'day', 10 * USD, choice);
    await spend(id, 9.6);
    await sql`
      insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
        outcome, status, error_code)
      values (${crypto.randomUUID()}, ${organization_id}, ${key_id}, 'chat', 'm', 'v', '',
        'refused', 402, 'quota_exceeded')`;
    expect((await shares()).map(([, share]) => share)).toEqual([50, 80]);
    await spend(id, 11);
    const [found] = await world.evaluate();
    expect(found).toMatchObject({
      subject_id: id,
      figures: { share: 100, is_refused: false, when_reached: 'move', move_to: 'gpt-4o-mini' },
    });
    expect(await world.evaluate()).toEqual([]);
  });

  test('is not found for a budget of 0, nor of a key that is expired or not active', async () => {
    await world.endpoint(['budget_used']);
    await budget(await world.key(), 'day', 0);
    const [off, old] = [await world.key(), await world.key()];
    for (const key of [off, old]) await budget(key, 'day', 1, 1);
    await world.sql`update api_key set status = 'inactive' where id = ${off}`;
    await world.sql`update api_key set expires_at = now() where id = ${old}`;
    expect(await world.evaluate()).toEqual([]);
  });

  test('is found only for organizations that receive it', async () => {
    await budget(null, 'day', 1, 1);
    await world.endpoint(['cap_used']);
    await world.endpoint(['budget_used'], await world.organization());
    expect(await world.evaluate()).toEqual([]);
    await world.endpoint(['budget_used']);
    expect((await world.evaluate()).map(({ kind }) => kind)).toEqual(Array(3).fill('budget_used'));
  });
});

describe('budget_forecast', () => {
  test('is found if the spend of seven days would reach the budget before the window ends', async () => {
    await world.endpoint(['budget_forecast']);
    const { sql, organization_id } = world;
    const [time] = await sql<{ days_left: number }[]>`
      select (extract(epoch from date_trunc('month', weir_now() at time zone 'UTC') + interval '1 month'
        - (weir_now() at time zone 'UTC')) / 86400)::float8 as days_left`;
    const left = (time?.days_left ?? 0) * 10;
    const spent = async (per_day: number) => {
      const key = await world.key();
      for (let ago = 0; ago <= 7; ago += 1) await world.spent(per_day, ago, key);
      return key;
    };
    // Eight days with spend in at least seven days of time: at most 8/7 of it a day.
    const soon = await budget(await spent(10), 'month', 50 + left * 0.9, 50);
    await budget(await spent(10), 'month', 50 + left * 1.2, 50);
    await budget(await spent(10), 'month', 50, 50);
    await budget(await world.key(), 'month', 10, 5);
    // The organization spent 30 a day.
    const of_all = await budget(null, 'month', 50 + left * 2.9, 50);
    const found = await world.evaluate();
    expect(found.map(({ subject_id }) => subject_id).toSorted()).toEqual([soon, of_all].toSorted());
    for (const { figures, owner_id } of found) {
      expect(owner_id).toBe(organization_id);
      expect(Date.parse(figures['crosses_at'] as string)).toBeGreaterThan(Date.now());
      expect((figures['crosses_at'] as string) < (figures['until'] as string)).toBe(true);
    }
    expect(await world.evaluate()).toEqual([]);
  });
});

describe('a budget of a tag', () => {
  const tag = ['team', 'blue'] as const;

  /** Makes a budget of the tag, and a closed grant of calls with some tags, which used some dollars today. */
  async function used(limit: number, usd: number, tags: object = { team: 'blue' }) {
    const { sql, organization_id } = world;
    const key_id = await world.key();
    await sql`insert into replica (id, lease_until) values ('replica_a', now()) on conflict do nothing`;
    await sql`
      insert into quota_grant (id, key_id, organization_id, replica_id, status, granted_nano_usd,
        settled_nano_usd, posted_nano_usd, day, tags)
      values (${crypto.randomUUID()}, ${key_id}, ${organization_id}, 'replica_a', 'closed', ${usd * USD},
        ${usd * USD}, ${usd * USD}, (weir_now() at time zone 'UTC')::date, ${sql.json(tags as never)})`;
    const limited = { organization_id, key_id: null, tag };
    return makeBudget(sql, limited, 'month', Math.round(limit * USD));
  }

  test('is alerted to with the name of the tag, if its own calls used or were refused it', async () => {
    await world.endpoint(['budget_used']);
    const id = await used(10, 9.6);
    expect(await shares()).toEqual([
      [id, 50],
      [id, 80],
    ]);
    const refused = (tags: object) => world.sql`
      insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
        outcome, status, error_code, detail)
      values (${crypto.randomUUID()}, ${world.organization_id}, 'key', 'chat', 'm', 'v', '',
        'refused', 402, 'quota_exceeded', ${world.sql.json({ tags } as never)})`;
    await refused({ team: 'red' });
    expect(await shares()).toEqual([]);
    await refused({ team: 'blue' });
    const [found] = await world.evaluate();
    expect(found).toMatchObject({
      subject_id: id,
      figures: { share: 100, budget_of: 'tag', tag: { team: 'blue' }, api_key_id: null },
    });
    const [row] = await world.sql`
      select subject_name from alert where (figures -> 'share')::int4 = 100`;
    expect(row?.['subject_name']).toBe('team: blue');
  });

  test('is forecast from the spend of calls with the tag', async () => {
    await world.endpoint(['budget_forecast']);
    const now = new Date();
    const month_ends = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    const days_left = (month_ends - now.getTime()) / DAY_MS;
    // 8 dollars in at least seven days: at most 8/7 a day, and at least one.
    const id = await used(8 + days_left * 0.9, 8);
    expect((await world.evaluate()).map(({ subject_id }) => subject_id)).toEqual([id]);
    await world.sql`truncate alert, alert_delivery, budget_window, budget`;
    await world.sql`update quota_grant set tags = '{"team": "red"}'`;
    await used(days_left * 0.9, 0);
    expect(await world.evaluate()).toEqual([]);
  });
});

test('the words name the budget, its window and its end', () => {
  const record = (kind: 'budget_used' | 'budget_forecast', figures: object) =>
    alertRecord({
      ...{ id: newId('alert'), owner_id: 'org', cause: '', kind, subject_kind: 'budget' },
      ...{ subject_id: 'budget_1', subject_name: 'CI', ended_at: null, created_at: new Date(0) },
      figures: {
        ...{ limit_nano_usd: 10 * USD, used_nano_usd: 8 * USD, period: 'month', budget_of: 'key' },
        ...{ window: '2026-11-01', until: '2026-11-30T23:00:00+00:00', ...figures },
      },
    });
  expect(record('budget_used', { share: 80 }).text).toBe(
    'The key “CI” has used 80 % of its budget for the month from 2026-11-01: $8.00 of $10.00.',
  );
  expect(record('budget_used', { share: 100, is_refused: true })).toMatchObject({
    severity: 'problem',
    text:
      'The key “CI” has used its budget for the month from 2026-11-01: $8.00 of $10.00. What is left pays for no call. ' +
      'Its calls get 402 quota_exceeded until 2026-11-30 23:00 UTC.',
    act: 'Raise the budget.',
  });
  // A soft budget refuses nothing, so no problem stops calls.
  const full = { share: 100, used_nano_usd: 10 * USD };
  expect(record('budget_used', { ...full, when_reached: 'warn', move_to: null })).toMatchObject({
    severity: 'warning',
    text:
      'The key “CI” has used its budget for the month from 2026-11-01: $10.00 of $10.00. ' +
      'Its calls are served with a warning until 2026-11-30 23:00 UTC.',
  });
  const moving = { ...full, when_reached: 'move', move_to: 'gpt-4o-mini' };
  expect(record('budget_used', moving)).toMatchObject({
    severity: 'warning',
    text:
      'The key “CI” has used its budget for the month from 2026-11-01: $10.00 of $10.00. ' +
      'Its calls move to gpt-4o-mini, if they can, until 2026-11-30 23:00 UTC.',
  });
  const forecast = { per_day_nano_usd: USD, crosses_at: '2026-11-20T10:00:00+00:00' };
  expect(record('budget_forecast', forecast).text).toBe(
    'The key “CI” will reach its budget of $10.00 for the month from 2026-11-01 on 2026-11-20, if it goes on to ' +
      'spend $1.00 a day. So far it has used $8.00.',
  );
});
