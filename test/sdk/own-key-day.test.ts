/**
 * An organization moves to its own upstream key, on the public interface only: it spends, is alerted, reaches a day's
 * budget, is refused, goes on the next day, and exports its month. Calls come from the package openai, webhooks are
 * verified by standardwebhooks, and csv-parse reads the export. Only the clock of the database is the test's.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { type ChildProgram, startProgram } from '../support/child.ts';
import { type Line, OwnKeysWorld } from '../support/own-keys-world.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(120_000);

const NANO = 1e9;
const ZONE = 'Europe/Berlin';
const DAY_MS = 86_400_000;
/** Calls of which the day's budget pays for ten: so five and eight of them are its shares of an alert. */
const CALLS = 10;
const PROMPT = 'Tell me of the weir [[sim tokens=40]]';

interface Budget {
  id: string;
  limit_amount: number;
  used_amount: number;
  window: { starts_on: string; resets_at: string };
}
interface Alert {
  type: string;
  data: { subject: { id: string }; text: string; figures: { share: number } };
}

let world: OwnKeysWorld;
let receiver: ChildProgram;
let client: OpenAI;
let secret = '';
beforeAll(async () => {
  receiver = await startProgram('webhook-receiver-main.ts', []);
  world = await OwnKeysWorld.start({
    env: {
      WEIR_ALERT_INTERVAL_S: '1',
      WEIR_WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${receiver.lines[0]}`,
    },
  });
  client = new OpenAI({
    ...{ apiKey: world.home.api_key, baseURL: `${world.weir.base_url}/v1`, maxRetries: 0 },
  });
});
afterAll(async () => {
  await world.stop();
  await receiver.stop();
});

/** The webhooks that came, each verified with the secret of the endpoint. */
const alerts = (): Alert[] =>
  receiver.lines.slice(1).map((line) => {
    const { body, headers } = JSON.parse(line) as { body: string; headers: Record<string, string> };
    return new Webhook(secret).verify(body, headers) as Alert;
  });
const call = () =>
  client.chat.completions.create({
    ...{ model: 'gpt-4o', max_tokens: 40, messages: [{ role: 'user', content: PROMPT }] },
  });
const budget = () =>
  world.manage<{ data: Budget[] }>('GET', '/budgets').then(({ data }) => data[0]);
const lines = () =>
  world.manage<{ data: Line[] }>('GET', '/usage?limit=100').then(({ data }) => data);

/** Moves the clock of the database to a later instant. Weir's processes see what a pause of that length looks like. */
async function moveClockTo(ms: number): Promise<void> {
  const [row] = await world.database.sql<{ now: Date }[]>`select weir_now() as now`;
  const seconds = Math.ceil((ms - (row?.now.getTime() ?? 0)) / 1_000);
  await world.database.sql.unsafe(`
    create or replace function weir_now() returns timestamptz language sql stable as
      $$ select clock_timestamp() + interval '${seconds} seconds' $$`);
}

test('an organization moves to its own key, reaches a day’s budget, and goes on the next day', async () => {
  await world.manage('PATCH', '/organization', { time_zone: ZONE, own_keys: 'only' });
  const own = await world.add();
  expect(own).toMatchObject({ key_tested: true, status: 'active' });
  // The cap and the budgets of the key count what the organization pays to its provider.
  await world.manage('PATCH', `/api-keys/${world.home.key_id}`, { cap_counts: 'list' });
  const endpoint = await world.manage<{ secret: string }>('POST', '/alert-endpoints', {
    ...{ name: 'On call', type: 'webhook', kinds: ['budget_used'] },
    url: `http://127.0.0.1:${receiver.lines[0]}/alerts`,
  });
  secret = endpoint.secret;

  // It spends: the provider is paid by its own account, and Weir charges nothing.
  expect((await call()).choices[0]?.message.content).toBeString();
  const [first] = await until('the call is on record', async () => {
    const found = await lines();
    return found.length === 1 && found;
  });
  expect(first).toMatchObject({ access_channel: 'byok', amount: 0 });
  const price = first?.counted ?? 0;
  expect(price).toBe(first?.list_price ?? -1);
  const made = await world.manage<Budget>('POST', '/budgets', {
    ...{ api_key_id: world.home.key_id, period: 'day' },
    limit_amount: Math.round(price * (CALLS + 0.1) * NANO) / NANO,
  });
  expect(Math.round(made.used_amount * NANO)).toBe(Math.round(price * NANO));

  // Half of it, then eight of ten: an alert each.
  for (const share of [50, 80]) {
    while (((await budget())?.used_amount ?? 0) < (made.limit_amount * share) / 100) await call();
    await until(`the alert to ${share} %`, () =>
      alerts().some(({ data }) => data.figures.share === share),
    );
  }

  // It hits the budget, and is refused with words that say whose it is and when it goes on.
  const refused = await until('a call is refused', async () =>
    call().then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  expect(refused).toBeInstanceOf(OpenAI.APIError);
  const { status, code, message, error } = refused as InstanceType<typeof OpenAI.APIError> & {
    error: { retry_after: number };
  };
  expect({ status, code }).toEqual({ status: 402, code: 'quota_exceeded' });
  expect(message).toMatch(/budget/);
  expect(message).toMatch(/day/);
  const resets_ms = Date.parse(made.window.resets_at);
  expect(error.retry_after).toBeGreaterThan(0);
  expect(error.retry_after).toBeLessThanOrEqual(DAY_MS / 1_000 + 3_600);
  await until('the alert to 100 %', () => alerts().some(({ data }) => data.figures.share === 100));
  expect(
    alerts().map(({ type, data }) => `${type} ${data.figures.share} ${data.subject.id}`),
  ).toEqual([50, 80, 100].map((share) => `alert.budget_used ${share} ${made.id}`));
  const spent = await lines();
  expect(spent).toHaveLength(CALLS);
  expect((await call().catch((again: { status: number }) => again)) as object).toMatchObject({
    status: 402,
  });

  // The next day of Berlin begins.
  await moveClockTo(resets_ms + 1_000);
  await until('a call of the next day', () =>
    call().then(
      () => true,
      () => false,
    ),
  );
  const next = await until('the next day has its call', async () => {
    const now = await budget();
    return now && now.used_amount > 0 && now.window.starts_on > made.window.starts_on && now;
  });
  expect(Math.round(next.used_amount * NANO)).toBe(Math.round(price * NANO));
  // Each alert came once, and the new day has none.
  expect(alerts()).toHaveLength(3);

  // It exports its month, and another program sums it.
  const all = await lines();
  expect(all).toHaveLength(CALLS + 1);
  const [first_day, last_day] = [made.window.starts_on, next.window.starts_on];
  const exported = await world.send(
    ...([world.home.management_token, 'GET'] as const),
    `/v1/management/usage/export?format=csv&startDate=${first_day.slice(0, 7)}-01&endDate=${last_day}`,
  );
  const rows = parse(await exported.text(), { columns: true }) as Record<string, string>[];
  expect(rows.map(({ request_id }) => request_id).sort()).toEqual(
    all.map(({ request_id }) => request_id).sort(),
  );
  const sum = (name: string) =>
    rows.reduce((total, row) => total + Math.round(Number(row[name]) * NANO), 0);
  expect(sum('amount_usd')).toBe(0);
  expect(sum('counted_usd')).toBe(Math.round(price * NANO) * (CALLS + 1));
  const key = await world.manage<{ used_amount: number }>('GET', `/api-keys/${world.home.key_id}`);
  expect(Math.round(key.used_amount * NANO)).toBe(sum('counted_usd'));
  // The provider's own books: so many answers, all of the organization's account.
  expect(await world.served()).toBe(CALLS + 1);
});
