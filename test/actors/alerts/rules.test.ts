/** What each rule of alerts finds, over a real database. */
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { OPERATOR_ALERTS, ORGANIZATION_ALERTS } from '../../../db/alerts/kinds.ts';
import { newId } from '../../../db/secrets.ts';
import { alertRecord } from '../../../src/actors/alerts/record.ts';
import { AlertWorld } from '../../support/alert-world.ts';

setDefaultTimeout(60_000);

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
  await sql`truncate alert, alert_delivery, alert_endpoint, alert_settings, alert_turn, usage_series,
    usage_day, usage_key_day, model_price, channel_transition, call_record, quota_grant`;
  await sql`update api_key set status = 'revoked', deleted_at = now()`;
  await sql`update organization set balance_nano_usd = deposited_nano_usd, settled_nano_usd = 0`;
});

const USD = 1_000_000_000;
const kindsOf = (alerts: readonly { kind: string }[]) => alerts.map(({ kind }) => kind);

describe('cap_used', () => {
  const shares = async () =>
    (await world.evaluate())
      .map(({ figures }) => figures['share'] as number)
      .toSorted((a, b) => a - b);

  test('is found once for each share of a cap, and again for another cap', async () => {
    await world.endpoint(['cap_used']);
    const id = await world.key({ limit: 10, used: 4.99 });
    expect(await shares()).toEqual([]);
    await world.sql`update api_key set used_nano_usd = ${5 * USD} where id = ${id}`;
    expect(await shares()).toEqual([50]);
    expect(await shares()).toEqual([]);
    await world.sql`update api_key set used_nano_usd = ${10 * USD} where id = ${id}`;
    expect(await shares()).toEqual([80, 100]);
    await world.sql`update api_key set limit_nano_usd = ${20 * USD} where id = ${id}`;
    expect(await shares()).toEqual([50]);
    await world.sql`update api_key set limit_nano_usd = ${10 * USD} where id = ${id}`;
    expect(await shares()).toEqual([]);
  });

  test('counts charges of open grants that are not posted yet', async () => {
    await world.endpoint(['cap_used']);
    const id = await world.key({ limit: 10, used: 4 });
    await world.sql`insert into replica (id, lease_until) values ('replica_a', now()) on conflict do nothing`;
    await world.sql`
      insert into quota_grant (id, key_id, organization_id, replica_id, granted_nano_usd,
        settled_nano_usd, posted_nano_usd)
      values (${crypto.randomUUID()}, ${id}, ${world.organization_id}, 'replica_a', ${3 * USD},
        ${2 * USD}, ${1 * USD})`;
    expect(await shares()).toEqual([50]);
  });

  test('is 100 % if nearly all is used and what is left pays for no call', async () => {
    await world.endpoint(['cap_used']);
    const [full, half] = [
      await world.key({ limit: 10, used: 9.6 }),
      await world.key({ limit: 10, used: 4 }),
    ];
    expect(await shares()).toEqual([50, 80]);
    for (const key_id of [full, half]) {
      await world.sql`
        insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
          outcome, status, error_code)
        values (${crypto.randomUUID()}, ${world.organization_id}, ${key_id}, 'chat', 'm', 'v', '',
          'refused', 402, 'quota_exceeded')`;
    }
    const found = await world.evaluate();
    expect(found).toMatchObject([{ subject_id: full, figures: { share: 100, is_refused: true } }]);
  });

  test('is not found for a key without a cap, with a cap of 0, deleted, expired or not active', async () => {
    await world.endpoint(['cap_used']);
    await world.key({ used: 9 });
    await world.key({ limit: 0 });
    const ids = [await world.key({ limit: 1, used: 1 }), await world.key({ limit: 1, used: 1 })];
    await world.sql`update api_key set status = 'inactive' where id = ${ids[0] ?? ''}`;
    await world.sql`update api_key set expires_at = now() where id = ${ids[1] ?? ''}`;
    expect(await world.evaluate()).toEqual([]);
  });

  test('is found only for organizations that receive it', async () => {
    const away = await world.organization();
    await world.key({ limit: 1, used: 1, owner_id: away });
    await world.key({ limit: 1, used: 1 });
    expect(await world.evaluate()).toEqual([]);
    await world.endpoint(['low_balance'], away);
    expect(await world.evaluate()).toEqual([]);
    const off = await world.endpoint(['cap_used']);
    await world.sql`update alert_endpoint set enabled = false where id = ${off}`;
    expect(await world.evaluate()).toEqual([]);
    await world.endpoint(['cap_used'], away);
    const found = await world.evaluate();
    expect(found.map(({ owner_id }) => owner_id)).toEqual([away, away, away]);
  });

  test('goes to each endpoint that receives it, once', async () => {
    const [first, second] = [
      await world.endpoint(['cap_used']),
      await world.endpoint(['cap_used', 'low_balance']),
    ];
    await world.endpoint(['key_unused']);
    await world.key({ limit: 10, used: 5 });
    await world.evaluate();
    await world.evaluate();
    const rows = await world.sql<{ endpoint_id: string }[]>`select endpoint_id from alert_delivery`;
    expect(rows.map((row) => row.endpoint_id).toSorted()).toEqual([first, second].toSorted());
    expect(world.started.length).toBeGreaterThanOrEqual(2);
  });
});

