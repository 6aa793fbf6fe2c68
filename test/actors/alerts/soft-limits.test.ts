/** What the rules find of soft budgets and limits that warned of calls or moved them. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { alertRecord } from '../../../src/actors/alerts/record.ts';
import { AlertWorld } from '../../support/alert-world.ts';
import { makeBudget } from '../../support/budgets.ts';

setDefaultTimeout(60_000);

const USD = 1_000_000_000;
const KIND = 'soft_limit_reached';
let world: AlertWorld;
beforeAll(async () => {
  world = await AlertWorld.start();
});
afterAll(async () => {
  expect(world.errors).toEqual([]);
  await world.stop();
});
beforeEach(async () => {
  await world.sql`truncate alert, alert_delivery, alert_endpoint, alert_turn, usage_line, budget_window, budget`;
  await world.sql`update api_key set status = 'revoked', deleted_at = now()`;
});

/** A key with a soft limit. */
async function softKey(when_reached: unknown = 'warn'): Promise<string> {
  const id = await world.key();
  const limits = [{ model: null, requests_per_minute: 1, when_reached }];
  await world.sql`update api_key set limits = ${world.sql.json(limits as never)} where id = ${id}`;
  return id;
}

interface Called {
  model?: string;
  moved_from?: string;
  at?: Date;
}

/** Stores a call of a key that exceeded soft limits. */
async function called(key_id: string, reached: object[], of: Called = {}): Promise<void> {
  const { sql, organization_id } = world;
  const { model = 'gpt-4o', moved_from, at = new Date() } = of;
  const detail = { reached, ...(moved_from ? { moved_from } : {}) };
  const id = crypto.randomUUID();
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene, access_channel, model,
      model_vendor, channel_id, outcome, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      estimated, charged_nano_usd, at, detail)
    values (${id}, ${id}, ${organization_id}, ${key_id}, ${id}, 'chat', 'platform', ${model}, 'v', 'c',
      'completed', 1, 0, 0, 1, false, 1, ${at}, ${sql.json(detail as never)})`;
}
const requests = { type: 'requests_per_minute', frees_in_s: 12 };
const textsOf = async () => {
  const made = new Set((await world.evaluate()).map(({ cause }) => cause));
  const rows = await world.sql`select * from alert`;
  return rows
    .filter(({ cause }) => made.has(cause))
    .map((row) => alertRecord(row as never).text)
    .toSorted();
};

test('a limit of a key is found once a day, and each limit on its own', async () => {
  await world.endpoint([KIND]);
  const key = await softKey();
  for (let n = 0; n < 3; n += 1) await called(key, [requests]);
  expect(await textsOf()).toEqual([
    'The key “A key” exceeded its limit of requests per minute. Calls beyond it were served with a warning.',
  ]);
  await called(key, [requests]);
  expect(await textsOf()).toEqual([]);
  await called(key, [requests, { type: 'tokens_per_minute', model: 'gpt-4o' }]);
  expect(await textsOf()).toEqual([
    'The key “A key” exceeded its limit of tokens per minute for gpt-4o. Calls beyond it were served with a warning.',
  ]);
  // The alerts were about another day: today is another cause.
  await world.sql`update alert set cause = replace(cause, figures->>'day', '2020-01-01')`;
  expect(await textsOf()).toHaveLength(2);
});

test('a limit that moves calls is found with the model to which they moved', async () => {
  await world.endpoint([KIND]);
  const key = await softKey({ move_to: 'gpt-4o-mini' });
  await called(key, [{ ...requests, not_moved: 'not_able' }], { moved_from: 'x', model: 'other' });
  await called(key, [requests], { moved_from: 'gpt-4o', model: 'gpt-4o-mini' });
  expect(await textsOf()).toEqual([
    'The key “A key” exceeded its limit of requests per minute. Calls beyond it moved to gpt-4o-mini.',
  ]);
});

test('a budget is found once for its window', async () => {
  await world.endpoint([KIND]);
  const { sql, organization_id } = world;
  const key_id = await world.key();
  const choice = { when_reached: 'move', move_to: 'gpt-4o-mini' } as const;
  const id = await makeBudget(sql, { organization_id, key_id }, 'month', 10 * USD, choice);
  const reached = { type: 'budget', budget_id: id, period: 'month', owner: 'api_key' };
  await called(key_id, [reached], { moved_from: 'gpt-4o', model: 'gpt-4o-mini' });
  const [found] = await world.evaluate();
  expect(found).toMatchObject({
    ...{ kind: KIND, subject_id: id },
    figures: { limit: 'budget', period: 'month', moved_to: 'gpt-4o-mini', budget_of: 'key' },
  });
  const [row] = await sql`select * from alert`;
  expect(alertRecord(row as never)).toMatchObject({
    ...{ severity: 'warning', act: 'Raise the budget, or spend less.' },
    text: expect.stringMatching(
      /^The key “A key” has too little left in its budget for the month from \d{4}-\d\d-01\. Calls beyond it moved to gpt-4o-mini\.$/,
    ),
  });
  await called(key_id, [reached]);
  expect(await world.evaluate()).toEqual([]);
});

test('is not found for earlier calls, for those before the endpoint, and for organizations without soft limits', async () => {
  const key = await softKey();
  await called(key, [requests]);
  expect(await world.evaluate()).toEqual([]);
  await world.endpoint([KIND], await world.organization());
  await world.endpoint(['budget_used']);
  expect(await world.evaluate()).toEqual([]);
  await world.sql`truncate usage_line`;
  await world.endpoint([KIND]);
  await called(key, [requests], { at: new Date(Date.now() - 10 * 60_000) });
  expect(await world.evaluate()).toEqual([]);
  await called(key, [requests]);
  await world.sql`update api_key set limits = '[{"model": null, "when_reached": "refuse"}]'`;
  expect(await world.evaluate()).toEqual([]);
});
