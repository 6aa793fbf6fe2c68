import type { Sql } from 'postgres';
import { findImbalances, type Imbalance } from '../../../db/ledger/audit.ts';
import type { Clock } from '../clock.ts';

/** The query of the audit reads every usage line, so it runs rarely. */
const AUDIT_EVERY_MS = 10 * 60_000;
const FIRST_AUDIT_MS = 30_000;

export interface AuditDeps {
  sql: Sql;
  clock: Clock;
  /** Called if sums do not add up, with these sums. This must never happen. */
  onImbalance: (imbalances: Imbalance[]) => void;
  onError: (error: unknown) => void;
}

/**
 * Checks at intervals that the ledger's sums add up. A metric shows how many sums are wrong. It
 * must always be 0 (P15).
 */
export class Audit {
  /** How many sums did not add up in the last audit; undefined before the first audit. */
  imbalances: number | undefined;
  private stopClock: () => void = () => undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly deps: AuditDeps) {
    this.schedule(FIRST_AUDIT_MS);
  }

  /** Runs an audit now. */
  async run(): Promise<void> {
    const found = await findImbalances(this.deps.sql);
    this.imbalances = found.length;
    if (found.length > 0) this.deps.onImbalance(found);
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.running;
  }

  private schedule(delayMs: number): void {
    this.stopClock = this.deps.clock.after(delayMs, () => {
      this.running = this.run()
        .catch(this.deps.onError)
        .finally(() => this.schedule(AUDIT_EVERY_MS));
    });
  }
}
