import type { TransactionSql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { JsonValue } from '../../../db/actors/store.ts';
import type { MoneyCommand } from '../money/ledger.ts';

/** What an effect gets to work with. */
export interface EffectContext {
  actor_id: string;
  /** The same for every attempt of this effect: pass it on to whoever can tell a repetition. */
  idempotency_key: string;
  /** Aborted at the effect's time-out. */
  signal: AbortSignal;
}

/** What an effect says came of it, and what has to be committed with that or not at all. */
export interface EffectReport {
  report: AnyEventObject;
  /** Moves only if the machine takes the event. */
  money?: MoneyCommand;
  inTransaction?: (tx: TransactionSql) => Promise<void>;
}

/** Does something outside and says what came of it; throws to be tried again. */
export type Effect = (
  params: JsonValue,
  context: EffectContext,
) => Promise<AnyEventObject | EffectReport>;

/** A change of state that is being committed; `snapshot` is the actor's as the transaction ends. */
export interface StateChange {
  id: string;
  from_state: string;
  to_state: string;
  snapshot: AnyMachineSnapshot;
}

/**
 * One kind of durable actor: a pure machine and the effects that its actions ask for.
 *
 * Actions of the machine are data here (design 3): `setTimer {name, delay_ms, event}` and
 * `cancelTimer {name}` change timers; every other named action with params is an effect.
 */
export interface DurableKind {
  readonly kind: string;
  readonly machine: AnyStateMachine;
  /** Raised whenever stored snapshots of before need `migrate`. */
  readonly version: number;
  /** Brings a stored snapshot of an older version up to this one. */
  readonly migrate?: (snapshot: JsonValue, from: number) => JsonValue;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly effect_timeout_ms: number;
  /** Attempts before the effect is given up and `failed` is said. */
  readonly max_attempts: number;
  /** Effects that are tried until they are done, e.g. what moves money. */
  readonly retried_forever?: readonly string[];
  readonly failed: (effect: string, error: string) => AnyEventObject;
  /** Keeps rows of the kind's own in step with its actors, inside their transaction. */
  readonly project?: (tx: TransactionSql, changes: readonly StateChange[]) => Promise<void>;
}
