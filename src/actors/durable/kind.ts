import type { TransactionSql } from 'postgres';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import type { JsonValue } from '../../../db/actors/store.ts';
import type { VersionedMachine } from '../../replay/versioned.ts';
import type { MoneyCommand } from '../money/ledger.ts';

/** What an effect gets besides its parameters. */
export interface EffectContext {
  actor_id: string;
  /**
   * The same key for every attempt of this effect, so that a receiver recognises a repeated
   * attempt.
   */
  idempotency_key: string;
  /** The signal that aborts when the effect's timeout has passed. */
  signal: AbortSignal;
}

/** The event that an effect reports, with money and writes to commit in the same transaction. */
export interface EffectReport {
  report: AnyEventObject;
  /** A ledger command, executed only if the machine takes the event. */
  money?: MoneyCommand;
  inTransaction?: (tx: TransactionSql) => Promise<void>;
}

/**
 * A function that does work outside of the machine and returns the event that reports the result.
 * If it throws, it is called again later.
 */
export type Effect = (
  params: JsonValue,
  context: EffectContext,
) => Promise<AnyEventObject | EffectReport>;

/**
 * An actor's change of state in the running transaction. `snapshot` is its snapshot after all
 * commands of the batch.
 */
export interface StateChange {
  id: string;
  from_state: string;
  to_state: string;
  snapshot: AnyMachineSnapshot;
}

/**
 * One kind of durable actor: a pure machine and its effects.
 *
 * The machine's actions are data. `setTimer {name, delay_ms, event}` and `cancelTimer {name}`
 * change timers. Each action named in `effects` is an effect.
 */
export interface DurableKind extends VersionedMachine {
  readonly kind: string;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly effect_timeout_ms: number;
  /**
   * After this many failed attempts the effect is dead, and the event of `eventOfDeadEffect` is
   * sent.
   */
  readonly max_attempts: number;
  /** Effects without a limit of attempts, for example effects that move money. */
  readonly unlimited_effects?: readonly string[];
  readonly eventOfDeadEffect: (effect: string, error: string) => AnyEventObject;
  /** Writes the kind's own tables, in the same transaction as its actor rows. */
  readonly project?: (tx: TransactionSql, changes: readonly StateChange[]) => Promise<void>;
}