describe('cap_forecast', () => {
  test('is found if the spend of seven days would reach the cap before the month ends', async () => {
    await world.endpoint(['cap_forecast']);
    const now = new Date();
    const month_ends = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    const days_left = (month_ends - now.getTime()) / 86_400_000;
    const spend = async (used: number, per_day: number, limit: number) => {
      const id = await world.key({ limit, used });
      for (let ago = 0; ago <= 7; ago += 1) await world.spent(per_day, ago, id);
      return id;
    };
    // Eight days with spend in at least seven days of time: at most 8/7 of it a day.
    const soon = await spend(50, 10, 50 + 10 * days_left * 0.9);
    await spend(50, 10, 50 + 10 * days_left * 1.2);
    await spend(50, 10, 50);
    await world.key({ limit: 10, used: 5 });
    const found = await world.evaluate();
    expect(found.map(({ subject_id }) => subject_id)).toEqual([soon]);
    const crosses_at = new Date(found[0]?.figures['crosses_at'] as string).getTime();
    expect(crosses_at).toBeGreaterThan(now.getTime());
    expect(crosses_at).toBeLessThan(month_ends);
    expect(await world.evaluate()).toEqual([]);
  });
});

describe('low_balance', () => {
  const setLeft = (usd: number) => world.sql`
    update organization set balance_nano_usd = ${usd * USD},
      settled_nano_usd = deposited_nano_usd - ${usd * USD} where id = ${world.organization_id}`;
  const stages = async () => (await world.evaluate()).map(({ figures }) => figures['stage']);

  test('is found if the money lasts for fewer than three days, and once more when it is used up', async () => {
    await world.endpoint(['low_balance']);
    await setLeft(29);
    expect(await stages()).toEqual([]);
    for (let ago = 0; ago <= 7; ago += 1) await world.spent(10, ago);
    expect(await stages()).toEqual(['low']);
    await setLeft(0);
    expect(await stages()).toEqual(['used_up']);
    expect(await stages()).toEqual([]);
    await world.sql`
      update organization set deposited_nano_usd = deposited_nano_usd + ${1 * USD},
        balance_nano_usd = balance_nano_usd + ${1 * USD} where id = ${world.organization_id}`;
    expect(await stages()).toEqual(['low']);
  });

  test('obeys the amount of the organization', async () => {
    await world.endpoint(['low_balance']);
    await world.sql`
      insert into alert_settings (owner_id, low_balance_nano_usd, unused_days, unusual_factor)
      values (${world.organization_id}, ${20 * USD}, 30, 3)`;
    await setLeft(20);
    expect(await stages()).toEqual([]);
    await setLeft(19.99);
    expect(await stages()).toEqual(['low']);
  });
});

describe('unusual_spend', () => {
  test('is found once a day in each direction, and obeys the factor', async () => {
    await world.endpoint(['unusual_spend']);
    for (let ago = 1; ago <= 14; ago += 1) await world.spent(10, ago);
    await world.spent(25, 0);
    expect(await world.evaluate()).toEqual([]);
    await world.sql`
      insert into alert_settings (owner_id, unused_days, unusual_factor)
      values (${world.organization_id}, 30, 2)`;
    const found = await world.evaluate();
    expect(found).toMatchObject([{ figures: { direction: 'high', usual_nano_usd: 10 * USD } }]);
    await world.spent(25, 0);
    expect(await world.evaluate()).toEqual([]);
  });
});

describe('key_unused', () => {
  test('is found for keys without a call for 30 days, and again after a use', async () => {
    await world.endpoint(['key_unused']);
    await world.key({ age_days: 29 });
    const never = await world.key({ age_days: 31 });
    const used = await world.key({ age_days: 90 });
    await world.spent(0, 40, used);
    const fresh = await world.key({ age_days: 90 });
    await world.spent(0, 30, fresh);
    const found = await world.evaluate();
    expect(found.map(({ subject_id }) => subject_id).toSorted()).toEqual([never, used].toSorted());
    expect(await world.evaluate()).toEqual([]);
    await world.sql`update usage_key_day set day = day + 30`;
    expect(await world.evaluate()).toEqual([]);
    await world.sql`update usage_key_day set day = day - 21`;
    const again = await world.evaluate();
    expect(again.map(({ subject_id }) => subject_id)).toEqual([used]);
  });

  test('is found for 20 keys a day', async () => {
    await world.endpoint(['key_unused']);
    for (let n = 0; n < 25; n += 1) await world.key({ age_days: 40 });
    expect((await world.evaluate()).length).toBe(20);
    expect((await world.evaluate()).length).toBe(0);
    await world.sql`update alert set created_at = created_at - interval '25 hours'`;
    expect((await world.evaluate()).length).toBe(5);
  });
});

