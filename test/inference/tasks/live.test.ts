import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { adoptActors } from '../../../db/actors/store.ts';
import type { ActorChange } from '../../../src/actors/durable/live-actor.ts';
import { PRODUCED, ScriptedProvider } from '../../support/scripted-provider.ts';
import { IMAGE, startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';
import { until } from '../../support/until.ts';

type TaskReplica = Awaited<ReturnType<TaskWorld['replica']>>;

describe('the live actors of tasks', () => {
  let world: TaskWorld;

  beforeAll(async () => {
    world = await startTaskWorld();
  });

  afterAll(async () => {
    expect(await world.imbalances()).toEqual([]);
    await world.stop();
  });

  /** Watches a task, and returns the changes that come and the number of the event before them. */
  async function watch({ registry }: TaskReplica, id: string) {
    const changes: ActorChange[] = [];
    const begun = await registry.watch({ kind: 'task', id }, (change) => void changes.push(change));
    return { changes, from: begun?.seq ?? 0 };
  }

  const isOver = (changes: readonly ActorChange[]) => changes.at(-1)?.snapshot.status === 'done';

  /** The numbers of all events after `from`. */
  async function eventsAfter(id: string, from: number): Promise<number[]> {
    const rows = await world.database.sql`
      select seq from actor_event where actor_id = ${id} and seq > ${from} order by seq`;
    return rows.map((row) => row['seq']);
  }

  const residents = ({ registry }: TaskReplica) => registry.countsByKind().get('task') ?? 0;

  test('a task that another replica adopts is watched there to its end, each event once', async () => {
    const provider = new ScriptedProvider();
    let isReady = false;
    provider.script.progress = () =>
      isReady ? PRODUCED : { type: 'running', status: 'processing' };
    const options = { protocols: [provider.protocol('job')] };
    const owner = await world.replica(options);
    const heir = await world.replica(options);
    const key = await world.newKey(100);
    const { id } = await owner.create(key);
    const there = await watch(owner, id);
    const here = await watch(heir, id);
    await until('both watchers see the job run', () =>
      [there, here].every(({ changes }) => changes.length > 0),
    );
    expect(heir.registry.find({ kind: 'task', id })?.owner).toBe(owner.replica.id);
    await owner.crash();
    isReady = true;
    await adoptActors(world.database.sql, heir.replica.id, 100);
    heir.registry.onAdopted();
    await heir.ended(id, key.organization_id);
    await until('the watcher sees the end', () => isOver(here.changes));
    const seqs = here.changes.map(({ seq }) => seq);
    expect(seqs).toEqual(await eventsAfter(id, here.from));
    const before = there.changes.map(({ seq }) => seq);
    expect(before).toEqual((await eventsAfter(id, there.from)).slice(0, before.length));
    expect(residents(heir)).toBe(0);
    await heir.close();
  });

  test('a call that waits on one replica for the task of another one ends', async () => {
    const provider = new ScriptedProvider();
    const release = Promise.withResolvers<void>();
    provider.script.beforeAccept = () => release.promise;
    const options = { protocols: [provider.protocol('inline')] };
    const owner = await world.replica(options);
    const other = await world.replica(options);
    const key = await world.newKey(100);
    const ask = { name: IMAGE, wait: true, idempotency_key: 'the same' };
    const first = owner.create(key, ask);
    await until('the task runs', () => residents(owner) === 1);
    const second = other.create(key, ask);
    await until('the other call waits', () => residents(other) === 1);
    release.resolve();
    const [one, two] = await Promise.all([first, second]);
    expect(two).toEqual(one);
    expect(one.status).toBe('completed');
    expect(provider.accepted).toHaveLength(1);
    expect([residents(owner), residents(other)]).toEqual([0, 0]);
    await owner.close();
    await other.close();
  });

  test('200 tasks at once leave no live actor behind', async () => {
    const provider = new ScriptedProvider();
    const options = { protocols: [provider.protocol('inline')] };
    const owner = await world.replica(options);
    const other = await world.replica(options);
    const key = await world.newKey(1_000);
    const waiting = Array.from({ length: 200 }, (_, index) =>
      (index % 2 === 0 ? owner : other).create(key, { name: IMAGE, wait: true }),
    );
    const views = await Promise.all(waiting);
    expect(new Set(views.map(({ status }) => status))).toEqual(new Set(['completed']));
    await until('no task is in memory', () => residents(owner) + residents(other) === 0);
    expect([...owner.registry.all(), ...other.registry.all()]).toEqual([]);
    expect([...owner.errors, ...other.errors]).toEqual([]);
    await owner.close();
    await other.close();
  }, 60_000);
});
