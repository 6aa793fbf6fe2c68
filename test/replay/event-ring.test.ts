/** The ring of an actor in memory: its bounds, and a replay from it. */
import { describe, expect, test } from 'bun:test';
import { hashSnapshot, sha256 } from '../../src/actors/durable/snapshot.ts';
import { QuotaMachine } from '../../src/actors/money/quota-machine.ts';
import type { QuotaEvent } from '../../src/machines/quota.ts';
import { EventRing } from '../../src/replay/event-ring.ts';
import { MACHINES } from '../../src/replay/machines.ts';
import { replay } from '../../src/replay/replay.ts';
import { statePath } from '../../src/replay/step.ts';
import { restoreSnapshot } from '../../src/replay/stored-snapshot.ts';
import type { Json, VersionedMachine } from '../../src/replay/versioned.ts';
import { fc } from '../support/property.ts';

const state = (value: unknown, count: number) => ({ value, context: { count } });

describe('a ring', () => {
  test('keeps the last events, and the state before the oldest of them', () => {
    let limit = 3;
    const ring = new EventRing(
      state('a', 0),
      () => 0,
      () => limit,
    );
    for (let count = 1; count <= 5; count += 1) ring.add({ type: 'E' }, state('a', count));
    expect(ring.events.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(ring.base).toEqual(state('a', 2));
    expect(ring.seq).toBe(5);
    limit = 1;
    ring.add({ type: 'E' }, state('a', 6));
    expect(ring.events.map(({ seq }) => seq)).toEqual([6]);
    expect(ring.base).toEqual(state('a', 5));
  });

  test('knows since when the actor is in the first part of its state', () => {
    let now = 10;
    const ring = new EventRing(state({ open: 'ample' }, 0), () => now);
    now = 20;
    ring.add({ type: 'E' }, state({ open: 'exact' }, 1));
    expect(ring.since_ms).toBe(10);
    now = 30;
    ring.add({ type: 'E' }, state('exhausted', 2), 'call', 'id');
    expect(ring.since_ms).toBe(30);
    expect(ring.events.at(-1)).toMatchObject({ at_ms: 30, cause: 'call', cause_id: 'id' });
  });

  test('replaces its last event under the same number', () => {
    const ring = new EventRing(state('a', 0), () => 0);
    ring.add({ type: 'E' }, state('a', 1));
    ring.replaceLast({ type: 'F' }, state('a', 2));
    expect(ring.events.map(({ seq, event, after }) => [seq, event.type, after])).toEqual([
      [1, 'F', state('a', 2)],
    ]);
  });
});

const amount = fc.nat(60);
const quotaEvent = fc.oneof(
  fc.record({ type: fc.constant('RESERVE' as const), amount }),
  fc.record({ type: fc.constant('EXTEND' as const), amount }),
  fc.record({ type: fc.constant('GRANTED' as const), granted: fc.nat(200), exact: fc.boolean() }),
  fc.record({ type: fc.constant('REFUSED' as const), gone: fc.boolean() }),
  fc.constantFrom(
    ...(['REFILL', 'RECALLED', 'REPLACED', 'LIMIT_CHANGED', 'EXPIRED'] as const).map((type) => ({
      type,
    })),
  ),
  fc.record({
    type: fc.constant('STATUS_CHANGED' as const),
    status: fc.constantFrom(...(['active', 'inactive', 'suspended'] as const)),
  }),
);

test('the ring of a quota replays to the same state, also with sums of calls', () => {
  const machine = MACHINES['quota'] as VersionedMachine;
  fc.assert(
    fc.property(fc.array(quotaEvent, { maxLength: 40 }), fc.array(fc.nat(9)), (events, calls) => {
      const quota = new QuotaMachine(
        undefined,
        () => 0,
        () => 8,
      );
      quota.send({ type: 'GRANTED', granted: 500, exact: false });
      for (const [index, event] of events.entries()) {
        for (let call = 0; call < (calls[index] ?? 0); call += 1) quota.reserve(1);
        if (index % 3 === 0) quota.sendCalls();
        quota.send(event as QuotaEvent);
      }
      const { ring } = quota;
      const [first] = ring.events;
      if (!first) return;
      const base = restoreSnapshot(machine, {
        ...{ snapshot: ring.base as unknown as Json, machine_version: 1 },
      });
      const logged = ring.events.map(({ seq, event, after }) => ({
        ...{ seq, event, taken: true, machine_version: 1 },
        to_state: statePath(after as never),
        context_hash: hashSnapshot(after as never),
      }));
      const before = { seq: first.seq - 1, machine_version: 1, snapshot: base, context_hash: '' };
      const last = replay(machine, logged, sha256, before).at(-1);
      expect(last?.snapshot.context).toEqual(quota.last.context);
    }),
    { numRuns: 500 },
  );
});
