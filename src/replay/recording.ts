import type { AnyMachineSnapshot } from 'xstate';
import { MACHINES } from './machines.ts';
import { type ReplayedEvent, ReplayMismatch, replay, type Sha256 } from './replay.ts';
import { pureSha256 } from './sha256.ts';
import { statePath } from './step.ts';
import { restoreSnapshot } from './stored-snapshot.ts';
import type { Json } from './versioned.ts';

/** The name and the version of the format. A later version may add members. */
export const RECORDING_FORMAT = 'weir-recording';
export const RECORDING_VERSION = 1;

/** One event of a recorded actor. */
export interface RecordedEvent {
  readonly seq: number;
  /** RFC 3339. */
  readonly at: string;
  readonly event: { readonly type: string };
  readonly taken: boolean;
  readonly from: string;
  readonly to: string;
  readonly machine_version: number;
  /** The hash of state and context after the event, as they are in the file; null if not stored. */
  readonly hash: string | null;
  readonly money: null | {
    readonly held_nano_usd: number;
    readonly settled_nano_usd: number;
    readonly released_nano_usd: number;
  };
  readonly cause: string | null;
  readonly request_id: string | null;
  readonly task_id: string | null;
}

/** One actor with its events. */
export interface RecordedActor {
  readonly kind: string;
  readonly id: string;
  readonly replica: string | null;
  readonly state: string;
  /** State and context before the first event; null if it is the first of the actor's life. */
  readonly base: { readonly value: Json; readonly context: Record<string, unknown> } | null;
  readonly events: readonly RecordedEvent[];
}

/** A flight recording: what happened to one actor or in one request. It has no secret. */
export interface Recording {
  readonly format: typeof RECORDING_FORMAT;
  readonly format_version: number;
  readonly made_at: string;
  /** Who may see what is in the file. An organization's file has aliases of channels. */
  readonly viewer: 'operator' | 'organization';
  /** The record of the request; null if the file is of one actor. */
  readonly request: Record<string, unknown> | null;
  readonly actors: readonly RecordedActor[];
}

/** An actor after one event of a recording. */
interface RecordedMoment {
  readonly seq: number;
  readonly state: string;
  readonly snapshot: AnyMachineSnapshot;
  /** The sums of the money that moved up to this event, nano-USD. */
  readonly money: { readonly held: number; readonly settled: number; readonly released: number };
}

/** A replayed actor of a recording. */
export interface ReplayedActor {
  readonly kind: string;
  readonly id: string;
  /** The actor before its first event; undefined if its life begins with it. */
  readonly base: AnyMachineSnapshot | undefined;
  readonly moments: readonly RecordedMoment[];
  /** Why the replay stopped; null if each event led to its hash. */
  readonly problem: string | null;
}

/** Thrown for a text that is no recording which this version can read. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/** Reads the text of a file. Throws RecordingError. */
export function parseRecording(text: string): Recording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RecordingError('The file is no JSON.');
  }
  const recording = (value ?? {}) as Partial<Recording>;
  if (recording.format !== RECORDING_FORMAT || !Array.isArray(recording.actors)) {
    throw new RecordingError('The file is no recording of Weir.');
  }
  if (recording.format_version !== RECORDING_VERSION) {
    throw new RecordingError(
      `The recording has format ${recording.format_version}; this version reads ${RECORDING_VERSION}.`,
    );
  }
  for (const actor of recording.actors as Partial<RecordedActor>[]) {
    if (!Array.isArray(actor.events)) throw new RecordingError('An actor has no list of events.');
  }
  return recording as Recording;
}

/** Replays each actor of a recording, without any other data. A changed file has a problem. */
export function replayRecording(
  { actors }: Recording,
  sha256: Sha256 = pureSha256,
): ReplayedActor[] {
  return actors.map((actor) => replayActor(actor, sha256));
}

function replayActor(actor: RecordedActor, sha256: Sha256): ReplayedActor {
  const { kind, id } = actor;
  const machine = MACHINES[kind];
  if (!machine) {
    const problem = `This version has no machine of kind ${kind}.`;
    return { kind, id, base: undefined, moments: [], problem };
  }
  try {
    const [first] = actor.events;
    const machine_version = first?.machine_version ?? machine.version;
    const base =
      actor.base &&
      restoreSnapshot(machine, { snapshot: actor.base as unknown as Json, machine_version });
    const before = base
      ? { seq: (first?.seq ?? 1) - 1, machine_version, snapshot: base, context_hash: '' }
      : undefined;
    const { moments, problem } = momentsOf(actor, sha256, before);
    return { kind, id, base: base ?? undefined, moments, problem };
  } catch (error) {
    return { kind, id, base: undefined, moments: [], problem: String(error) };
  }
}

/** Replays event by event, so that what comes before a wrong event is still shown. */
function momentsOf(actor: RecordedActor, sha256: Sha256, before: ReplayedEvent | undefined) {
  const moments: RecordedMoment[] = [];
  const money = { held: 0, settled: 0, released: 0 };
  let last = before;
  for (const recorded of actor.events) {
    const { to, hash } = recorded;
    try {
      const logged = { ...recorded, to_state: to, context_hash: hash };
      [last] = replay(machineFor(actor.kind), [logged], sha256, last);
    } catch (error) {
      if (!(error instanceof ReplayMismatch)) throw error;
      return { moments, problem: error.message };
    }
    if (!last) break;
    money.held += recorded.money?.held_nano_usd ?? 0;
    money.settled += recorded.money?.settled_nano_usd ?? 0;
    money.released += recorded.money?.released_nano_usd ?? 0;
    const { seq, snapshot } = last;
    moments.push({ seq, state: statePath(snapshot), snapshot, money: { ...money } });
  }
  return { moments, problem: null };
}

function machineFor(kind: string) {
  const machine = MACHINES[kind];
  if (!machine) throw new Error(`no machine of kind ${kind}`);
  return machine;
}
