/** Each alert once for its cause: random histories of spend and caps, several evaluators, and ones that die. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from '../../../db/client.ts';
import { AlertWorld } from '../../support/alert-world.ts';
import { fc } from '../../support/property.ts';

setDefaultTimeout(120_000);

const REPLICAS = 3;
const KEYS = 3;
let world: AlertWorld;
beforeAll(async () => {
  world = await AlertWorld.start(REPLICAS);
});
afterAll(() => world.stop());
beforeEach(() => reset());

async function reset(): Promise<string[]> {
  const { sql } = world;
  await sql`truncate alert, alert_delivery, alert_endpoint, alert_turn`;
  await sql`update api_key set status = 'revoked', deleted_at = now()`;
  await world.endpoint(['cap_used']);
  await world.endpoint(['cap_used', 'low_balance']);
  return Promise.all(Array.from({ length: KEYS }, () => world.key({ limit: 10e-9 })));
}

type Step =
  | { readonly type: 'spend'; readonly key: number; readonly nano_usd: number }
  | { readonly type: 'cap'; readonly key: number; readonly nano_usd: number | null }
  /** So many replicas evaluate at once. */
  | { readonly type: 'evaluate'; readonly replicas: number }
  /** A replica dies in the middle of its evaluation, while another one evaluates. */
  | { readonly type: 'crash'; readonly survivor: boolean };

const key = fc.nat(KEYS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('spend' as const), key, nano_usd: fc.nat(6) }),
  fc.record({
    ...{ type: fc.constant('cap' as const), key },
    nano_usd: fc.option(fc.constantFrom(0, 5, 10, 20, 1_000)),
  }),
  fc.record({
    type: fc.constant('evaluate' as const),
    replicas: fc.integer({ min: 1, max: REPLICAS }),
  }),
  fc.record({ type: fc.constant('crash' as const), survivor: fc.boolean() }),
);

/** A connection whose transactions of evaluations end before their commit. */
function dying(sql: Sql): Sql {
  return new Proxy(sql, {
    get(target, name) {
      if (name !== 'begin') return Reflect.get(target, name);
      return (work: (tx: unknown) => Promise<unknown>) =>
        target.begin(async (tx) => {
          await work(tx);
          throw new Error('the replica died');
        });
    },
    apply: (target, _, parameters) => Reflect.apply(target as never, undefined, parameters),
  });
}

test('P7: a share of a cap is alerted to once, on every endpoint, however many evaluate it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      const ids = await reset();
      const keys = ids.map((id) => ({ id, used: 0, limit: 10 as number | null }));
      const expected = new Set<string>();
      const expectAlerts = () => {
        for (const { id, used, limit } of keys) {
          if (limit === null || limit === 0) continue;
          for (const share of [50, 80, 100]) {
            if (used * 100 >= limit * share) expected.add(`cap_used:key:${id}:${limit}::${share}`);
          }
        }
      };
      const evaluate = (replicas: number) =>
        Promise.all(Array.from({ length: replicas }, (_, n) => world.evaluator(n).run()));
      for (const each of [...steps, { type: 'evaluate', replicas: 2 } as const]) {
        if (each.type === 'spend') {
          const spender = keys[each.key];
          if (!spender) continue;
          spender.used += each.nano_usd;
          await world.sql`update api_key set used_nano_usd = ${spender.used} where id = ${spender.id}`;
        } else if (each.type === 'cap') {
          const capped = keys[each.key];
          if (!capped) continue;
          capped.limit = each.nano_usd;
          await world.sql`update api_key set limit_nano_usd = ${capped.limit} where id = ${capped.id}`;
        } else if (each.type === 'evaluate') {
          await evaluate(each.replicas);
          // A replica skips what another one evaluates, so one more evaluation finds all.
          await evaluate(1);
          expectAlerts();
        } else {
          const dead = world.evaluator(2, dying(world.sql)).run();
          await Promise.all([dead, ...(each.survivor ? [world.evaluator(1).run()] : [])]);
          await evaluate(1);
          expectAlerts();
        }
      }
      const alerts = (await world.alerts()).map(({ cause }) => cause);
      expect(alerts.toSorted()).toEqual([...expected].toSorted());
      const deliveries = await world.sql<{ status: string }[]>`select status from alert_delivery`;
      expect(deliveries.length).toBe(2 * expected.size);
      expect(deliveries.every(({ status }) => status === 'pending')).toBe(true);
    }),
    { numRuns: 10 },
  );
});

test('an evaluation of another replica is not waited for, and its turn ends with its connection', async () => {
  const [id = ''] = await reset();
  await world.sql`update api_key set used_nano_usd = 10 where id = ${id}`;
  await world.evaluator().run();
  await world.sql`truncate alert cascade`;
  const holding = await world.sql.reserve();
  await holding`begin`;
  await holding`select 1 from alert_turn for update`;
  await world.evaluator().run();
  expect(await world.alerts()).toEqual([]);
  await holding`rollback`;
  holding.release();
  await world.evaluator().run();
  expect((await world.alerts()).length).toBe(3);
});

test('a rule is evaluated once in its interval, by whichever replica comes first', async () => {
  const [id = ''] = await reset();
  await world.sql`update api_key set used_nano_usd = 5 where id = ${id}`;
  await world.evaluator().run();
  await world.sql`update alert_turn set evaluated_at = weir_now() + interval '1 minute'`;
  await world.sql`update api_key set used_nano_usd = 8 where id = ${id}`;
  await Promise.all([world.evaluator(0).run(), world.evaluator(1).run()]);
  expect((await world.alerts()).length).toBe(1);
});
