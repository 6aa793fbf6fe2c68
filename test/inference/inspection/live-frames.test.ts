/** Watchers of two replicas, on a network and a clock that the test controls. */
import { describe, expect, test } from 'bun:test';
import { Bus } from '../../../src/actors/bus/bus.ts';
import { systemIdSource } from '../../../src/actors/clock.ts';
import { InspectionFeed } from '../../../src/actors/durable/inspection.ts';
import { LiveFrames } from '../../../src/inference/inspection/live-frames.ts';
import { Questions } from '../../../src/inference/inspection/questions.ts';
import { OPERATOR, organizationViewer } from '../../../src/inference/inspection/viewer.ts';
import { isFrame, type WatchedStream } from '../../../src/inference/inspection/watched-stream.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { MemoryNetwork } from '../../support/bus.ts';

const owner = (organization_id: string) => organizationViewer(organization_id, new Uint8Array(32));

class Replica {
  readonly feed = new InspectionFeed();
  readonly bus: Bus;
  readonly frames: LiveFrames;
  private count = 0;

  constructor(
    readonly id: string,
    network: MemoryNetwork,
    readonly clock: VirtualClock,
  ) {
    const deps = { clock, ids: systemIdSource, replica_id: () => id };
    const transport = network.transport();
    this.bus = new Bus({ ...deps, transport, onError: () => undefined });
    const bus = this.bus;
    const questions: Questions = new Questions({
      ...{ ...deps, bus },
      answer: (question) => this.frames.answer(question as never),
    });
    this.frames = new LiveFrames({ ...deps, bus, feed: this.feed, questions: () => questions });
  }

  /** An event of a task, as the registry publishes it: only while somebody watches. */
  happens(organization_id = 'org', id = 'task'): void {
    if (!this.feed.isWatched) return;
    this.count += 1;
    this.feed.publish({
      ...{ kind: 'task', id, organization_id, seq: this.count, value: 'pending' },
      event: { type: 'SUBMITTED', channel_id: 'secret-channel', prompt: 'a secret' },
      ...{ context: { polls: 1 }, status: 'active', taken: true },
    });
  }
}

async function start() {
  const network = new MemoryNetwork();
  const clock = new VirtualClock();
  const [a, b] = [new Replica('a', network, clock), new Replica('b', network, clock)];
  await Promise.all([a.bus.start(), b.bus.start()]);
  const settle = async (ms = 20) => {
    for (let step = 0; step < 4; step += 1) {
      clock.advance(ms / 4);
      await Bun.sleep(0);
    }
  };
  // Each hears the heartbeat of the other.
  await settle(1_000);
  /** A question waits for the answers of the bus. */
  const opened = async (opening: Promise<WatchedStream | undefined>) => {
    const [stream] = await Promise.all([opening, settle(100).then(() => settle(1_000))]);
    if (!stream) throw new Error('refused');
    return stream;
  };
  return { a, b, clock, settle, opened };
}

/** What waits for a watcher: replica and number of each frame, or the names of other news. */
async function read(
  stream: WatchedStream,
): Promise<{ news: string[]; since: Map<string, number> }> {
  const next = await stream.next(0);
  const news = (next?.news ?? []).map((each) =>
    isFrame(each) ? `${each.replica}${each.actor_seq}` : (Object.keys(each).at(-1) ?? ''),
  );
  return { news, since: new Map(next?.positions) };
}

test('a watcher is open when all replicas publish', async () => {
  const { a, b, clock, opened } = await start();
  const opening = a.frames.open(OPERATOR, {});
  expect(b.feed.isWatched).toBe(false);
  const stream = await opened(opening);
  b.happens();
  clock.advance(100);
  await Bun.sleep(0);
  expect((await read(stream)).news).toEqual(['b1']);
  // A new watcher, too, waits until the other replica has heard of it.
  stream.close();
  let isOpen = false;
  const later = a.frames.open(OPERATOR, {}).then(() => {
    isOpen = true;
  });
  await Bun.sleep(0);
  expect(isOpen).toBe(false);
  clock.advance(1_000);
  await later;
});

