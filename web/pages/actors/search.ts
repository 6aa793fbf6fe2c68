/** Which actors the list shows. Its address has it. */
export interface ActorsSearch {
  readonly kind?: string | undefined;
  /** The state as a path, or its first parts. */
  readonly state?: string | undefined;
  readonly show?: 'living' | 'stuck' | 'ended' | undefined;
  readonly id?: string | undefined;
  /** For operators: only the actors of the organization that they are in. */
  readonly own?: true | undefined;
}

/** What the page of one actor shows. */
export interface ActorSearch {
  /** The number of the event after which the actor is shown; undefined: as it is now. */
  readonly at?: number | undefined;
  /** The state that "Why?" explains; undefined: the one that the actor is in. */
  readonly state?: string | undefined;
  readonly replica?: string | undefined;
}

/** Which two actors are compared. */
export interface CompareSearch {
  readonly kind?: string | undefined;
  readonly one?: string | undefined;
  readonly other?: string | undefined;
}

const SHOWS = ['living', 'stuck', 'ended'] as const;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : // The router reads a text of digits as a number.
      typeof value === 'number'
      ? String(value)
      : undefined;

/** Reads the search of the list. What it does not know is left out. */
export function readActorsSearch(given: Record<string, unknown>): ActorsSearch {
  return {
    kind: textOf(given['kind']),
    state: textOf(given['state']),
    show: SHOWS.find((each) => each === given['show']),
    id: textOf(given['id']),
    own: given['own'] === true ? true : undefined,
  };
}

/** Reads the search of one actor. What it does not know is left out. */
export function readActorSearch(given: Record<string, unknown>): ActorSearch {
  const at = Number(given['at']);
  return {
    at: given['at'] !== undefined && Number.isSafeInteger(at) && at >= 0 ? at : undefined,
    state: textOf(given['state']),
    replica: textOf(given['replica']),
  };
}

/** Reads which actors are compared. What it does not know is left out. */
export function readCompareSearch(given: Record<string, unknown>): CompareSearch {
  const { kind, one, other } = given;
  return { kind: textOf(kind), one: textOf(one), other: textOf(other) };
}

/** Which moment of all calls is shown. */
export interface FleetSearch {
  /** RFC 3339; undefined: now. */
  readonly at?: string | undefined;
  /** The request id of the chosen call. */
  readonly call?: string | undefined;
}

/** Reads the search of the river. What it does not know is left out. */
export function readFleetSearch({ at, call }: Record<string, unknown>): FleetSearch {
  const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
  return {
    at: Number.isNaN(instant) ? undefined : new Date(instant).toISOString(),
    call: textOf(call),
  };
}
