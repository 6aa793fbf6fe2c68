import { expect, test } from 'bun:test';
import type { Bus } from '../../src/actors/bus/bus.ts';
import { announceOver } from '../../src/start/announcements.ts';

/** A bus that records what is published. */
function recorder() {
  const published: unknown[] = [];
  let peers = 0;
  const bus = {
    get peerCount() {
      return peers;
    },
    publish: (topic: string, { events }: { events: unknown[] }) =>
      void published.push([topic, events]),
    publishGap: (topic: string) => void published.push([topic, 'gap']),
  } as unknown as Bus;
  const setPeers = (count: number) => {
    peers = count;
  };
  return { bus, published, setPeers };
}

const event = (seq: number) => ({ kind: 'task', id: 't', seq, owner: 'a' });

test('events are announced only to other replicas; a replica that joins gets a gap first', () => {
  const { bus, published, setPeers } = recorder();
  const announce = announceOver(bus, () => 'a');
  announce([event(1)]);
  expect(published).toEqual([]);
  setPeers(1);
  announce([event(2)]);
  announce([event(3)]);
  expect(published).toEqual([
    ['actors', 'gap'],
    ['actors', [['task', 't', 2, 'a']]],
    ['actors', [['task', 't', 3, 'a']]],
  ]);
});

test('many events are split over several messages', () => {
  const { bus, published, setPeers } = recorder();
  setPeers(1);
  announceOver(bus, () => 'a')(Array.from({ length: 130 }, (_, seq) => event(seq)));
  expect(published.map((each) => (each as unknown[][])[1]?.length)).toEqual([64, 64, 2]);
});
