/** What the parts of a replica do with messages of other replicas, and after missed ones. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { setSwitch } from '../../db/channels/switches.ts';
import { connectDatabase, type Database } from '../../db/client.ts';
import { hashCredential, newCredential, newId } from '../../db/secrets.ts';
import { Bus } from '../../src/actors/bus/bus.ts';
import { PostgresTransport } from '../../src/actors/bus/postgres.ts';
import { RedisTransport } from '../../src/actors/bus/redis.ts';
import type { Transport } from '../../src/actors/bus/transport.ts';
import { Channels } from '../../src/actors/channels/channels.ts';
import { CircuitHints } from '../../src/actors/channels/circuit-hints.ts';
import { type Clock, systemClock, systemIdSource } from '../../src/actors/clock.ts';
import type { BudgetedTags } from '../../src/actors/money/budgeted-tags.ts';
import { Lane } from '../../src/actors/money/lane.ts';
import { Quotas } from '../../src/actors/money/quotas.ts';
import { KeyCache } from '../../src/inference/keys/key-cache.ts';
import { openBudgetedTags } from '../../src/start/budgeted-tags.ts';
import { moneyHintsOver } from '../../src/start/bus.ts';
import { subscribeParts } from '../../src/start/subscriptions.ts';
import { VirtualClock } from '../sim/virtual-clock.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { makeBudget } from '../support/budgets.ts';
import { MemoryNetwork, type MemoryTransport } from '../support/bus.ts';
import { channelConfig } from '../support/channels.ts';
import { sharedRedisUrl } from '../support/redis.ts';
import { until } from '../support/until.ts';

setDefaultTimeout(60_000);

let app: TestApp;
let announceKey: (key_id: string) => void = () => undefined;
beforeAll(async () => {
  app = await startTestApp({ announceKey: (key_id) => announceKey(key_id) });
});
afterAll(() => app.stop());

/** A replica beside the app, with the subscribed parts only. `quotaClock`: time of sweeps and retries. */
async function startReplica(transport: Transport, quotaClock: Clock = systemClock) {
  const database: Database = connectDatabase(app.database.url, { pool: 'background' });
  const { sql } = database;
  const id = newId('replica');
  await sql`insert into replica (id, lease_until) values (${id}, now() + interval '1 h')`;
  const onError = (error: unknown) => void app.reported.push(error);
  const clock = systemClock;
  const bus = new Bus({ transport, clock, ids: systemIdSource, replica_id: () => id, onError });
  const lane = new Lane({ sql, clock, hints: moneyHintsOver(bus), onError });
  const budgeted = openBudgetedTags(sql);
  const quotas = new Quotas({
    lane,
    budgeted: budgeted.tags,
    clock: quotaClock,
    ids: systemIdSource,
    replica_id: () => id,
    mayAdmit: () => true,
    onFenced: () => undefined,
  });
  const keys = new KeyCache(database.orm, Date.now);
  const channels = new Channels([channelConfig('one', { models: { m: 'm' } })], clock);
  const circuits = new CircuitHints({
    publish: (message) => bus.publish('circuit', message),
    replica_id: () => id,
    now: clock.now,
  });
  let reads = 0;
  const ownReads: string[] = [];
  const readChannels = async () => {
    reads += 1;
  };
  const readOwnKeys = async (organization_id = 'all') => {
    ownReads.push(organization_id);
  };
  const parts = {
    ...{ database, clock, quotas, keys, channels, circuits, readChannels, readOwnKeys, onError },
    readBudgetedTags: budgeted.read,
  };
  const subscriptions = subscribeParts(bus, parts);
  await bus.start();
  await subscriptions.applySwitches();
  return {
    ...{ bus, sql, quotas, keys, channels, tags: budgeted.tags },
    isOff: () => channels.account('one')?.state === 'disabled',
    /** How often the channels of operators were read. */
    channelReads: () => reads,
    /** Whose own keys were read; `all` = those of all organizations. */
    ownReads,
    async stop() {
      await quotas.close();
      await lane.drain();
      subscriptions.stop();
      await bus.stop();
      await database.close();
    },
  };
}

async function setStatus(organization_id: string, status: 'active' | 'suspended'): Promise<void> {
  await app.database.sql`update organization set status = ${status} where id = ${organization_id}`;
}

async function addKey(limit: number | null = null, organization_id = app.organization_id) {
  const [id, secret] = [newId('key'), newCredential('sk')];
  await app.database.sql`insert into api_key ${app.database.sql({
    id,
    organization_id,
    name: 'test',
    key_hash: hashCredential(secret),
    key_prefix: 'sk-',
    limit_nano_usd: limit,
    ceiling_nano_usd: limit,
  })}`;
  return { id, secret, organization_id };
}

async function refusalOf(keys: KeyCache, secret: string): Promise<string | undefined> {
  try {
    await keys.authenticate(secret);
    return undefined;
  } catch (error) {
    return (error as { id: string }).id;
  }
}