test('a watcher gets the events of all replicas, and only members on the list', async () => {
  const { a, b, settle, opened } = await start();
  const stream = await opened(a.frames.open(OPERATOR, {}));
  a.happens();
  b.happens();
  await settle();
  const next = await stream.next(0);
  const frames = (next?.news ?? []).filter(isFrame);
  expect(frames.map(({ replica, seq }) => [replica, seq])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  expect(frames[1]?.event).toEqual({ type: 'SUBMITTED', channel_id: 'secret-channel' });
});

describe('while nobody watches', () => {
  test('no replica makes a frame; and again none, some time after the last watcher left', async () => {
    const { a, b, settle, opened } = await start();
    expect([a.feed.isWatched, b.feed.isWatched]).toEqual([false, false]);
    const stream = await opened(a.frames.open(OPERATOR, {}));
    expect([a.feed.isWatched, b.feed.isWatched]).toEqual([true, true]);
    await settle(60_000);
    expect(a.feed.isWatched).toBe(true);
    stream.close();
    await settle(30_000);
    expect([a.feed.isWatched, b.feed.isWatched]).toEqual([false, false]);
    expect(a.frames.size).toBe(0);
  });
});

describe('a watcher that resumes', () => {
  test('gets each frame once, on the same and on the other replica', async () => {
    const { a, b, settle, opened } = await start();
    const first = await opened(a.frames.open(OPERATOR, {}));
    a.happens();
    b.happens();
    await settle();
    const { news, since } = await read(first);
    expect(news).toEqual(['a1', 'b1']);
    first.close();
    a.happens();
    b.happens();
    b.happens();
    await settle();
    for (const replica of [a, b]) {
      const later = await opened(replica.frames.open(OPERATOR, {}, since));
      expect((await read(later)).news.toSorted()).toEqual(['a2', 'b2', 'b3']);
      later.close();
    }
  });

  test('learns that frames are missing, if nobody watched meanwhile', async () => {
    const { a, b, settle, opened } = await start();
    const first = await opened(a.frames.open(OPERATOR, {}));
    a.happens();
    b.happens();
    await settle();
    const { since } = await read(first);
    first.close();
    await settle(30_000);
    a.happens();
    const later = await opened(b.frames.open(OPERATOR, {}, since));
    b.happens();
    a.happens();
    await settle();
    const { news } = await read(later);
    expect(news.filter((each) => each === 'gap')).toHaveLength(2);
    expect(news).toContain('b2');
  });

  test('learns that a process has ended', async () => {
    const { a, opened } = await start();
    const later = await opened(a.frames.open(OPERATOR, {}, new Map([['0123456789ab', 7]])));
    expect((await read(later)).news).toEqual(['gap']);
  });
});

describe('bounds', () => {
  test('a watcher that does not read is closed, and the others get everything', async () => {
    const { a, clock, opened } = await start();
    const slow = await opened(a.frames.open(OPERATOR, {}));
    const quick = await opened(a.frames.open(OPERATOR, {}));
    let got = 0;
    for (let second = 0; second < 5; second += 1) {
      for (let count = 0; count < 499; count += 1) a.happens();
      got += (await read(quick)).news.length;
      clock.advance(1_000);
    }
    expect(got).toBe(5 * 499);
    expect(await slow.next(0)).toBeNull();
    expect(a.frames.size).toBe(1);
  });

  test('frames that come too fast are counted', async () => {
    const { a, clock, opened } = await start();
    const stream = await opened(a.frames.open(OPERATOR, {}));
    for (let count = 0; count < 510; count += 1) a.happens();
    clock.advance(1_000);
    a.happens();
    const next = await stream.next(0);
    expect(next?.news).toHaveLength(502);
    expect(next?.news.at(-2)).toMatchObject({ skipped: 10 });
  });

  test('an organization cannot take the places of others or of operators', async () => {
    const { a, settle } = await start();
    const open = async (organization: string | null) => {
      const viewer = organization === null ? OPERATOR : owner(organization);
      const [stream] = await Promise.all([a.frames.open(viewer, {}), settle()]);
      return stream;
    };
    const streams = await Promise.all(Array.from({ length: 12 }, () => open('one')));
    expect(streams.filter(Boolean)).toHaveLength(10);
    expect(await open('two')).toBeDefined();
    for (let other = 0; other < 40; other += 1) {
      await Promise.all(Array.from({ length: 10 }, () => open(`other ${other}`)));
    }
    expect(await open('late')).toBeUndefined();
    expect(a.frames.size).toBe(200);
    expect(await open(null)).toBeDefined();
  });
});

test('an organization gets the events of its own actors only', async () => {
  const { a, opened } = await start();
  const stream = await opened(a.frames.open(owner('mine'), {}));
  a.happens('other');
  a.happens('mine');
  a.happens('other');
  const filtered = await opened(a.frames.open(owner('mine'), { id: 'none' }));
  a.happens('mine');
  expect((await read(stream)).news).toEqual(['a2', 'a4']);
  expect((await read(filtered)).news).toEqual([]);
});

test('all streams end when the process stops', async () => {
  const { a, opened } = await start();
  const stream = await opened(a.frames.open(OPERATOR, {}));
  a.frames.stop();
  expect(await stream.next(1_000)).toBeNull();
  expect(a.feed.isWatched).toBe(false);
});
