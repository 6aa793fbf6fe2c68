import { type AnyMachineSnapshot, initialTransition } from 'xstate';
import { MACHINES } from '../../../../src/replay/machines.ts';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedActor,
  type RecordedEvent,
  replayRecording,
} from '../../../../src/replay/recording.ts';
import { statePath } from '../../../../src/replay/step.ts';
import { type TakenTransition, takenTransition } from '../../../../src/replay/taken.ts';

/** The money that moved up to a moment, nano-USD. */
interface MovedMoney {
  readonly held: number;
  readonly settled: number;
  readonly released: number;
}

/** An actor after one of its events. */
export interface Moment {
  /** The number of the event. The first moment is before the first event that is kept. */
  readonly seq: number;
  /** Null for the first moment. */
  readonly event: RecordedEvent | null;
  readonly state: string;
  /** Null if the replay stopped before this event. */
  readonly context: Readonly<Record<string, unknown>> | null;
  /** The transition that led here. Undefined if none took the event. */
  readonly taken: TakenTransition | undefined;
  readonly money: MovedMoney;
}

/** The past of an actor, replayed in the browser. */
export interface ActorHistory {
  readonly kind: string;
  readonly id: string;
  /** The first one is before all events. There is always one. */
  readonly moments: readonly [Moment, ...Moment[]];
  /** True if the actor began with its first moment. Otherwise earlier events are no longer kept. */
  readonly isWhole: boolean;
  /** Why the replay stopped; null if each event led to its hash. */
  readonly problem: string | null;
}

const NO_MONEY: MovedMoney = { held: 0, settled: 0, released: 0 };

/** Replays a recorded actor with the machines that the server uses. Reads nothing. */
export function historyOf(actor: RecordedActor): ActorHistory {
  const [replayed] = replayRecording({
    ...{ format: RECORDING_FORMAT, format_version: RECORDING_VERSION, made_at: '' },
    ...{ viewer: 'organization', request: null, actors: [actor] },
  });
  const kind = MACHINES[actor.kind];
  const [first_event] = actor.events;
  const first = actor.base ? replayed?.base : firstSnapshot(actor.kind, first_event);
  let before: AnyMachineSnapshot | undefined = first;
  let money = NO_MONEY;
  const later = actor.events.map((event, index): Moment => {
    const moment = replayed?.moments[index];
    const taken =
      kind && before
        ? takenTransition(kind, event.machine_version, before, event.event)
        : undefined;
    before = moment?.snapshot;
    money = moneyAfter(money, event);
    const context = moment ? contextOf(moment.snapshot) : null;
    return { seq: event.seq, event, state: event.to, context, taken, money };
  });
  const beginning: Moment = {
    ...{ seq: (first_event?.seq ?? 1) - 1, event: null, taken: undefined, money: NO_MONEY },
    state: first ? statePath(first) : (first_event?.from ?? actor.state),
    context: first ? contextOf(first) : null,
  };
  return {
    ...{ kind: actor.kind, id: actor.id, moments: [beginning, ...later] },
    ...{ isWhole: beginning.seq === 0, problem: replayed?.problem ?? null },
  };
}

/** The snapshot with which the machine of the first event begins. */
function firstSnapshot(
  kind_name: string,
  first: RecordedEvent | undefined,
): AnyMachineSnapshot | undefined {
  const kind = MACHINES[kind_name];
  const { machine } =
    kind?.earlier?.find(({ version }) => version === first?.machine_version) ?? kind ?? {};
  return machine && initialTransition(machine)[0];
}

const contextOf = ({ context }: AnyMachineSnapshot) => context as Record<string, unknown>;

function moneyAfter({ held, settled, released }: MovedMoney, { money }: RecordedEvent): MovedMoney {
  return {
    held: held + (money?.held_nano_usd ?? 0),
    settled: settled + (money?.settled_nano_usd ?? 0),
    released: released + (money?.released_nano_usd ?? 0),
  };
}

/** Returns the index of the moment after event `at`; the last moment if `at` is undefined or not kept. */
export function indexOf({ moments }: ActorHistory, at: number | undefined): number {
  const found = at === undefined ? -1 : moments.findIndex(({ seq }) => seq === at);
  return found < 0 ? moments.length - 1 : found;
}

/** True if a state is `path`, or inside of it. */
export function isIn(state: string, path: string): boolean {
  return state === path || state.startsWith(`${path}.`);
}

/** How a state was entered. */
export type Entry =
  /** The event of this moment led into it. */
  | { readonly entered: number }
  /** It was in it before the first event that is kept. */
  | 'before'
  | 'never';

/** Returns how an actor last came into a state, up to a moment. */
export function entryOf({ moments }: ActorHistory, path: string, index: number): Entry {
  for (let at = index; at >= 0; at -= 1) {
    const state = moments[at]?.state ?? '';
    const before = moments[at - 1]?.state;
    if (!isIn(state, path) || (before !== undefined && isIn(before, path))) continue;
    return before === undefined ? 'before' : { entered: at };
  }
  return 'never';
}

/** The states that an actor was in up to a moment, the latest first. */
export function statesUntil({ moments }: ActorHistory, index: number): string[] {
  const states = moments.slice(0, index + 1).map(({ state }) => state);
  return [...new Set(states.toReversed())];
}

/** A member of the context that an event changed. */
export interface Change {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns what a moment's event changed in the context; undefined if one of both sides is unknown. */
export function changesAt({ moments }: ActorHistory, index: number): Change[] | undefined {
  const [before, after] = [moments[index - 1]?.context, moments[index]?.context];
  if (!before || !after) return undefined;
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return members
    .filter((member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]))
    .map((member) => ({ member, before: before[member], after: after[member] }));
}
