/** The limits of a key, and what a call takes of them. */
import type { WhenReached } from '../../../db/when-reached.ts';

/** What an organization chose for a key: for one model, or for all together. */
export interface KeyLimit {
  /** The public id of the model; null = all models together. */
  readonly model: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  /** The most calls at the same time. */
  readonly concurrent_calls: number | null;
  /** What happens to a call that exceeds it; default: it is refused. */
  readonly when_reached?: WhenReached;
}

/** What is counted. */
type Unit = 'requests' | 'tokens' | 'calls';

/** A limit of which a call takes: one, or its tokens. */
export interface Take {
  /** The name of the counter: of the key, the model and the unit. */
  readonly name: string;
  readonly unit: Unit;
  readonly limit: number;
  /** The model of the limit; null = all models. */
  readonly model: string | null;
  /** True if a call that exceeds the limit takes all the same. */
  readonly is_soft: boolean;
  /** The model to which a call moves that exceeds the limit. Then it takes nothing. */
  readonly move_to?: string;
}

/** What one call takes. */
export interface Taking {
  /** All calls of a key with one model have the same list, so a store can keep what it knows of it. */
  readonly takes: readonly Take[];
  /** The most tokens that the call may use; 0 if none are limited. */
  readonly tokens: number;
  /** UUID of the call. */
  readonly call_id: string;
}

/** Returns how much a call takes of a limit. */
export function amountOf({ unit }: Take, tokens: number): number {
  return unit === 'tokens' ? tokens : 1;
}

/** A call that may be limited. */
export interface LimitedCall {
  readonly key: { readonly id: string; readonly limits?: readonly KeyLimit[] };
  readonly model_id: string;
  /** UUID of the call. */
  readonly call_id: string;
  /** Returns the most tokens that the call may use; 0 if it is not counted in tokens. */
  readonly tokens: () => number;
  /** False for a task, which counts as a request, and not as a call at the same time. */
  readonly is_concurrent: boolean;
  /** True if a limit may move the call to another model. Otherwise such a limit warns. */
  readonly may_move: boolean;
}

/** The limit that a call would exceed. */
export interface Exceeded {
  readonly take: Take;
  /** How much of it the call would take. */
  readonly amount: number;
  /** The time until it may fit, ms; Infinity if the call alone is above the limit. */
  readonly wait_ms: number;
}

/** What a call took: `slot` is the second in which it counts. */
export interface Taken {
  readonly slot: number;
  /** The soft limits that the call exceeded. Missing if there are none. */
  readonly exceeded?: readonly Exceeded[];
}

/** Counts calls of all replicas, or of this one. */
export interface LimitStore {
  /** Takes all or nothing. */
  take(taking: Taking): Promise<Taken | Exceeded> | Taken | Exceeded;
  /** Ends a call: `used` tokens of those that it took. Must not throw. */
  end(taking: Taking, taken: Taken, used: number): void;
}

/** The takes of calls of a key with one model. */
interface KnownTakes {
  readonly key_id: string;
  readonly takes: readonly Take[];
  readonly has_tokens: boolean;
}

/** By the limits of a key, as long as a cached key has them, by the model, and by `kindOf`. */
const known = new WeakMap<readonly KeyLimit[], Map<string, KnownTakes[]>>();

/** Numbers the kinds of calls that take differently. */
const kindOf = ({ is_concurrent, may_move }: LimitedCall) =>
  (is_concurrent ? 2 : 0) + (may_move ? 1 : 0);

/** Returns what a call takes; undefined if nothing of it is limited. */
export function takingOf(call: LimitedCall): Taking | undefined {
  const { takes, has_tokens } = knownTakes(call);
  if (takes.length === 0) return undefined;
  return { takes, tokens: has_tokens ? call.tokens() : 0, call_id: call.call_id };
}

/** Makes the takes of the first such call. All calls share them, because their names cost time. */
function knownTakes(call: LimitedCall): KnownTakes {
  const { id: key_id, limits = [] } = call.key;
  const ofLimits = known.get(limits) ?? new Map<string, KnownTakes[]>();
  const ofModel = ofLimits.get(call.model_id) ?? [];
  const existing = ofModel[kindOf(call)];
  if (existing?.key_id === key_id) return existing;
  const takes = newTakes(key_id, limits, call);
  const made = { key_id, takes, has_tokens: takes.some(({ unit }) => unit === 'tokens') };
  ofModel[kindOf(call)] = made;
  known.set(limits, ofLimits.set(call.model_id, ofModel));
  return made;
}

/**
 * Returns the takes of a call. Limits that move the call come first, because the others may not apply to the model
 * to which it moves.
 */
function newTakes(
  key_id: string,
  limits: readonly KeyLimit[],
  { model_id, is_concurrent, may_move }: LimitedCall,
): Take[] {
  const takes: Take[] = [];
  const moving: Take[] = [];
  for (const limit of limits) {
    const { model, when_reached = 'refuse' } = limit;
    if (model !== null && model !== model_id) continue;
    const add = (unit: Unit, most: number | null) => {
      if (most === null) return;
      const name = `${key_id}:${unit}:${model ?? ''}`;
      const take = { name, unit, limit: most, model };
      if (typeof when_reached === 'string' || !may_move) {
        takes.push({ ...take, is_soft: when_reached !== 'refuse' });
      } else moving.push({ ...take, is_soft: false, move_to: when_reached.move_to });
    };
    add('requests', limit.requests_per_minute);
    add('tokens', limit.tokens_per_minute);
    if (is_concurrent) add('calls', limit.concurrent_calls);
  }
  return [...moving, ...takes];
}
