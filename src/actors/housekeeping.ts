import type { Sql } from 'postgres';
import { archiveBatch, deleteUnopenedBatches } from '../../db/batches/batches.ts';
import { deleteOldRules } from '../../db/cache/rules.ts';
import { deleteOldTransitions } from '../../db/channels/transitions.ts';
import { deleteOldConfigurationChanges } from '../../db/configuration/changes.ts';
import { deleteOldCopies } from '../../db/debug/copies.ts';
import { deleteOldWindows } from '../../db/debug/windows.ts';
import { deleteOldOutcomes } from '../../db/health/outcomes.ts';
import { deleteEndedEffects, deleteOldIdempotencyKeys } from '../../db/housekeeping.ts';
import { deleteEndedSignIns } from '../../db/people/expired.ts';
import { deleteExpiredCalls, dropUnwantedBodies } from '../../db/repeats/kept-answers.ts';
import { deleteExpiredChanges } from '../../db/repeats/kept-changes.ts';
import { deleteOldResponses } from '../../db/responses/responses.ts';
import { type ClosedMonth, closeMonth } from '../../db/retention/close.ts';
import { addMonths } from '../../db/retention/months.ts';
import type { Clock } from './clock.ts';

const SWEEP_MS = 60_000;
/** How long the outbox rows of dead effects are kept, so that recent incidents can be analysed. */
export const KEEP_EFFECTS_MS = 24 * 3_600_000;
/** How long Weir recognises a repeated create request by its idempotency key. */
export const KEEP_IDEMPOTENCY_KEYS_MS = 7 * 24 * 3_600_000;

/** How long a stored response can be read or continued (OpenAI docs: 30 days). */
const KEEP_RESPONSES_DAYS = 30;
const RESPONSES_A_SWEEP = 5_000;
const OUTCOMES_A_SWEEP = 5_000;
const TRANSITIONS_A_SWEEP = 5_000;
/** A copy may have megabytes. */
const COPIES_A_SWEEP = 1_000;
const WINDOWS_A_SWEEP = 1_000;
const CACHE_RULES_A_SWEEP = 5_000;
/** How long a change of the configuration can be taken back. */
const KEEP_CONFIGURATION_CHANGES_DAYS = 30;
const CONFIGURATION_CHANGES_A_SWEEP = 1_000;
/** How long lists show invitations that have ended. */
const KEEP_LINKS_DAYS = 90;
/** How long the results of a batch can be read (Anthropic docs: Batch processing, 29 days). */
const KEEP_RESULTS_DAYS = 29;
/**
 * A batch of this age is deleted if its items are not all stored. Storing the items of the largest
 * batch takes minutes, so the creation of such a batch was interrupted.
 */
const UNOPENED_HOURS = 1;

export interface HousekeepingDeps {
  sql: Sql;
  clock: Clock;
  /** How many days the history of circuits is kept. */
  circuit_days: number;
  /** After how many days whole months of records of calls without a charge are removed. */
  record_days: number;
  /** The same for usage lines; 0 = never. */
  line_days: number;
  /** Called for each month whose rows were removed. */
  onRemoved?: (month: ClosedMonth) => void;
  onError: (error: unknown) => void;
}

/** Deletes rows that are no longer needed, a bounded number each minute. */
export class Housekeeping {
  private stopClock: () => void = () => undefined;
  private sweeping: Promise<void> | undefined;

  constructor(private readonly deps: HousekeepingDeps) {}

  start(): void {
    this.stopClock = this.deps.clock.after(SWEEP_MS, () => {
      this.sweeping = this.sweep()
        .catch(this.deps.onError)
        .finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.sweeping;
    this.stopClock();
  }

  /** Deletes a bounded number of rows of each table. The next sweep deletes more. */
  async sweep(): Promise<void> {
    const { sql, clock, circuit_days, record_days, line_days } = this.deps;
    await deleteEndedEffects(sql, clock.now(), KEEP_EFFECTS_MS);
    await deleteOldIdempotencyKeys(sql, KEEP_IDEMPOTENCY_KEYS_MS);
    await deleteExpiredCalls(sql);
    await deleteExpiredChanges(sql);
    await deleteEndedSignIns(sql, KEEP_LINKS_DAYS);
    await dropUnwantedBodies(sql);
    await deleteOldResponses(sql, KEEP_RESPONSES_DAYS, RESPONSES_A_SWEEP);
    await deleteOldOutcomes(sql, OUTCOMES_A_SWEEP);
    await deleteOldTransitions(sql, circuit_days, TRANSITIONS_A_SWEEP);
    await deleteOldConfigurationChanges(
      ...([sql, KEEP_CONFIGURATION_CHANGES_DAYS, CONFIGURATION_CHANGES_A_SWEEP] as const),
    );
    await deleteOldCopies(sql, COPIES_A_SWEEP);
    await deleteOldWindows(sql, WINDOWS_A_SWEEP);
    await deleteOldRules(sql, CACHE_RULES_A_SWEEP);
    await archiveBatch(sql, KEEP_RESULTS_DAYS);
    await deleteUnopenedBatches(sql, UNOPENED_HOURS);
    await addMonths(sql);
    await this.removeMonth('call_record', record_days);
    if (line_days > 0) await this.removeMonth('usage_line', line_days);
  }

  private async removeMonth(table: ClosedMonth['table'], days: number): Promise<void> {
    const removed = await closeMonth(this.deps.sql, table, days);
    if (removed) this.deps.onRemoved?.(removed);
  }
}