const isBudgeted = (tags: BudgetedTags, tag: readonly [string, string]) =>
  tags.of(app.organization_id, Object.fromEntries([tag])) !== undefined;
const ask = (amount: number) => ({ amount, minimum: () => amount, wait_ms: 30_000 });

describe.each(['PostgreSQL', 'Redis'])('two replicas over %s', (carrier) => {
  let replicas: Awaited<ReturnType<typeof startReplica>>[] = [];
  beforeAll(async () => {
    const channel = `test_${crypto.randomUUID()}`;
    const redis_url = await sharedRedisUrl();
    const transport = () =>
      carrier === 'Redis'
        ? new RedisTransport(redis_url, channel, () => undefined)
        : new PostgresTransport(() => connectDatabase(app.database.url, { pool: 'single' }));
    replicas = [await startReplica(transport()), await startReplica(transport())];
    announceKey = (key_id) => replicas[0]?.bus.publish('key', { key_id });
    await until('they know each other', () =>
      replicas.every((replica) => replica.bus.peerCount === 1),
    );
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.stop();
    expect(app.reported).toEqual([]);
  });

  test('P6: a key that is revoked on one replica is refused by the other', async () => {
    const { id, secret } = await addKey();
    for (const { keys } of replicas) expect(await refusalOf(keys, secret)).toBeUndefined();
    await app.manage('PATCH', `/api-keys/${id}`, { status: 'revoked' });
    for (const { keys } of replicas) {
      await until('the key is refused', async () => {
        return (await refusalOf(keys, secret)) === 'expired_api_key';
      });
    }
  });

  test('the keys of an organization that is suspended on one replica are refused by the other', async () => {
    const organization_id = newId('org');
    await app.database.sql`insert into organization (id, name) values (${organization_id}, 'o')`;
    const { secret } = await addKey(null, organization_id);
    const other = await addKey();
    for (const { keys } of replicas) expect(await refusalOf(keys, secret)).toBeUndefined();
    await setStatus(organization_id, 'suspended');
    const announce = () => replicas[0]?.bus.publish('organization', { organization_id });
    announce();
    for (const { keys } of replicas) {
      await until('the key is refused', async () => {
        return (await refusalOf(keys, secret)) === 'organization_suspended';
      });
      expect(await refusalOf(keys, other.secret)).toBeUndefined();
    }
    await setStatus(organization_id, 'active');
    announce();
    for (const { keys } of replicas) {
      await until('the key is accepted', async () => !(await refusalOf(keys, secret)));
    }
  });

  test('a recall brings the unused money of one replica to the other', async () => {
    const key = await addKey(1_000_000);
    const [first, second] = replicas.map(({ quotas }) => quotas.getOrCreate(key));
    const running = await first?.reserve(ask(1_000));
    const all = second?.reserve(ask(999_000));
    expect((await all)?.amount).toBe(999_000);
    running?.release();
    (await all)?.release();
  });

  test('changed channels of operators are read by both', async () => {
    const before = replicas.map(({ channelReads }) => channelReads());
    replicas[0]?.bus.publish('channels', {});
    for (const [index, { channelReads }] of replicas.entries()) {
      await until('they are read', () => channelReads() > (before[index] ?? 0));
    }
  });

  test('a tag whose budget is made on one replica has one on the other', async () => {
    const [first, second] = replicas;
    if (!first || !second) throw new Error('no replica');
    const tag = ['team', crypto.randomUUID()] as const;
    await makeBudget(
      first.sql,
      { organization_id: app.organization_id, key_id: null, tag },
      'day',
      1,
    );
    first.bus.publish('tag_budgets', { organization_id: app.organization_id });
    for (const { tags } of replicas) {
      await until('the tag is known', () => isBudgeted(tags, tag));
    }
  });

  test('a recall for a tag brings back the unused money of its calls only', async () => {
    const [first, second] = replicas;
    if (!first || !second) throw new Error('no replica');
    const tag = ['team', crypto.randomUUID()] as const;
    const owner = { organization_id: app.organization_id, key_id: null };
    await makeBudget(first.sql, { ...owner, tag }, 'day', 1_000);
    first.bus.publish('tag_budgets', owner);
    for (const { tags } of replicas) await until('the tag is known', () => isBudgeted(tags, tag));
    const key = await addKey(100_000);
    const plain = first.quotas.getOrCreate(key);
    const tagged = first.quotas.getOrCreate(key, Object.fromEntries([tag]));
    for (const quota of [plain, tagged]) (await quota.reserve(ask(10))).release();
    const [idle, kept] = [tagged, plain].map(({ machine }) => machine.sums.granted);
    expect(idle).toBeGreaterThan(10);
    const all = second.quotas.getOrCreate(key, Object.fromEntries([tag]));
    (await all.reserve(ask(1_000))).release();
    expect(tagged.machine.sums.granted).toBe(0);
    expect(plain.machine.sums.granted).toBe(kept ?? 0);
  });

  test('a switch is applied by both', async () => {
    const [first] = replicas;
    if (!first) throw new Error('no replica');
    for (const to of [{ state: 'disabled', reason: 'test' } as const, null]) {
      await first.sql.begin((tx) => setSwitch(tx, 'one', to));
      first.bus.publish('switch', { channel_id: 'one' });
      for (const { isOff } of replicas) {
        await until('the switch is applied', () => isOff() === (to !== null));
      }
    }
  });
});

