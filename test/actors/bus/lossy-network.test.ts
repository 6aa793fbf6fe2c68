/**
 * Random losses, repetitions and changes of order between three replicas: each message is delivered
 * exactly once, or a gap follows it within a bound.
 */
import { expect, test } from 'bun:test';
import { Random } from '../../sim/random.ts';
import { BusWorld } from '../../support/bus.ts';

const FIRST_SEED = 20_261_122;
const RUNS = 60;
const MESSAGES = 60;
/** A missing number is noticed with the next heartbeat, and a gap may wait for 500 ms. */
const GAP_BOUND_MS = 1_100;

interface Published {
  readonly name: string;
  readonly sender: number;
  readonly at_ms: number;
}

async function play(seed: number): Promise<{ delivered: number; gaps: number }> {
  const random = new Random(seed);
  const world = new BusWorld();
  const members = [await world.join(), await world.join(), await world.join()];
  const gapTimes: number[][] = members.map((member, index) => {
    const times: number[] = [];
    const onGap = () => void times.push(world.clock.now());
    members[index]?.bus.subscribe('money', { onMessage: () => undefined, onGap });
    return member && times;
  });
  await world.pass(3_000);
  const late = new Map<string, string[]>();
  let isLossy = true;
  world.network.carry = (text, from, to) => {
    if (from === to || !isLossy) return [text];
    const line = `${members.findIndex((member) => member.transport === from)}/${members.findIndex(
      (member) => member.transport === to,
    )}`;
    const waiting = late.get(line) ?? [];
    late.delete(line);
    // Heartbeats arrive, as the connection of a sender lives.
    const isHeartbeat = text.includes('"messages":[]');
    if (isHeartbeat) return [text, ...waiting];
    if (random.chance(0.15)) return waiting;
    if (random.chance(0.15)) return [text, text, ...waiting];
    if (random.chance(0.2)) {
      late.set(line, [...waiting, text]);
      return [];
    }
    return random.shuffle([text, ...waiting]);
  };
  const published: Published[] = [];
  for (let number = 0; number < MESSAGES; number += 1) {
    const sender = random.below(members.length);
    const name = `${seed} ${number}`;
    published.push({ name, sender, at_ms: world.clock.now() });
    members[sender]?.send(name);
    if (random.chance(0.7)) await world.pass(random.below(300));
  }
  isLossy = false;
  await world.pass(2_000);
  let delivered = 0;
  members.forEach((member, receiver) => {
    for (const { name, sender, at_ms } of published) {
      const times = member.received.filter((each) => each === name).length;
      if (sender === receiver || times === 1) {
        expect(times).toBe(1);
        delivered += 1;
        continue;
      }
      const isKnown = gapTimes[receiver]?.some(
        (gap) => gap >= at_ms && gap <= at_ms + GAP_BOUND_MS,
      );
      if (times !== 0 || !isKnown) {
        throw new Error(`seed ${seed}: ${name} came ${times} times to ${receiver}, without a gap`);
      }
    }
    for (const sender of members.keys()) {
      const names = new Set(published.filter((each) => each.sender === sender).map((p) => p.name));
      const received = member.received.filter((name) => names.has(name));
      expect(received).toEqual([...names].filter((name) => received.includes(name)));
    }
  });
  return { delivered, gaps: gapTimes.flat().length };
}

test(`${RUNS} seeds: every message arrives once and in order, or a gap follows`, async () => {
  let [delivered, gaps] = [0, 0];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed += 1) {
    const run = await play(seed);
    delivered += run.delivered;
    gaps += run.gaps;
  }
  expect(delivered).toBeGreaterThan(RUNS * MESSAGES * 2);
  expect(gaps).toBeGreaterThan(RUNS);
  console.log(`${delivered} messages delivered, ${gaps} gaps`);
}, 60_000);
