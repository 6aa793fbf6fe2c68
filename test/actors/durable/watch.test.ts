import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Watch } from '../../../src/actors/durable/registry.ts';
import { type LiveWorld, startLiveWorld } from '../../support/live-world.ts';

describe('a watch', () => {
  let world: LiveWorld;

  beforeAll(async () => {
    world = await startLiveWorld();
  });

  afterAll(() => world.close());

  const walker = (id: string) => ({ kind: 'walker', id });

  test('of an unknown actor gives nothing, and of an ended one its end', async () => {
    const replica = await world.replica();
    expect(await replica.registry.watch(walker('nobody'), () => undefined)).toBeUndefined();
    await replica.send('ended');
    await replica.send('ended', 'ARRIVE');
    const watch = await replica.watch('ended');
    expect([watch.seq, watch.snapshot.status, replica.size]).toEqual([2, 'done', 0]);
    watch.stop();
    await replica.send('ended');
    expect(watch.changes).toEqual([]);
  });

  test('finds an actor that is created while the first watch reads', async () => {
    const replica = await world.replica();
    const other = await world.replica();
    other.reads.hold();
    const early = other.registry.watch(walker('just-made'), () => undefined);
    await other.reads.answered();
    await replica.send('just-made');
    const late = other.registry.watch(walker('just-made'), () => undefined);
    other.reads.release();
    expect(await early).toBeUndefined();
    expect((await late)?.seq).toBe(1);
  });

  test('of an actor that ends while its row is read sees the end', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('ends-meanwhile');
    other.reads.hold();
    const watching = other.watch('ends-meanwhile');
    await other.reads.answered();
    await owner.send('ends-meanwhile', 'ARRIVE');
    other.announce('ends-meanwhile', 2, owner.id);
    other.reads.release();
    const watch = await watching;
    await other.registry.idle();
    expect([watch.seq, watch.snapshot.status, watch.seqs()]).toEqual([2, 'done', []]);
    expect(other.size).toBe(0);
  });

  test('fails while the database is away, and works later', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    await owner.send('unreadable');
    other.reads.isAway = true;
    expect(other.watch('unreadable')).rejects.toThrow('away');
    await other.registry.idle();
    other.reads.isAway = false;
    expect((await other.watch('unreadable')).seq).toBe(1);
  });

  test('does not disturb other watches, even if it throws or uses the same function', async () => {
    const replica = await world.replica();
    await replica.send('shared');
    const bad = await replica.watch('shared', () => {
      throw new Error('a watcher threw');
    });
    const good = await replica.watch('shared');
    let times = 0;
    const count = () => {
      times += 1;
    };
    const one = (await replica.registry.watch(walker('shared'), count)) as Watch;
    await replica.registry.watch(walker('shared'), count);
    await replica.send('shared');
    expect([bad.seqs(), good.seqs(), times]).toEqual([[2], [2], 2]);
    expect(String(replica.errors)).toBe('Error: a watcher threw');
    // A second stop, or one after the end, does nothing.
    one.stop();
    one.stop();
    bad.stop();
    await replica.send('shared');
    expect([bad.seqs(), good.seqs(), times]).toEqual([[2], [2, 3], 3]);
    await replica.send('shared', 'ARRIVE');
    good.stop();
    one.stop();
    expect([good.seqs(), times, replica.size]).toEqual([[2, 3, 4], 4, 0]);
  });

  test('that is stopped twice does not keep another watch from its comparison', async () => {
    const owner = await world.replica();
    const other = await world.replica();
    other.registry.start();
    await owner.send('compared');
    const stopped = await other.watch('compared');
    const watch = await other.watch('compared');
    stopped.stop();
    stopped.stop();
    await owner.send('compared');
    await other.pass(1_000);
    await other.pass(1_000);
    expect(watch.seqs()).toEqual([2]);
  });

  test('that begins or ends in a watcher gets no event that its snapshot contains', async () => {
    const replica = await world.replica();
    await replica.send('nested');
    const seen: number[] = [];
    const begun: Promise<Watch | undefined>[] = [];
    let other: Watch | undefined;
    const first = await replica.watch('nested', () => {
      other?.stop();
      if (begun.length > 0) return;
      begun.push(replica.registry.watch(walker('nested'), ({ seq }) => void seen.push(seq)));
    });
    const second = await replica.watch('nested');
    other = second;
    await replica.send('nested');
    await replica.send('nested');
    expect((await begun[0])?.seq).toBe(2);
    expect([first.seqs(), second.seqs(), seen]).toEqual([[2, 3], [], [3]]);
  });
});
