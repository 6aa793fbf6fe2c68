import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { LiveActor } from '../../../src/actors/durable/live-actor.ts';
import { Residents } from '../../../src/actors/durable/residents.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { type LiveWorld, startLiveWorld } from '../../support/live-world.ts';
import { walkerKind } from '../../support/walker.ts';

describe('passivation of live actors', () => {
  let world: LiveWorld;

  beforeAll(async () => {
    world = await startLiveWorld();
  });

  afterAll(() => world.close());

  async function startedReplica() {
    const replica = await world.replica();
    replica.registry.start();
    await replica.registry.idle();
    return replica;
  }

  test('an actor leaves after 60 s without an event, and comes back with its next one', async () => {
    const replica = await startedReplica();
    await replica.send('idle');
    await replica.pass(50_000);
    expect(replica.size).toBe(1);
    await replica.pass(20_000);
    expect(replica.size).toBe(0);
    await replica.send('idle');
    expect(replica.find('idle')?.snapshot.context).toEqual({ steps: 2 });
    // The timers of this actor are read first, for its first event may have set some.
    await replica.pass(70_000);
    expect(replica.size).toBe(1);
    await replica.pass(70_000);
    expect(replica.size).toBe(0);
  });

  test('an actor stays while it is watched', async () => {
    const replica = await startedReplica();
    await replica.send('watched');
    const watch = await replica.watch('watched');
    await replica.pass(300_000);
    await replica.send('watched');
    expect(watch.seqs()).toEqual([2]);
    watch.stop();
    await replica.pass(140_000);
    expect(replica.size).toBe(0);
  });

  test('an actor that is watched again and again does not keep the others in memory', async () => {
    const replica = await startedReplica();
    for (const id of ['popular', 'forgotten']) await replica.send(id);
    for (let round = 0; round < 8; round += 1) {
      (await replica.watch('popular')).stop();
      await replica.pass(10_000);
    }
    expect([...replica.registry.all()].map(({ id }) => id)).toEqual(['popular']);
  });

  test('an actor stays while a timer is due within a minute, as its events say', async () => {
    const replica = await startedReplica();
    await replica.send('soon', 'REST', { delay_ms: 50_000 });
    await replica.send('late', 'REST', { delay_ms: 3_600_000 });
    await replica.send('canceled', 'REST', { delay_ms: 50_000 });
    await replica.send('canceled', 'GET_UP');
    await replica.pass(70_000);
    expect(replica.find('soon')).toBeDefined();
    expect(replica.find('late')).toBeUndefined();
    // The timer is gone, as the row says, so the actor leaves after another minute.
    await replica.pass(70_000);
    expect(replica.find('canceled')).toBeUndefined();
  });

  test('an actor whose timer has fired leaves too', async () => {
    const replica = await startedReplica();
    await replica.send('fired', 'REST', { delay_ms: 50_000 });
    await world.sql`delete from timer where actor_id = 'fired'`;
    await replica.send('fired');
    await replica.pass(70_000);
    await replica.pass(70_000);
    expect(replica.find('fired')).toBeUndefined();
  });

  test('an actor that was read from its row stays for the timers of the row', async () => {
    const replica = await world.replica();
    await replica.send('row-soon', 'REST', { delay_ms: 110_000 });
    await replica.send('row-late', 'REST', { delay_ms: 3_600_000 });
    const restarted = await startedReplica();
    restarted.id = replica.id;
    await restarted.registry.restoreOwned();
    await restarted.pass(70_000);
    expect([...restarted.registry.all()].map(({ id }) => id)).toEqual(['row-soon']);
  });

  test('a row that was read before a later event does not hide the timer of that event', async () => {
    const replica = await startedReplica();
    await replica.send('raced');
    replica.reads.hold();
    replica.registry.onAdopted();
    await replica.reads.answered();
    await replica.send('raced', 'REST', { delay_ms: 100_000 });
    replica.reads.release();
    await replica.registry.idle();
    await replica.pass(70_000);
    expect(replica.find('raced')).toBeDefined();
  });

  describe('if there are too many actors', () => {
    const clock = new VirtualClock();
    const live = { now: () => clock.now(), onChange: () => undefined, onError: () => undefined };
    const snapshot = walkerKind.machine.resolveState({ value: 'walking', context: { steps: 0 } });
    const actor = (id: string) =>
      new LiveActor(
        walkerKind.machine,
        { kind: 'walker', id, organization_id: null, seq: 1, snapshot, owner: null, timers: {} },
        live,
      );
    const idsOf = (residents: Residents) => [...residents.all()].map(({ id }) => id);

    test('the one that was idle longest goes; watched ones stay', () => {
      const residents = new Residents(clock, () => undefined, 3);
      for (const id of ['a', 'b', 'c']) residents.add(actor(id));
      residents.find('walker/a')?.watch(() => undefined);
      residents.add(actor('d'));
      expect(idsOf(residents)).toEqual(['c', 'a', 'd']);
      expect(residents.countsByKind().get('walker')).toBe(3);
    });

    test('only a few are looked at, and a surplus goes later', () => {
      const residents = new Residents(clock, () => undefined, 20);
      const watcher = () => undefined;
      for (let index = 0; index < 40; index += 1) {
        const next = actor(String(index));
        residents.add(next);
        next.watch(watcher);
      }
      expect(residents.size).toBe(40);
      for (const each of residents.all()) each.unwatch(watcher);
      residents.add(actor('one'));
      residents.add(actor('two'));
      expect(residents.size).toBe(20);
    });

    test('one sweep looks at 2,000 actors at most, and the next one goes on', () => {
      const residents = new Residents(clock, () => undefined);
      for (let index = 0; index < 2_500; index += 1) residents.add(actor(String(index)));
      residents.start();
      clock.advance(60_000);
      expect(residents.size).toBe(500);
      clock.advance(100);
      expect(residents.size).toBe(0);
      residents.stop();
    });
  });
});
