import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { retireReplica } from '../../../db/replicas.ts';
import { systemClock, systemIdSource } from '../../../src/actors/clock.ts';
import type { ActorCommand } from '../../../src/actors/durable/command.ts';
import { DurableActors } from '../../../src/actors/durable/durable.ts';
import { InspectionFeed, type Observation } from '../../../src/actors/durable/inspection.ts';
import { MAX_WAITING_COMMANDS, Mailboxes } from '../../../src/actors/durable/mailboxes.ts';
import { Outbox } from '../../../src/actors/durable/outbox.ts';
import { Registry } from '../../../src/actors/durable/registry.ts';
import { Timers } from '../../../src/actors/durable/timers.ts';
import { courierKind, type Outside } from '../../sim/courier.ts';
import { noHints } from '../../support/money-hints.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

describe('durable actors', () => {
  let database: Database;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const fresh = await createTestDatabase();
    drop = fresh.drop;
    database = connectDatabase(fresh.url, { pool: 'background' });
  });

  afterAll(async () => {
    await database.close();
    await drop();
  });

  /** A replica with the courier kind, whose effects the test implements. */
  async function replica(outside: Outside) {
    const id = `replica-${crypto.randomUUID()}`;
    const { sql } = database;
    await sql`insert into replica (id, lease_until) values (${id}, now() + interval '1 hour')`;
    const replica_id = () => id;
    const onError = () => undefined;
    const feed = new InspectionFeed();
    const actors: DurableActors = new DurableActors({
      sql,
      clock: systemClock,
      ids: systemIdSource,
      kinds: [courierKind(outside)],
      replica_id: replica_id,
      hints: noHints,
      onError,
      onCommitted: ({ events }) => registry.onCommitted(events),
    });
    const shared = { sql, clock: systemClock, actors, replica_id, onError };
    const { kinds } = actors;
    const registry = new Registry({ sql, clock: systemClock, kinds, feed, replica_id, onError });
    const mailboxes = new Mailboxes((command) => actors.send(command));
    const send = (command: ActorCommand) => mailboxes.send(command);
    const outbox = new Outbox({ ...shared, random: Math.random });
    const timers = new Timers(shared);
    return { id, actors, registry, send, outbox, timers, feed, shared };
  }

  const parcel = (id: string) => ({ kind: 'courier', id, event: { type: 'SEND' }, create: true });

  test('an effect runs after the commit with its own key, and its report causes a transition', async () => {
    const keys: string[] = [];
    const { send, outbox, registry } = await replica({
      act: async (_effect, _actor, key) => {
        keys.push(key);
        return 'done';
      },
    });
    const result = await send(parcel('effect'));
    if (result.type !== 'committed') throw new Error(result.type);
    const live = registry.find({ kind: 'courier', id: 'effect' });
    await outbox.poll();
    await outbox.idle();
    expect(keys).toHaveLength(1);
    expect(live?.snapshot.value).toBe('delivered');
    const events = await database.sql`
      select seq, from_state, to_state, taken from actor_event where actor_id = 'effect' order by seq`;
    expect(events.map((row) => ({ ...row }))).toEqual([
      { seq: 1, from_state: 'ready', to_state: 'delivering', taken: true },
      { seq: 2, from_state: 'delivering', to_state: 'delivered', taken: true },
    ]);
    const left = await database.sql`
      select actor_id from timer where actor_id = 'effect'
      union all select actor_id from outbox where actor_id = 'effect'`;
    expect(left).toHaveLength(0);
  });

  test('effects whose reports wait for their commit do not hold up others, and at most 256 run', async () => {
    let [started, running, most] = [0, 0, 0];
    const { send, shared, actors } = await replica({
      act: async () => {
        started += 1;
        running += 1;
        most = Math.max(most, running);
        await Bun.sleep(1);
        running -= 1;
        return 'done';
      },
    });
    const commit = Promise.withResolvers<void>();
    const slow = {
      kinds: actors.kinds,
      send: (command: ActorCommand) => commit.promise.then(() => actors.send(command)),
    } as DurableActors;
    const outbox = new Outbox({ ...shared, actors: slow, random: Math.random });
    await Promise.all(Array.from({ length: 600 }, (_, at) => send(parcel(`slow-${at}`))));
    await outbox.poll();
    await until('all effects run while no report is committed', () => started === 600);
    expect(most).toBeLessThanOrEqual(256);
    expect(outbox.size).toBe(600);
    commit.resolve();
    await outbox.idle();
    const [row] = await database.sql`
      select count(*)::int4 as delivered from actor
      where id like 'slow-%' and state = 'delivered'`;
    expect(row).toEqual({ delivered: 600 });
  });

  test('an event that no state takes is logged and changes no state', async () => {
    const { send } = await replica({ act: async () => 'done' });
    await send(parcel('ignored'));
    const result = await send({
      kind: 'courier',
      id: 'ignored',
      event: { type: 'NUDGE' },
    });
    expect(result).toMatchObject({ type: 'committed', taken: false, seq: 2 });
  });

  test('a timer fires once, even if several polls find it', async () => {
    const one = await replica({ act: () => new Promise(() => undefined) });
    await one.send(parcel('timer'));
    await database.sql`update timer set fire_at = now() - interval '1 s' where actor_id = 'timer'`;
    await Promise.all([one.timers.poll(), one.timers.poll(), one.timers.poll()]);
    const fired = await database.sql`
      select 1 from actor_event where actor_id = 'timer' and event ->> 'type' = 'DEADLINE'`;
    expect(fired).toHaveLength(1);
  });

  test('a replica that was declared dead writes nothing; its actors are adopted under a new epoch', async () => {
    const zombie = await replica({ act: async () => 'done' });
    await zombie.send(parcel('orphan'));
    await retireReplica(database.sql, zombie.id);
    const late = { kind: 'courier', id: 'orphan', event: { type: 'DELIVERED' } };
    expect(await zombie.send(late)).toEqual({ type: 'fenced' });
    const heir = await replica({ act: async () => 'done' });
    const { adoptActors } = await import('../../../db/actors/store.ts');
    const orphan = { kind: 'courier', id: 'orphan' };
    expect(await adoptActors(database.sql, heir.id, 100)).toContainEqual(orphan);
    await heir.outbox.poll();
    await heir.outbox.idle();
    const [row] = await database.sql`select owner, epoch, live from actor where id = 'orphan'`;
    expect({ ...row }).toEqual({ owner: heir.id, epoch: 2, live: false });
  });

  test('an effect that fails at every attempt ends as dead, and its actor gets an event', async () => {
    const { send, outbox } = await replica({
      act: async (effect) => {
        if (effect === 'deliver') throw new Error('no way');
        return 'done';
      },
    });
    await send(parcel('hopeless'));
    await until('the actor has ended', async () => {
      await database.sql`update outbox set next_attempt_at = now() where actor_id = 'hopeless'`;
      await outbox.poll();
      await outbox.idle();
      const [row] =
        await database.sql`select snapshot ->> 'value' as value from actor where id = 'hopeless'`;
      return row?.value === 'returned';
    });
    const [dead] = await database.sql`
      select status, attempts from outbox where actor_id = 'hopeless' and effect = 'deliver'`;
    expect({ ...dead }).toEqual({ status: 'dead', attempts: 7 });
  });

  test('if too many commands wait, further ones get 503 and the waiting ones are executed', async () => {
    const { send } = await replica({ act: async () => 'done' });
    await send(parcel('busy'));
    const nudge = { kind: 'courier', id: 'busy', event: { type: 'NUDGE' } };
    const results = await Promise.allSettled(
      Array.from({ length: MAX_WAITING_COMMANDS + 5 }, () => send(nudge)),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(5);
    expect(refused[0]?.reason).toMatchObject({ id: 'service_unavailable' });
  });

  test('the feed gets events only while somebody watches', async () => {
    const { send, feed } = await replica({ act: async () => 'done' });
    await send(parcel('seen'));
    const seen: Observation[] = [];
    const stop = feed.watch((observation) => seen.push(observation));
    await send({ kind: 'courier', id: 'seen', event: { type: 'NUDGE' } });
    stop();
    await send({ kind: 'courier', id: 'seen', event: { type: 'NUDGE' } });
    expect(seen.map(({ kind, id, event }) => [kind, id, event.type])).toEqual([
      ['courier', 'seen', 'NUDGE'],
    ]);
    expect(feed.isWatched).toBe(false);
  });
});
