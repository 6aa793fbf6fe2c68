import type { Sql, TransactionSql } from 'postgres';
import { type SettledLine, settleInline } from '../../db/ledger/settle.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Clock } from './clock.ts';
import { applyMoneyCommands, type MoneyCommand } from './ledger.ts';
import type { LedgerAnswer, LedgerCommand, SettleCommand } from './ledger-commands.ts';
import { isTransient } from './transient.ts';

/** Commands of one transaction. */
export const MAX_BATCH_COMMANDS = 512;
/** Beyond this many waiting commands new ones are refused with 503. */
export const MAX_QUEUED_COMMANDS = 20_000;
/** A command that asks for money gives up after this long without a database; a charge never does. */
export const ASK_PATIENCE_MS = 2_000;
const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 1_000;

export interface LaneDeps {
  sql: Sql;
  clock: Clock;
  /** Told of every failed batch; must not throw. */
  onError: (error: unknown, commands: number) => void;
}

interface Queued {
  command: LedgerCommand;
  queuedAt: number;
  resolve: (answer: LedgerAnswer) => void;
  reject: (error: unknown) => void;
}

/**
 * The one way by which money moves on this replica: a group-commit lane (design 4).
 *
 * It takes what is queued, up to 512 commands of any keys, and commits it as one transaction; what
 * arrives meanwhile is the next batch. So a hot key costs one row lock a batch, not one a call.
 * Callers are answered after the commit. A batch whose outcome is unknown runs again: every command
 * may be repeated. A batch that the database rejects is bisected until the poisoned command stands
 * alone and only that one fails.
 */
export class Lane {
  private queue: Queued[] = [];
  private running: Promise<void> | undefined;
  private closing = false;

  constructor(private readonly deps: LaneDeps) {}

  /** Commands that wait for their commit. */
  get depth(): number {
    return this.queue.length;
  }

  /**
   * Queues a command; resolves after its commit. A charge waits as long as the database is away;
   * a command that asks for money rejects with `service_unavailable` after `ASK_PATIENCE_MS`.
   */
  submit(command: LedgerCommand): Promise<LedgerAnswer> {
    if (this.queue.length >= MAX_QUEUED_COMMANDS && command.type !== 'SETTLE') {
      return Promise.reject(unavailable('Too many requests are waiting to be booked.'));
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ command, queuedAt: this.deps.clock.now(), resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when everything that is queued has been committed. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Gives up what cannot be committed: the process is about to end. */
  stop(): void {
    this.closing = true;
  }

  private async run(): Promise<void> {
    // One turn later, so that commands of the same tick share a transaction.
    await Promise.resolve();
    while (this.queue.length > 0 && !this.closing) {
      const batch = this.queue.splice(0, MAX_BATCH_COMMANDS);
      await this.runBatch(batch);
    }
    this.running = undefined;
  }

  private async runBatch(batch: Queued[]): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let live = batch;
    while (live.length > 0 && !this.closing) {
      try {
        const answers = await this.commit(live.map((queued) => queued.command));
        live.forEach((queued, index) => {
          const answer = answers[index];
          if (answer) queued.resolve(answer);
          else queued.reject(new Error('the lane lost an answer'));
        });
        return;
      } catch (error) {
        this.deps.onError(error, live.length);
        if (!isTransient(error)) return this.bisect(live, error);
        live = this.withoutImpatient(live, error);
        await this.pause(retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  private async bisect(batch: Queued[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first) return first.reject(error);
    const middle = batch.length >> 1;
    await this.runBatch(batch.slice(0, middle));
    await this.runBatch(batch.slice(middle));
  }

  /** Charges stay until they commit; who asks for money is told to come back. */
  private withoutImpatient(batch: Queued[], cause: unknown): Queued[] {
    const now = this.deps.clock.now();
    return batch.filter((queued) => {
      const patient = isCharge(queued.command) || now - queued.queuedAt < ASK_PATIENCE_MS;
      if (!patient) queued.reject(unavailable('The ledger cannot be reached.', cause));
      return patient;
    });
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.deps.clock.after(delayMs, resolve));
  }

  private async commit(commands: LedgerCommand[]): Promise<LedgerAnswer[]> {
    const settles = commands.filter((command) => command.type === 'SETTLE');
    if (settles.length === commands.length) {
      // Only charges: one statement is a transaction of its own, and one round trip.
      return settleAnswers(settles, await settle(this.deps.sql, settles));
    }
    return this.deps.sql.begin(async (tx) => {
      const settled = settles.length > 0 ? await settle(tx, settles) : [];
      const money = commands.filter(
        (command): command is MoneyCommand => command.type !== 'SETTLE',
      );
      const moneyAnswers = (await applyMoneyCommands(tx, money))[Symbol.iterator]();
      const charges = settleAnswers(settles, settled)[Symbol.iterator]();
      return commands.map((command) => {
        const next = command.type === 'SETTLE' ? charges.next() : moneyAnswers.next();
        if (next.done) throw new Error('a command got no answer');
        return next.value;
      });
    }) as Promise<LedgerAnswer[]>;
  }
}

function settle(sql: Sql | TransactionSql, commands: SettleCommand[]): Promise<SettledLine[]> {
  return settleInline(
    sql,
    commands.map((command) => command.line),
  );
}

function settleAnswers(commands: SettleCommand[], lines: SettledLine[]): LedgerAnswer[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  return commands.map(({ line }) => {
    const row = byId.get(line.id);
    // A grant that does not exist cannot be charged: that is a defect, and nothing was booked.
    if (!row) return { type: 'not_found' };
    return { type: 'settled', charged: row.charged_nano_usd, overrun: row.overrun_nano_usd };
  });
}

function isCharge(command: LedgerCommand): boolean {
  return command.type === 'SETTLE' || command.type === 'SETTLE_HOLD';
}

function unavailable(message: string, cause?: unknown): WeirError {
  return new WeirError('service_unavailable', message, { retry_after: 1 }, cause);
}
