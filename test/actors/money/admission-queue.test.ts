import { describe, expect, test } from 'bun:test';
import { AdmissionQueue, MAX_WAITING_CALLS } from '../../../src/actors/money/admission-queue.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';

function scene() {
  const clock = new VirtualClock();
  const room = new AdmissionQueue(clock, () => new WeirError('quota_in_flight', 'too late'));
  const enter = (amount: number, more: object = {}, event: 'RESERVE' | 'EXTEND' = 'RESERVE') =>
    room.push(event, { amount, minimum: () => amount, ...more }).catch((error: unknown) => error);
  return { clock, room, enter };
}

describe('calls that wait for money', () => {
  test('are admitted in the order of their arrival, streams in flight first', async () => {
    const { room, enter } = scene();
    const waiting = [enter(1), enter(2), enter(3, {}, 'EXTEND')];
    expect(room.all().map(({ amount }) => amount)).toEqual([3, 1, 2]);
    expect([room.size, room.totalAmount]).toEqual([3, 6]);
    for (const waiter of room.all()) waiter.admit(waiter.amount);
    expect(await Promise.all(waiting)).toEqual([1, 2, 3]);
    expect(room.size).toBe(0);
  });

  test('wait for ten seconds, or for the `wait_ms` of the call', async () => {
    const { clock, room, enter } = scene();
    const usual = enter(1);
    const short = enter(2, { wait_ms: 100 });
    clock.advance(100);
    expect(await short).toMatchObject({ id: 'quota_in_flight' });
    clock.advance(9_899);
    expect(room.size).toBe(1);
    clock.advance(1);
    expect(await usual).toMatchObject({ id: 'quota_in_flight' });
  });

  test('have neither a timer nor a place in the queue after they are admitted', async () => {
    const { clock, room, enter } = scene();
    const client = new AbortController();
    const waiting = enter(1, { signal: client.signal });
    room.first?.admit(1);
    expect(await waiting).toBe(1);
    expect([clock.pending, room.size]).toEqual([0, 0]);
  });

  test('are removed if their client leaves, also if the client left before the call waits', async () => {
    const { clock, room, enter } = scene();
    const client = new AbortController();
    const waiting = enter(1, { signal: client.signal });
    client.abort(new Error('left'));
    const late = enter(2, { signal: client.signal });
    expect([room.size, clock.pending]).toEqual([0, 0]);
    expect(await waiting).toBe(client.signal.reason);
    expect(await late).toBe(client.signal.reason);
  });

  test(`are at most ${MAX_WAITING_CALLS}; a further call is refused at once`, async () => {
    const { room, enter } = scene();
    const waiting = Array.from({ length: MAX_WAITING_CALLS }, () => enter(1));
    const refusal = { id: 'service_unavailable', details: { retry_after: 1 } };
    expect(await enter(1)).toMatchObject(refusal);
    const over = new Error('over');
    room.rejectAll(over);
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([over]));
  });
});
