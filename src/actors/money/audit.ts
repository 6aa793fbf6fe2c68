import type { Sql } from 'postgres';
import { findImbalances, type Imbalance } from '../../../db/ledger/audit.ts';
import type { Clock } from '../clock.ts';

/** The conservation query reads every charge once, so it runs now and then. */
const AUDIT_EVERY_MS = 10 * 60_000;
const FIRST_AUDIT_MS = 30_000;

export interface AuditDeps {
  sql: Sql;
  clock: Clock;
  /** Books that do not add up: there must never be any. */
  onImbalance: (imbalances: Imbalance[]) => void;
  onError: (error: unknown) => void;
}

/** Runs the conservation query in production; its count is a metric that must read 0 (P15). */
export class Audit {
  /** What the last audit found; undefined = none has run yet. */
  imbalances: number | undefined;
  private stopClock: () => void = () => undefined;
  private running: Promise<void> | undefined;

  constructor(private readonly deps: AuditDeps) {
    this.schedule(FIRST_AUDIT_MS);
  }

  /** Runs it now. */
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
