import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MAX_IDLE_RESTORED } from '../../../src/actors/durable/catch-up.ts';
import { type LiveWorld, startLiveWorld } from '../../support/live-world.ts';

describe('the live actors of a replica', () => {
  let world: LiveWorld;

  beforeAll(async () => {
    world = await startLiveWorld();
  });

  afterAll(() => world.close());

  test('a live actor exists from the first event on, and equals its row after each event', async () => {
    const replica = await world.replica();
    for (let seq = 1; seq <= 5; seq += 1) {
      await replica.send('equal', seq === 3 ? 'UNKNOWN' : 'STEP');
      const { value, context } = replica.find('equal')?.snapshot ?? {};
      expect({ value, context, seq: replica.find('equal')?.seq, live: true }).toEqual(
        await world.row('equal'),
      );
    }
    expect(replica.published.map(({ seq, taken }) => [seq, taken])).toEqual([
      [1, true],
      [2, true],
      [3, false],
      [4, true],
      [5, true],
    ]);
    await replica.send('equal', 'ARRIVE');
    expect(replica.size).toBe(0);
    await replica.send('equal', 'STEP');
    expect(replica.size).toBe(0);
    expect(replica.registry.countsByKind().get('walker')).toBe(0);
  });

  test('at the start, a replica reads the actors that it owns, also if these are many', async () => {
    const replica = await world.replica();
    const others = await world.replica();
    await others.send('of-another');
    const ids = Array.from({ length: 2_100 }, (_, index) => `owned-${index}`);
    await Promise.all(ids.map((id) => replica.send(id)));
    await replica.send('owned-7', 'ARRIVE');
    replica.registry.onFenced();
    replica.registry.start();
    await replica.registry.stop();
    const restarted = await world.replica();
    restarted.id = replica.id;
    await restarted.registry.restoreOwned();
    expect(restarted.size).toBe(2_099);
    expect(restarted.find('owned-7')).toBeUndefined();
    expect(restarted.find('owned-2099')?.snapshot.context).toEqual({ steps: 1 });
    await restarted.send('owned-2099');
    expect(restarted.find('owned-2099')?.seq).toBe(2);
  });

  test('a replica that owns very many actors reads those that are due; the others come with their next event', async () => {
    const { sql } = world;
    const replica = await world.replica();
    await replica.send('model');
    await sql`
      insert into actor (kind, id, machine_version, snapshot, state, seq, owner, epoch)
      select kind, 'very-many-' || lpad(n::text, 6, '0'), machine_version, snapshot, state, 0, owner,
        epoch
      from actor, generate_series(1, ${MAX_IDLE_RESTORED + 1_500}) as n where id = 'model'`;
    await sql`
      insert into timer (kind, actor_id, name, fire_at, event)
      select kind, id, 'rest', weir_now() + seconds * interval '1 second', '{"type": "STEP"}'
      from actor join (values ('very-many-011498', 30), ('very-many-011499', 3600)) as due(name, seconds)
        on id = name`;
    const restarted = await world.replica();
    restarted.id = replica.id;
    await restarted.registry.restoreOwned();
    expect(restarted.size).toBe(MAX_IDLE_RESTORED + 1);
    expect(restarted.find('very-many-011498')?.seq).toBe(0);
    expect(restarted.find('very-many-011499')).toBeUndefined();
    await restarted.send('very-many-011499');
    expect(restarted.find('very-many-011499')?.seq).toBe(1);
    await sql`delete from actor where id like 'very-many-%'`;
  });

  test('the start goes on when the database is back', async () => {
    const replica = await world.replica();
    await replica.send('early');
    const restarted = await world.replica();
    restarted.id = replica.id;
    restarted.reads.isAway = true;
    const all = restarted.registry.restoreOwned();
    await restarted.registry.idle();
    expect(restarted.size).toBe(0);
    restarted.reads.isAway = false;
    await restarted.pass(500);
    await all;
    expect(restarted.find('early')?.seq).toBe(1);
  });

  test('an actor that cannot be read does not stop the start', async () => {
    const replica = await world.replica();
    await replica.send('strange-1');
    await replica.send('strange-2');
    await world.sql`update actor set snapshot = '{"value": "nowhere", "context": {}}'
      where id = 'strange-1'`;
    const restarted = await world.replica();
    restarted.id = replica.id;
    await restarted.registry.restoreOwned();
    expect(restarted.find('strange-2')?.seq).toBe(1);
    expect(restarted.errors).toHaveLength(1);
    expect(restarted.watch('strange-1')).rejects.toThrow('nowhere');
    await world.sql`delete from actor where id = 'strange-1'`;
  });

  test('after its owner died, the actor lives on the replica that adopts it; a watch there goes on', async () => {
    const owner = await world.replica();
    const heir = await world.replica();
    await owner.send('inherited');
    const watch = await heir.watch('inherited');
    await owner.send('inherited');
    await owner.die();
    await heir.adopt();
    expect(heir.find('inherited')?.owner).toBe(heir.id);
    await heir.send('inherited');
    await heir.send('inherited', 'ARRIVE');
    expect(watch.seqs()).toEqual([2, 3, 4]);
    // The feed shows the actors that this replica owns.
    expect(heir.published.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    expect(heir.size).toBe(0);
  });

  test('a replica adopts an actor although its row is just being read', async () => {
    const owner = await world.replica();
    const heir = await world.replica();
    await owner.send('contested');
    heir.reads.hold();
    const watching = heir.watch('contested');
    await heir.reads.answered();
    await owner.die();
    const adopted = heir.adopt();
    await world.row('contested');
    heir.reads.release();
    await watching;
    await adopted;
    await heir.registry.idle();
    expect(heir.find('contested')?.owner).toBe(heir.id);
  });

  test('adopted actors are read when the database is back', async () => {
    const owner = await world.replica();
    const heir = await world.replica();
    await owner.send('left');
    await owner.die();
    heir.reads.isAway = true;
    await heir.adopt();
    expect(heir.size).toBe(0);
    heir.reads.isAway = false;
    await heir.pass(500);
    await heir.pass(500);
    expect(heir.find('left')?.owner).toBe(heir.id);
  });

  test('a replica that was declared dead keeps only the actors that somebody watches', async () => {
    const fenced = await world.replica();
    const heir = await world.replica();
    fenced.registry.start();
    await fenced.send('watched');
    await fenced.send('unwatched');
    const watch = await fenced.watch('watched');
    await fenced.die();
    await fenced.register();
    fenced.registry.onFenced();
    expect([...fenced.registry.all()].map(({ id }) => id)).toEqual(['watched']);
    await heir.adopt();
    await heir.send('watched');
    fenced.announce('watched', 2, heir.id);
    await fenced.registry.idle();
    // The fenced replica may send events to actors of others too.
    await fenced.send('watched');
    expect(watch.seqs()).toEqual([2, 3]);
    expect(fenced.published.map(({ seq }) => seq)).toEqual([1, 1]);
    watch.stop();
    // Its timers are not known, so they are read before it leaves.
    await fenced.pass(70_000);
    await fenced.pass(70_000);
    expect(fenced.size).toBe(0);
  });

  test('an event of another replica comes with its announcement', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('announced');
    const watch = await other.watch('announced');
    await owner.send('announced');
    await owner.send('announced');
    // Announcements may be late, repeated and in a wrong order.
    for (const seq of [3, 2, 2, 3]) other.announce('announced', seq, owner.id);
    await other.registry.idle();
    other.announce('announced', 1, owner.id);
    await other.registry.idle();
    expect(watch.seqs()).toEqual([2, 3]);
  });

  test('without an announcement, a watcher gets the event within two seconds', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    other.registry.start();
    await owner.send('silent');
    const watch = await other.watch('silent');
    await owner.send('silent');
    await other.pass(1_000);
    await other.pass(1_000);
    expect(watch.seqs()).toEqual([2]);
  });

  test('an actor that another replica wakes comes back into the memory of its owner', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    owner.registry.start();
    await owner.send('woken');
    await owner.pass(70_000);
    expect(owner.find('woken')).toBeUndefined();
    await other.send('woken');
    expect(other.find('woken')).toBeUndefined();
    owner.announce('woken', 2, owner.id);
    await owner.registry.idle();
    expect(owner.find('woken')?.seq).toBe(2);
  });

  test('after a gap, all actors are compared with their rows, also after a failure', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    const ids = Array.from({ length: 1_200 }, (_, index) => `gap-${index}`);
    await Promise.all(ids.map((id) => owner.send(id)));
    await Promise.all(ids.map((id) => other.send(id)));
    owner.reads.isAway = true;
    owner.registry.onGap();
    await owner.registry.idle();
    owner.reads.isAway = false;
    await owner.pass(500);
    expect(ids.filter((id) => owner.find(id)?.seq !== 2)).toEqual([]);
  });

  test('a gap that comes while a row is read counts for this actor too', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('read-in-gap');
    other.reads.hold();
    const watching = other.watch('read-in-gap');
    await other.reads.answered();
    await owner.send('read-in-gap');
    other.registry.onGap();
    other.reads.release();
    const watch = await watching;
    expect(watch.seq).toBe(1);
    await other.registry.idle();
    expect(watch.seqs()).toEqual([2]);
  });

  test('an announcement that comes while the row is read is not forgotten', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('read-and-heard');
    other.reads.hold();
    const watching = other.watch('read-and-heard');
    await other.reads.answered();
    await owner.send('read-and-heard');
    other.announce('read-and-heard', 2, owner.id);
    other.reads.release();
    const watch = await watching;
    await owner.send('read-and-heard');
    other.announce('read-and-heard', 3, owner.id);
    await other.registry.idle();
    expect([watch.seq, watch.seqs()]).toEqual([2, [3]]);
  });

  test('an actor that ends while its row is read does not come back', async () => {
    const replica = await world.replica();
    await replica.send('ends-in-read');
    replica.reads.hold();
    replica.announce('ends-in-read', 1, replica.id);
    replica.registry.onAdopted();
    await replica.reads.answered();
    await replica.send('ends-in-read', 'ARRIVE');
    replica.reads.release();
    await replica.registry.idle();
    expect(replica.size).toBe(0);
    expect(replica.published.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('a commit whose answer was lost is read from the event log', async () => {
    const replica = await world.replica();
    await replica.send('lost');
    const watch = await replica.watch('lost');
    replica.isNotified = false;
    await replica.send('lost');
    await replica.send('unheard');
    replica.isNotified = true;
    const of = (id: string, seq: number) => ({ kind: 'walker', id, seq, owner: replica.id });
    replica.registry.onRepeated(of('lost', 2));
    replica.registry.onRepeated(of('unheard', 1));
    await replica.send('lost');
    await replica.registry.idle();
    expect(watch.seqs()).toEqual([2, 3]);
    expect(replica.find('unheard')?.seq).toBe(1);
  });

  test('after the stop, nothing is in memory and a watch is refused', async () => {
    const replica = await world.replica();
    await replica.send('stopped');
    replica.registry.start();
    await replica.registry.stop();
    expect(replica.size).toBe(0);
    expect(replica.watch('stopped')).rejects.toThrow('stopped');
  });
});