describe('after a gap', () => {
  let replica: Awaited<ReturnType<typeof startReplica>>;
  let transport: MemoryTransport;
  beforeAll(async () => {
    transport = new MemoryNetwork().transport();
    // Without sweeps and retries, only the gap can cause what the tests expect.
    replica = await startReplica(transport, new VirtualClock());
  });
  afterAll(() => replica.stop());
  const gap = () => transport.events?.onSubscribed();

  test('a missed revocation applies, and a stream of the key gets no more money', async () => {
    const key = await addKey();
    expect(await refusalOf(replica.keys, key.secret)).toBeUndefined();
    const quota = replica.quotas.getOrCreate(key);
    const running = await quota.reserve(ask(1_000));
    await app.database.sql`update api_key set status = 'revoked' where id = ${key.id}`;
    expect(await refusalOf(replica.keys, key.secret)).toBeUndefined();
    gap();
    expect(await refusalOf(replica.keys, key.secret)).toBe('expired_api_key');
    await until('the quota actor knows it', () => quota.snapshot.value === 'revoked');
    expect(await running.extend(ask(1))).toBe(0);
    running.release();
  });

  test('a missed suspension applies, and idle money of the organization returns', async () => {
    const organization_id = newId('org');
    const { sql } = app.database;
    await sql`insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
      values (${organization_id}, 'o', 1000000, 1000000)`;
    await sql`insert into deposit (id, organization_id, amount_nano_usd)
      values (${Bun.randomUUIDv7()}, ${organization_id}, 1000000)`;
    const key = await addKey(null, organization_id);
    expect(await refusalOf(replica.keys, key.secret)).toBeUndefined();
    const quota = replica.quotas.getOrCreate(key);
    const running = await quota.reserve(ask(1_000));
    await setStatus(organization_id, 'suspended');
    gap();
    await until('the key is refused', async () => {
      return (await refusalOf(replica.keys, key.secret)) === 'organization_suspended';
    });
    await until('only the reserved money is held', async () => {
      const [row] = await sql<{ held: number }[]>`
        select held_nano_usd as held from organization where id = ${organization_id}`;
      return row?.held === 1_000;
    });
    // A call that was authenticated before learns it from the ledger, by the right name.
    const late = quota.reserve(ask(500_000)).catch((error: { id: string }) => error.id);
    expect(await late).toBe('organization_suspended');
    running.release();
  });

  test('a missed switch applies', async () => {
    const to = { state: 'disabled', reason: 'test' } as const;
    await app.database.sql.begin((tx) => setSwitch(tx, 'one', to));
    expect(replica.isOff()).toBe(false);
    gap();
    await until('the channel is off', replica.isOff);
  });

  test('channels of operators are read again', async () => {
    const before = replica.channelReads();
    gap();
    await until('they are read', () => replica.channelReads() > before);
  });

  test('budgeted tags are read again', async () => {
    const tag = ['team', crypto.randomUUID()] as const;
    await makeBudget(
      replica.sql,
      { organization_id: app.organization_id, key_id: null, tag },
      'day',
      1,
    );
    expect(isBudgeted(replica.tags, tag)).toBe(false);
    gap();
    await until('the tag is known', () => isBudgeted(replica.tags, tag));
  });

  test('a missed recall is obeyed: unused money returns', async () => {
    const key = await addKey(1_000_000);
    const quota = replica.quotas.getOrCreate(key);
    const running = await quota.reserve(ask(1_000));
    const held = async () => {
      const [row] = await app.database.sql<{ held: number }[]>`
        select held_nano_usd::int8 as held from api_key where id = ${key.id}`;
      return row?.held;
    };
    expect(await held()).toBeGreaterThan(1_000);
    await app.database.sql`select nextval('recall_seq')`;
    gap();
    await until('only the reserved money is held', async () => (await held()) === 1_000);
    running.release();
  });

  test('an exhausted key sees a raised limit', async () => {
    const key = await addKey(100);
    const quota = replica.quotas.getOrCreate(key);
    const refused = await quota.reserve(ask(200)).catch((error: { id: string }) => error.id);
    expect(refused).toBe('quota_exceeded');
    await app.database.sql`update api_key set limit_nano_usd = 1000, ceiling_nano_usd = 1000
      where id = ${key.id}`;
    gap();
    const reservation = await until('a call is admitted', async () =>
      quota.reserve(ask(200)).catch(() => undefined),
    );
    reservation.release();
  });
});
