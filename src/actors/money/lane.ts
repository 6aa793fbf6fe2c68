import type { Sql, TransactionSql } from 'postgres';
import { settleInline } from '../../../db/ledger/settle.ts';
import type { Clock } from '../clock.ts';
import { GroupCommit } from '../group-commit.ts';
import { applyMoneyCommands, type MoneyCommand } from './ledger.ts';
import type { LedgerAnswer, LedgerCommand, SettleCommand } from './ledger-commands.ts';

export interface LaneDeps {
  sql: Sql;
  clock: Clock;
  /** Told of every failed batch; must not throw. */
  onError: (error: unknown, commands: number) => void;
}

/**
 * The one way by which money moves on this replica (design 4): ledger commands of any keys, group
 * committed, so a hot key costs one row lock a batch and not one a call. A charge waits as long as
 * the database is away; a command that asks for money gives up soon.
 */
export class Lane extends GroupCommit<LedgerCommand, LedgerAnswer> {
  constructor({ sql, clock, onError }: LaneDeps) {
    super({ clock, onError, mustCommit: isCharge, commit: (commands) => commit(sql, commands) });
  }
}

function isCharge(command: LedgerCommand): boolean {
  return command.type === 'SETTLE' || command.type === 'SETTLE_HOLD';
}

async function commit(sql: Sql, commands: LedgerCommand[]): Promise<LedgerAnswer[]> {
  const settles = commands.filter((command) => command.type === 'SETTLE');
  if (settles.length === commands.length) {
    // Only charges: one statement is a transaction of its own, and one round trip.
    return settle(sql, settles);
  }
  return sql.begin(async (tx) => {
    const settled = settles.length > 0 ? await settle(tx, settles) : [];
    const money = commands.filter((command): command is MoneyCommand => command.type !== 'SETTLE');
    const moneyAnswers = (await applyMoneyCommands(tx, money))[Symbol.iterator]();
    const charges = settled[Symbol.iterator]();
    return commands.map((command) => {
      const next = command.type === 'SETTLE' ? charges.next() : moneyAnswers.next();
      if (next.done) throw new Error('a command got no answer');
      return next.value;
    });
  }) as Promise<LedgerAnswer[]>;
}

async function settle(
  sql: Sql | TransactionSql,
  commands: SettleCommand[],
): Promise<LedgerAnswer[]> {
  const lines = await settleInline(
    sql,
    commands.map((command) => command.line),
  );
  return lines.map((row) => {
    // A grant that does not exist cannot be charged: that is a defect, and nothing was booked.
    if (!row) return { type: 'not_found' };
    return { type: 'settled', charged: row.charged_nano_usd, overrun: row.overrun_nano_usd };
  });
}
