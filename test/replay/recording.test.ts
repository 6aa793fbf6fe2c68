/** A flight recording is read and replayed without any other data. */
import { describe, expect, test } from 'bun:test';
import { type AnyEventObject, initialTransition } from 'xstate';
import { hashSnapshot, sha256 } from '../../src/actors/durable/snapshot.ts';
import { MACHINES } from '../../src/replay/machines.ts';
import {
  parseRecording,
  type RecordedEvent,
  type Recording,
  RecordingError,
  replayRecording,
} from '../../src/replay/recording.ts';
import { pureSha256 } from '../../src/replay/sha256.ts';
import { statePath, takeEvent } from '../../src/replay/step.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';
import { BATCH_EVENTS, TASK_EVENTS, WEBHOOK_EVENTS } from '../machines/events.ts';
import { fc } from '../support/property.ts';

const EVENTS: Record<string, readonly AnyEventObject[]> = {
  task: TASK_EVENTS,
  batch: BATCH_EVENTS,
  webhook: WEBHOOK_EVENTS,
  quota: [
    { type: 'RESERVE', amount: 5 },
    { type: 'GRANTED', granted: 100, exact: false },
    { type: 'REFILL' },
    { type: 'REFUSED', gone: true },
    { type: 'LIMIT_CHANGED' },
    { type: 'EXPIRED' },
  ],
  channel: [
    { type: 'SUCCEEDED' },
    { type: 'FAILED', failure: 'server', now: 1_000 },
    { type: 'THROTTLED', until: 2_000 },
    { type: 'COOLED', now: 100_000 },
    { type: 'PROBED', probe: 1, verdict: 'succeeded' },
  ],
};

/** The log of a run of a machine, as a recording has it. */
function logOf(version: VersionedMachine, events: readonly AnyEventObject[]): RecordedEvent[] {
  let [snapshot] = initialTransition(version.machine);
  return events.map((event, index): RecordedEvent => {
    const [after] = takeEvent(version.machine, snapshot, event);
    const [from, to, taken] = [statePath(snapshot), statePath(after), after !== snapshot];
    snapshot = after;
    return {
      ...{ seq: index + 1, at: '2026-11-26T00:00:00.000Z', event, taken, from, to },
      ...{ machine_version: version.version, hash: hashSnapshot(after) },
      money: index === 0 ? { held_nano_usd: 7, settled_nano_usd: 0, released_nano_usd: 0 } : null,
      ...{ cause: null, request_id: null, task_id: null },
    };
  });
}

const recordingOf = (kind: string, events: readonly RecordedEvent[]): Recording => ({
  ...{ format: 'weir-recording', format_version: 1, made_at: '', viewer: 'operator' },
  request: null,
  actors: [{ kind, id: 'one', replica: null, state: '', base: null, events }],
});

const versions = Object.entries(MACHINES).flatMap(([kind, machine]) =>
  [machine, ...(machine.earlier ?? [])].map((each) => [kind, each.version, each] as const),
);

describe.each(versions)('a %s of version %d', (kind, _, version) => {
  test('replays to its hash at every event', () => {
    const events = fc.array(fc.constantFrom(...(EVENTS[kind] ?? [])), { maxLength: 30 });
    fc.assert(
      fc.property(events, (run) => {
        const log = logOf(version, run);
        const text = JSON.stringify(recordingOf(kind, log));
        const [actor] = replayRecording(parseRecording(text), sha256);
        expect(actor?.problem).toBeNull();
        expect(actor?.moments.map(({ state }) => state)).toEqual(log.map(({ to }) => to));
        expect(actor?.moments.at(-1)?.money.held ?? 7).toBe(7);
      }),
      { numRuns: 100 },
    );
  });
});

describe('a changed file', () => {
  const version = MACHINES['task'] as VersionedMachine;
  const log = logOf(version, TASK_EVENTS.slice(0, 6));

  test.each<[string, (event: RecordedEvent) => RecordedEvent]>([
    ['another state', (event) => ({ ...event, to: 'completed' })],
    ['another hash', (event) => ({ ...event, hash: '0'.repeat(32) })],
    ['another event', (event) => ({ ...event, event: { type: 'DEADLINE' } })],
    ['another version', (event) => ({ ...event, machine_version: 99 })],
    ['another number', (event) => ({ ...event, seq: 9 })],
  ])('names the event with %s, and shows what came before', (_, change) => {
    const changed = log.map((event) => (event.seq === 3 ? change(event) : event));
    const [actor] = replayRecording(recordingOf('task', changed));
    expect(actor?.problem).toContain('event 3');
    expect(actor?.moments.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test('with an unknown kind of actor is still read', () => {
    const [actor] = replayRecording(recordingOf('comet', log));
    expect(actor?.problem).toContain('comet');
  });

  test.each(['', '{', '[]', 'null', '{"format":"other"}', '{"format":"weir-recording"}'])(
    'that is no recording is refused: %p',
    (text) => {
      expect(() => parseRecording(text)).toThrow(RecordingError);
    },
  );

  test('of a later format is refused', () => {
    const text = JSON.stringify({ ...recordingOf('task', log), format_version: 2 });
    expect(() => parseRecording(text)).toThrow('format 2');
    const without = { ...recordingOf('task', log), actors: [{ kind: 'task' }] };
    expect(() => parseRecording(JSON.stringify(without))).toThrow(RecordingError);
  });
});

test('the hash of browsers is the hash of the server', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => {
      expect(pureSha256(text)).toBe(sha256(text));
    }),
  );
  for (let length = 50; length < 70; length += 1) {
    expect(pureSha256('a'.repeat(length))).toBe(sha256('a'.repeat(length)));
  }
});