describe('price_changed', () => {
  const record = (model: string, input: number, hours_ago: number) => world.sql`
    insert into model_price (model, since, family, price)
    values (${model}, weir_now() - ${hours_ago} * interval '1 hour', 'openai-chat',
      ${world.sql.json({ input_usd_per_mtok: input })})`;

  test('is found by operators, and by organizations that called the model', async () => {
    await world.called('gpt-4o');
    await world.endpoint(['price_changed']);
    await world.endpoint(['price_changed'], '');
    for (const model of ['gpt-4o', 'never-called']) {
      await record(model, 2.5, 100);
    }
    expect(await world.evaluate()).toEqual([]);
    for (const model of ['gpt-4o', 'never-called']) await record(model, 3, 0.5);
    const found = await world.evaluate();
    expect(found.map(({ owner_id, subject_id }) => [owner_id, subject_id]).toSorted()).toEqual(
      [
        ['', 'gpt-4o'],
        ['', 'never-called'],
        [world.organization_id, 'gpt-4o'],
      ].toSorted(),
    );
    expect(found[0]?.figures).toMatchObject({
      before: { input_usd_per_mtok: 2.5 },
      after: { input_usd_per_mtok: 3 },
    });
    expect(await world.evaluate()).toEqual([]);
  });

  test('is not found for a change before the endpoint, nor of the provenance alone', async () => {
    await world.endpoint(['price_changed'], '');
    await record('old', 1, 50);
    await record('old', 2, 40);
    await record('same', 1, 50);
    await record('same', 1, 0.5);
    expect(await world.evaluate()).toEqual([]);
  });
});

describe('channel_down', () => {
  const change = async (
    to_state: string,
    minutes_ago: number,
    replica = 'replica_up',
    cause = 'server',
  ) => {
    await world.sql`
      insert into replica (id, lease_until) values (${replica}, now()) on conflict do nothing`;
    await world.sql`
      insert into channel_transition (id, channel_id, model, replica_id, from_state, to_state, cause,
        is_from_peer, at)
      values (${crypto.randomUUID()}, 'openai-main', 'gpt-4o', ${replica}, '', ${to_state}, ${cause},
        false, weir_now() - ${minutes_ago} * interval '1 minute')`;
  };

  test('is found once while a circuit stays open, and again after it was closed', async () => {
    await world.endpoint(['channel_down'], '');
    await change('open', 0.5);
    expect(await world.evaluate()).toEqual([]);
    await world.sql`update channel_transition set at = at - interval '10 minutes'`;
    const [found] = await world.evaluate();
    expect(found).toMatchObject({
      owner_id: '',
      figures: { models: ['gpt-4o'], reasons: ['server'] },
    });
    // It flaps.
    for (const [state, ago] of [
      ['probing', 4.5],
      ['degraded', 4],
      ['open', 3],
      ['degraded', 2.5],
    ] as const) {
      await change(state, ago);
      expect(await world.evaluate()).toEqual([]);
    }
    await world.sql`update channel_transition set at = at - interval '10 minutes'`;
    expect(await world.evaluate()).toEqual([]);
    expect((await world.alerts())[0]?.ended_at).toBeInstanceOf(Date);
    await change('open', 1.5);
    expect(kindsOf(await world.evaluate())).toEqual(['channel_down']);
  });

  test('is found if the upstream refuses the credentials, not if an operator switched the channel off', async () => {
    await world.endpoint(['channel_down'], '');
    await change('disabled', 5, 'replica_up', 'repair');
    expect(await world.evaluate()).toEqual([]);
    await change('disabled', 4, 'replica_up', 'auth');
    expect(kindsOf(await world.evaluate())).toEqual(['channel_down']);
  });

  test('is not found for a replica that is dead, and never for an organization', async () => {
    await world.endpoint(['channel_down'], '');
    await world.endpoint([...ORGANIZATION_ALERTS]);
    await change('open', 5, 'replica_dead');
    await world.sql`update replica set status = 'dead' where id = 'replica_dead'`;
    expect(await world.evaluate()).toEqual([]);
    await change('open', 5);
    expect((await world.evaluate()).map(({ owner_id }) => owner_id)).toEqual(['']);
  });
});

test('every kind has words, which fit to its figures', () => {
  const row = {
    ...{ id: newId('alert'), owner_id: 'org', cause: '', subject_kind: 'key', subject_id: 'key_1' },
    ...{ subject_name: 'CI', figures: {}, ended_at: null, created_at: new Date(0) },
  };
  for (const kind of [...ORGANIZATION_ALERTS, ...OPERATOR_ALERTS, 'test'] as const) {
    const { text, act } = alertRecord({ ...row, kind });
    expect(text.length).toBeGreaterThan(20);
    expect(act.length).toBeGreaterThan(10);
  }
  const figures = { share: 80, used_nano_usd: 8 * USD, limit_nano_usd: 10 * USD };
  expect(alertRecord({ ...row, kind: 'cap_used', figures })).toMatchObject({
    text: 'The key “CI” has used 80 % of its cap: $8.00 of $10.00.',
    figures: { share: 80, used_usd: 8, limit_usd: 10 },
  });
});
