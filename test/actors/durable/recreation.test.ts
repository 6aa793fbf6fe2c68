import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { RESTORED } from '../../../src/actors/durable/registry.ts';
import { type LiveWorld, startLiveWorld } from '../../support/live-world.ts';
import { brittleWalkerKind } from '../../support/walker.ts';

describe('a live actor is created again from its row', () => {
  let world: LiveWorld;

  beforeAll(async () => {
    world = await startLiveWorld();
  });

  afterAll(() => world.close());

  /**
   * An owner, and a second replica whose machine throws while `state.isBroken`. `send` commits an
   * event on the owner and announces it to the second replica.
   */
  async function brittleObserver() {
    const state = { isBroken: false, onThrow: () => {} };
    const owner = await world.replica();
    const replica = await world.replica({
      kind: brittleWalkerKind(() => {
        if (state.isBroken) state.onThrow();
        return state.isBroken;
      }),
    });
    const send = async (id: string, type = 'STEP') => {
      await owner.send(id, type);
      replica.announce(id, (await world.row(id)).seq, owner.id);
    };
    return { owner, replica, state, send };
  }

  test('if its machine throws; the watchers stay and are told', async () => {
    const { owner, replica, state, send } = await brittleObserver();
    await owner.send('thrown');
    const watch = await replica.watch('thrown');
    state.isBroken = true;
    await send('thrown');
    const second = await replica.watch('thrown');
    // Until its row is read, the actor is as it was before the event.
    expect([second.seq, second.snapshot.status]).toEqual([1, 'active']);
    await replica.registry.idle();
    state.isBroken = false;
    await send('thrown');
    await send('thrown', 'ARRIVE');
    await replica.registry.idle();
    expect(watch.seqs()).toEqual([2, 3, 4]);
    expect(second.seqs()).toEqual([2, 3, 4]);
    expect(watch.changes[0]?.event.type).toBe(RESTORED);
    expect(watch.changes[0]?.snapshot.context).toEqual({ steps: 2 });
    expect(replica.size).toBe(0);
  });

  test('if its machine throws while the database is away: later', async () => {
    const { owner, replica, state, send } = await brittleObserver();
    await owner.send('thrown-away');
    const watch = await replica.watch('thrown-away');
    // The events were read before the machine threw, and the row cannot be read after it.
    state.onThrow = () => {
      replica.reads.isAway = true;
    };
    state.isBroken = true;
    await send('thrown-away');
    await replica.registry.idle();
    expect(replica.reads.isAway).toBe(true);
    state.isBroken = false;
    await send('thrown-away');
    await replica.registry.idle();
    expect(watch.seqs()).toEqual([]);
    replica.reads.isAway = false;
    await replica.pass(500);
    expect(watch.seqs()).toEqual([3]);
    expect(replica.find('thrown-away')?.snapshot.context).toEqual({ steps: 3 });
  });

  test('if it ended meanwhile; then it leaves the memory', async () => {
    const { owner, replica, state, send } = await brittleObserver();
    await owner.send('thrown-end');
    const watch = await replica.watch('thrown-end');
    state.onThrow = () => replica.reads.hold();
    state.isBroken = true;
    await send('thrown-end');
    await replica.reads.answered();
    await owner.send('thrown-end', 'ARRIVE');
    replica.announce('thrown-end', 3, owner.id);
    replica.reads.release();
    await replica.registry.idle();
    expect(watch.changes.at(-1)).toMatchObject({ seq: 3, snapshot: { status: 'done' } });
    expect(replica.size).toBe(0);
  });

  test('if an event is missing in the log, or is of another version of the machine', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    for (const id of ['gap', 'version']) await owner.send(id);
    const gap = await other.watch('gap');
    const version = await other.watch('version');
    for (const id of ['gap', 'version']) {
      for (let seq = 2; seq <= 4; seq += 1) await owner.send(id);
    }
    await world.sql`delete from actor_event where actor_id = 'gap' and seq = 3`;
    await world.sql`
      update actor_event set machine_version = 0 where actor_id = 'version' and seq = 3`;
    other.registry.onGap();
    await other.registry.idle();
    for (const watch of [gap, version]) {
      expect(watch.changes.map(({ seq, event }) => [seq, event.type])).toEqual([
        [2, 'STEP'],
        [4, RESTORED],
      ]);
      expect(watch.changes[1]?.snapshot.context).toEqual({ steps: 4 });
    }
  });

  test('if its log has more unusable events than one query reads', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('a-long-log');
    await owner.send('b-short-log');
    const long = await other.watch('a-long-log');
    const short = await other.watch('b-short-log');
    await owner.send('a-long-log');
    await owner.send('b-short-log');
    await world.sql`
      insert into actor_event (kind, actor_id, seq, command_id, event, from_state, to_state, taken, machine_version)
      select 'walker', 'a-long-log', seq, gen_random_uuid(), '{"type": "STEP"}', 'walking', 'walking',
        true, 0 from generate_series(3, 6000) as seq`;
    await world.sql`update actor_event set machine_version = 0 where actor_id = 'a-long-log'`;
    await world.sql`update actor set seq = 6000 where id = 'a-long-log'`;
    other.registry.onGap();
    await other.registry.idle();
    expect([long.seqs(), short.seqs()]).toEqual([[6_000], [2]]);
  });

  test('and not if the announced event does not exist, or came meanwhile', async () => {
    const replica = await world.replica();
    await replica.send('invented');
    const watch = await replica.watch('invented');
    replica.announce('invented', 7, replica.id);
    await replica.registry.idle();
    expect(replica.find('invented')?.isBehind).toBe(false);
    // The comparison sees an event before this replica hears of its own commit.
    replica.isNotified = false;
    await replica.send('invented');
    const { last } = replica;
    replica.reads.hold();
    replica.announce('invented', 2, replica.id);
    await replica.reads.answered();
    replica.registry.onCommitted(last?.events ?? []);
    replica.reads.release();
    await replica.registry.idle();
    expect(watch.changes.map(({ seq, event }) => [seq, event.type])).toEqual([[2, 'STEP']]);
  });

  test('and not if a later event is announced while its events are read', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('two-steps');
    const watch = await other.watch('two-steps');
    await owner.send('two-steps');
    other.reads.hold();
    other.announce('two-steps', 2, owner.id);
    await other.reads.answered();
    await owner.send('two-steps');
    other.announce('two-steps', 3, owner.id);
    other.reads.release();
    await other.registry.idle();
    expect(watch.changes.map(({ seq, event }) => [seq, event.type])).toEqual([
      [2, 'STEP'],
      [3, 'STEP'],
    ]);
  });

  test('not if its row cannot be restored; the others go on', async () => {
    const { owner, replica, state } = await brittleObserver();
    for (const id of ['bad-row', 'good-row']) await owner.send(id);
    const bad = await replica.watch('bad-row');
    const good = await replica.watch('good-row');
    replica.registry.start();
    for (const id of ['bad-row', 'good-row']) await owner.send(id);
    await world.sql`update actor set snapshot = '{"value": "nowhere", "context": {}}'
      where id = 'bad-row'`;
    state.isBroken = true;
    for (const id of ['bad-row', 'good-row']) replica.announce(id, 2, owner.id);
    await replica.registry.idle();
    state.isBroken = false;
    expect([bad.seqs(), good.seqs()]).toEqual([[], [2]]);
    await world.sql`update actor set snapshot = '{"value": "walking", "context": {"steps": 2}}'
      where id = 'bad-row'`;
    await replica.pass(1_000);
    await replica.pass(1_000);
    expect(bad.seqs()).toEqual([2]);
  });
});
