import type { Sql } from 'postgres';
import { type OverrunSums, readOverruns } from '../../../db/books/books.ts';
import { findImbalances, type Imbalance } from '../../../db/ledger/audit.ts';
import type { Clock } from '../clock.ts';

/** The query of the audit reads every usage line, so it runs rarely. */
const AUDIT_EVERY_MS = 10 * 60_000;
const FIRST_AUDIT_MS = 30_000;
/** After an audit that took `t`, an operator's request starts no other one for `5 t`. */
const PAUSE_FACTOR = 5;

export interface AuditDeps {
  sql: Sql;
  clock: Clock;
  /** Called if sums do not add up, with these sums. This must never happen. */
  onImbalance: (imbalances: Imbalance[]) => void;
  onError: (error: unknown) => void;
}

/** What one audit found. */
export interface AuditResult {
  readonly imbalances: readonly Imbalance[];
  readonly overruns: OverrunSums;
  /** When the audit began, milliseconds since the Unix epoch. */
  readonly began_at_ms: number;
  readonly took_ms: number;
}

/**
 * Checks at intervals that the ledger's sums add up. A metric shows how many sums are wrong. It
 * must always be 0 (P15).
 */
export class Audit {
  /** The result of the last audit; undefined before the first audit. */
  latest: AuditResult | undefined;
  private stopClock: () => void = () => undefined;
  private running: Promise<AuditResult> | undefined;

  constructor(private readonly deps: AuditDeps) {
    this.schedule(FIRST_AUDIT_MS);
  }

  /** How many sums did not add up in the last audit; undefined before the first audit. */
  get imbalances(): number | undefined {
    return this.latest?.imbalances.length;
  }

  /** Runs an audit now. If one is running, returns its result. */
  run(): Promise<AuditResult> {
    this.running ??= this.audit().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /**
   * Returns the result of an audit that runs now. If the audit takes longer than `wait_ms`, or if
   * the last audit has just ended, returns the last result; undefined if there is none.
   */
  async runWithin(wait_ms: number): Promise<AuditResult | undefined> {
    const { latest } = this;
    const rested_ms = latest
      ? this.deps.clock.now() - latest.began_at_ms - latest.took_ms
      : Number.POSITIVE_INFINITY;
    if (latest && rested_ms < latest.took_ms * PAUSE_FACTOR) return latest;
    const running = this.run();
    let stopWaiting: () => void = () => undefined;
    const late = new Promise<undefined>((resolve) => {
      stopWaiting = this.deps.clock.after(wait_ms, () => resolve(undefined));
    });
    try {
      return (await Promise.race([running, late])) ?? this.latest;
    } finally {
      stopWaiting();
      // After the wait, nobody else would receive the error.
      running.catch(this.deps.onError);
    }
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.running?.catch(() => undefined);
    this.stopClock();
  }

  private async audit(): Promise<AuditResult> {
    const { sql, clock, onImbalance } = this.deps;
    const began_at_ms = clock.now();
    const imbalances = await findImbalances(sql);
    const overruns = await readOverruns(sql);
    const took_ms = clock.now() - began_at_ms;
    this.latest = { imbalances, overruns, began_at_ms, took_ms };
    if (imbalances.length > 0) onImbalance(imbalances);
    return this.latest;
  }

  private schedule(delayMs: number): void {
    this.stopClock = this.deps.clock.after(delayMs, () => {
      this.run()
        .catch(this.deps.onError)
        .finally(() => this.schedule(AUDIT_EVERY_MS));
    });
  }
}
