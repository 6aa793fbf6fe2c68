import type { Sql, TransactionSql } from 'postgres';
import { settleInline } from '../../../db/ledger/settle.ts';
import { isOfClosedMonth, readLowestKept } from '../../../db/records/refusal.ts';
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
      commit: (commands) => commitOnce(sql, hints, commands, onError),
      onOutcomeUnknown: () => hints.publishUnknown(),
    });
  }
}

function isCharge(command: LedgerCommand): boolean {
  return command.type === 'SETTLE' || command.type === 'SETTLE_HOLD';
}

/**
 * Commits commands. If retention removed the month of a charge, the charge is a repeat: all commands
 * that could charge it first had ended before. The database refuses its line, so the other commands run
 * again without it.
 */
async function commitOnce(
  sql: Sql,
  publisher: MoneyHintPublisher,
  commands: LedgerCommand[],
  onError: LaneDeps['onError'],
): Promise<LedgerAnswer[]> {
  try {
    return await commit(sql, publisher, commands);
  } catch (error) {
    if (!isOfClosedMonth(error)) throw error;
    const first_id = await readLowestKept(sql, 'usage_line');
    const repeated = commands.filter(
      (command) => command.type === 'SETTLE' && command.line.id < (first_id ?? ''),
    ).length;
    if (repeated > 0) {
      onError(new Error(`${repeated} charges of a removed month were repeated`), repeated);
    }
    return commit(sql, publisher, commands, first_id);
  }
}

async function commit(
  sql: Sql,
  publisher: MoneyHintPublisher,
  commands: LedgerCommand[],
  first_id?: string,
): Promise<LedgerAnswer[]> {
  const settles = commands.filter((command) => command.type === 'SETTLE');
  if (settles.length === commands.length) {
    // If a batch has only charges, one statement is the complete transaction and needs one round
    // trip.
    return settle(sql, settles, first_id);
  }
  const { answers, hints } = (await sql.begin(async (tx) => {
    const money = commands.filter((command): command is MoneyCommand => command.type !== 'SETTLE');
    // The charges come last, because the other commands lock organizations and keys before grants.
    const applied = await applyMoneyCommands(
      tx,
      money,
      settles.map(({ line }) => line.grant_id),
    );
    const settled = settles.length > 0 ? await settle(tx, settles, first_id) : [];
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
  first_id: string | undefined,
): Promise<LedgerAnswer[]> {
  const lines = await settleInline(
    sql,
    commands.map((command) => command.line),
    first_id,
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
