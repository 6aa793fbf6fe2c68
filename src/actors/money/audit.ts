import type { Sql } from 'postgres';
import type { OverrunSums } from '../../../db/books/overruns.ts';
import { findImbalances, type Imbalance } from '../../../db/ledger/audit.ts';
import {
  beginReading,
  endReading,
  type LinesVerdict,
  readSlice,
} from '../../../db/ledger/lines-audit.ts';
import { findQuickImbalances } from '../../../db/ledger/quick-audit.ts';
import type { Clock } from '../clock.ts';
import { type Done, Repeated } from './repeated.ts';

const AUDIT_EVERY_MS = 10 * 60_000;
const FIRST_AUDIT_MS = 30_000;
/** So many lines take about a tenth of a second. */
const LINES_A_SLICE = 50_000;
/** After a slice that took `t`, the next one waits for `4 t`. */
const SLICE_PAUSE_FACTOR = 4;
/** Retention may remove lines while they are read. It does so once a month. */
const MAX_READINGS = 3;
/** To name what is wrong, one statement reads all lines. */
const NAMING_TIMEOUT_MS = 60 * 60_000;

export interface AuditDeps {
  sql: Sql;
  clock: Clock;
  /** Called if sums do not add up, with these sums. This must never happen. */
  onImbalance: (imbalances: readonly Imbalance[]) => void;
  onError: (error: unknown) => void;
  lines_a_slice?: number;
}

/** What a comparison with all usage lines found. */
export interface LinesAudit {
  readonly imbalances: readonly Imbalance[];
  readonly overruns: OverrunSums;
}

/** What both parts of the audit found last. */
export interface AuditResult {
  /** The sums that do not add up. */
  readonly imbalances: readonly Imbalance[];
  readonly quick: Done<readonly Imbalance[]>;
  /** Undefined before all usage lines were read once. */
  readonly lines: Done<LinesAudit> | undefined;
}

/**
 * Checks at intervals that the ledger's sums add up. A metric shows how many sums are wrong. It must always be
 * 0 (P15). One part compares all sums with each other, which is quick. The other part compares the sums with all
 * usage lines. It takes long if there are many, so it reads them in slices with pauses.
 */
export class Audit {
  private readonly quick: Repeated<readonly Imbalance[]>;
  private readonly lines: Repeated<LinesAudit>;
  private isStopped = false;
  private wake: () => void = () => undefined;

  constructor(private readonly deps: AuditDeps) {
    const { clock, onError } = deps;
    const often = { clock, onError, first_after_ms: FIRST_AUDIT_MS, every_ms: AUDIT_EVERY_MS };
    this.quick = new Repeated({ ...often, work: () => this.auditSums() });
    this.lines = new Repeated({ ...often, work: () => this.auditLines() });
  }

  /** How many sums did not add up in the last audit; undefined before the first audit. */
  get imbalances(): number | undefined {
    return this.latest?.imbalances.length;
  }

  /** Runs both parts now and waits for them. */
  async run(): Promise<void> {
    await Promise.all([this.quick.run(), this.lines.run()]);
  }

  /**
   * Runs both parts now, unless the last run has just ended. Waits for a short time. A part that takes longer
   * has the result of its last run. Returns undefined if the quick part has no result yet.
   *
   * @param wait_ms how long this waits for a part
   * @param first_wait_ms the same for the first run of the quick part
   */
  async runWithin(wait_ms: number, first_wait_ms: number): Promise<AuditResult | undefined> {
    await Promise.all([
      this.quick.runWithin(this.quick.latest ? wait_ms : first_wait_ms),
      this.lines.runWithin(wait_ms),
    ]);
    return this.latest;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.wake();
    await Promise.all([this.quick.stop(), this.lines.stop()]);
  }

  private get latest(): AuditResult | undefined {
    const quick = this.quick.latest;
    const lines = this.lines.latest;
    if (!quick) return undefined;
    const nameOf = ({ what, id }: Imbalance) => `${what} ${id}`;
    const names = new Set(quick.result.map(nameOf));
    const more = lines?.result.imbalances.filter((each) => !names.has(nameOf(each))) ?? [];
    return { imbalances: [...quick.result, ...more], quick, lines };
  }

  private async auditSums(): Promise<readonly Imbalance[]> {
    return this.reported(await findQuickImbalances(this.deps.sql));
  }

  private async auditLines(): Promise<LinesAudit> {
    const { verdict, overruns } = await this.readLines();
    if (verdict === 'right') return { imbalances: [], overruns };
    const named = await this.nameImbalances();
    // No row of the ledger is wrong, so lines belong to none.
    const unnamed = [{ what: 'lines of no key, grant or hold', id: '', nano_usd: 0 }];
    return { imbalances: this.reported(named.length > 0 ? named : unnamed), overruns };
  }

  private async readLines(): Promise<LinesVerdict> {
    const { sql, clock, lines_a_slice = LINES_A_SLICE } = this.deps;
    for (let n = 1; ; n += 1) {
      let reading = await beginReading(sql);
      while (!reading.isDone) {
        const began_at_ms = clock.now();
        reading = await readSlice(sql, reading, lines_a_slice);
        if (!reading.isDone) await this.pause((clock.now() - began_at_ms) * SLICE_PAUSE_FACTOR);
      }
      const found = await endReading(sql, reading);
      if (found.verdict !== 'again') return found;
      if (n === MAX_READINGS) throw new Error(`Retention removed lines during ${n} readings.`);
    }
  }

  private nameImbalances(): Promise<Imbalance[]> {
    return this.deps.sql.begin(async (transaction) => {
      const tx = transaction as unknown as Sql;
      await tx.unsafe(`set local statement_timeout = ${NAMING_TIMEOUT_MS}`);
      return findImbalances(tx);
    }) as Promise<Imbalance[]>;
  }

  private reported(imbalances: readonly Imbalance[]): readonly Imbalance[] {
    if (imbalances.length > 0) this.deps.onImbalance(imbalances);
    return imbalances;
  }

  /** @throws if the audit is stopped. */
  private async pause(ms: number): Promise<void> {
    if (!this.isStopped) {
      await new Promise<void>((resolve) => {
        const cancel = this.deps.clock.after(ms, resolve);
        this.wake = () => {
          cancel();
          resolve();
        };
      });
    }
    if (this.isStopped) throw new Error('the audit was stopped');
  }
}
