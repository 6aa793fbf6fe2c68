import { type AnyEventObject, type AnyMachineSnapshot, initialTransition } from 'xstate';
import { HASH_DIGITS, hashedText, statePath, takeEvent } from './step.ts';
import { restoreSnapshot, storedSnapshot } from './stored-snapshot.ts';
import type { VersionedMachine } from './versioned.ts';

/** What `replay` needs of an event; see the table `actor_event`. */
export interface EventToReplay {
  readonly seq: number;
  readonly event: unknown;
  /** False if no transition took the event. */
  readonly taken: boolean;
  /** The state after the event as a path. */
  readonly to_state: string;
  readonly machine_version: number;
  /** The hash of state and context after the event; null if it was not stored. */
  readonly context_hash: string | null;
}

/** Returns the SHA-256 of a text as hex digits. */
export type Sha256 = (text: string) => string;

/** The actor after one event of its log. */
export interface ReplayedEvent {
  seq: number;
  /** The version of the machine that took the event. */
  machine_version: number;
  snapshot: AnyMachineSnapshot;
  context_hash: string;
}

/** Thrown if the event log and the machine disagree. `seq` is the number of the first such event. */
export class ReplayMismatch extends Error {
  override readonly name = 'ReplayMismatch';

  constructor(
    readonly seq: number,
    reason: string,
  ) {
    super(`event ${seq}: ${reason}`);
  }
}

/**
 * Applies an event log to the machine's initial state. Returns the snapshot and its hash after each
 * event. Has no side effects and reads no rows.
 *
 * - Each event is applied by the machine of its own version. Where the version rises, `migrate`
 *   converts the snapshot, as it did when the event was committed.
 * - A long log may be replayed in pages. Then `after` is the last result of the previous page.
 *
 * @throws ReplayMismatch at the first event that is missing, that leads to another state or hash
 *   than the stored one, or whose machine version does not exist any more. If an event has no
 *   stored hash, only its state is compared.
 */
export function replay(
  kind: VersionedMachine,
  events: readonly EventToReplay[],
  sha256: Sha256,
  after?: ReplayedEvent,
): ReplayedEvent[] {
  const replayed: ReplayedEvent[] = [];
  let last = after;
  for (const logged of events) {
    last = replayOne(kind, logged, sha256, last);
    replayed.push(last);
  }
  return replayed;
}

function replayOne(
  kind: VersionedMachine,
  logged: EventToReplay,
  sha256: Sha256,
  last: ReplayedEvent | undefined,
): ReplayedEvent {
  const { seq, machine_version } = logged;
  const expected = (last?.seq ?? 0) + 1;
  if (seq !== expected) throw new ReplayMismatch(expected, 'it is missing in the log');
  const version = versionOf(kind, logged);
  const before = last ? asVersion(version, last) : initialTransition(version.machine)[0];
  const event = logged.event as unknown as AnyEventObject;
  const [snapshot] = takeEvent(version.machine, before, event);
  if ((snapshot !== before) !== logged.taken) {
    throw new ReplayMismatch(
      seq,
      logged.taken
        ? 'the log says that the machine took it, but no transition takes it'
        : 'the log says that the machine did not take it, but a transition takes it',
    );
  }
  const state = statePath(snapshot);
  if (state !== logged.to_state) {
    throw new ReplayMismatch(seq, `it leads to ${state}, but the log says ${logged.to_state}`);
  }
  const context_hash = sha256(hashedText(snapshot)).slice(0, HASH_DIGITS);
  if (logged.context_hash !== null && logged.context_hash !== context_hash) {
    throw new ReplayMismatch(
      seq,
      `the hash is ${context_hash}, but the log says ${logged.context_hash}`,
    );
  }
  return { seq, machine_version, snapshot, context_hash };
}

/** Returns the machine of the event's version. */
function versionOf(
  kind: VersionedMachine,
  { seq, machine_version }: EventToReplay,
): VersionedMachine {
  if (machine_version === kind.version) return kind;
  const earlier = kind.earlier?.find(({ version }) => version === machine_version);
  if (!earlier) throw new ReplayMismatch(seq, `no machine of version ${machine_version} exists`);
  return earlier;
}

/** Returns the snapshot in the version of the next event. */
function asVersion(next: VersionedMachine, last: ReplayedEvent): AnyMachineSnapshot {
  if (last.machine_version === next.version) return last.snapshot;
  // A migration expects plain JSON, because a stored snapshot is plain JSON.
  const snapshot = JSON.parse(JSON.stringify(storedSnapshot(last.snapshot)));
  return restoreSnapshot(next, { snapshot, machine_version: last.machine_version });
}
