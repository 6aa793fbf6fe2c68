import type { Sql, TransactionSql } from 'postgres';
import { settleInline } from '../../../db/ledger/settle.ts';
import type { Clock } from '../clock.ts';
import { GroupCommit } from '../group-commit.ts';
import { applyMoneyCommands, type MoneyCommand } from './ledger.ts';
import type { LedgerAnswer, LedgerCommand, SettleCommand } from './ledger-commands.ts';
import type { MoneyHintPublisher, MoneyHints } from './money-hints.ts';

export interface LaneDeps {
  sql: Sql;
  clock: Clock;
  hints: MoneyHintPublisher;
  /** Called for each failed batch, with the number of its commands; must not throw. */
  onError: (error: unknown, commands: number) => void;
}

/**
 * The queue that commits all ledger commands of this replica in groups. So a busy key needs one row
 * lock for each batch instead of one for each call. If the database cannot be reached, charges wait
 * until it can. Other commands fail after two seconds.
 */
export class Lane extends GroupCommit<LedgerCommand, LedgerAnswer> {
  constructor({ sql, clock, hints, onError }: LaneDeps) {
    super({
      clock,
      onError,
      mustCommit: isCharge,
      commit: (commands) => commit(sql, hints, commands),
      onOutcomeUnknown: () => hints.publishUnknown(),
    });
  }
}

function isCharge(command: LedgerCommand): boolean {
  return command.type === 'SETTLE' || command.type === 'SETTLE_HOLD';
}

async function commit(
  sql: Sql,
  publisher: MoneyHintPublisher,
  commands: LedgerCommand[],
): Promise<LedgerAnswer[]> {
  const settles = commands.filter((command) => command.type === 'SETTLE');
  if (settles.length === commands.length) {
    // If a batch has only charges, one statement is the complete transaction and needs one round
    // trip.
    return settle(sql, settles);
  }
  const { answers, hints } = (await sql.begin(async (tx) => {
    const money = commands.filter((command): command is MoneyCommand => command.type !== 'SETTLE');
    // The charges come last, because the other commands lock organizations and keys before grants.
    const applied = await applyMoneyCommands(
      tx,
      money,
      settles.map(({ line }) => line.grant_id),
    );
    const settled = settles.length > 0 ? await settle(tx, settles) : [];
    const moneyAnswers = applied.answers[Symbol.iterator]();
    const charges = settled[Symbol.iterator]();
    const merged = commands.map((command) => {
      const next = command.type === 'SETTLE' ? charges.next() : moneyAnswers.next();
      if (next.done) throw new Error('the ledger returned no answer for a command');
      return next.value;
    });
    return { answers: merged, hints: applied.hints };
  })) as { answers: LedgerAnswer[]; hints: MoneyHints };
  publisher.publish(hints);
  return answers;
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
    // The grant does not exist, which is a defect. Nothing was charged.
    if (!row) return { type: 'not_found' };
    return {
      type: 'settled',
      charged: row.charged_nano_usd,
      overrun: row.overrun_nano_usd,
      grant_settled: row.grant_settled_nano_usd,
    };
  });
}
