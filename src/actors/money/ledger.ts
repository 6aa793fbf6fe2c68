import type { TransactionSql } from 'postgres';
import { insertHoldLines } from '../../../db/ledger/entries.ts';
import { declareDead, findLiveReplicas } from '../../../db/ledger/replicas.ts';
import { type LockedRows, lockMoney, writeMoney } from '../../../db/ledger/rows.ts';
import { Books } from './books.ts';
import { DepositCommands } from './deposit-commands.ts';
import { GrantCommands } from './grant-commands.ts';
import { HoldCommands } from './hold-commands.ts';
import type { LedgerAnswer, LedgerCommand, SettleCommand } from './ledger-commands.ts';
import type { MoneyHints } from './money-hints.ts';
import { ShortageExplainer } from './shortage.ts';

/** A ledger command that locks keys and organizations. SETTLE locks only grants. */
export type MoneyCommand = Exclude<LedgerCommand, SettleCommand>;

/**
 * Executes ledger commands inside the transaction `tx`. Locks all rows, applies the commands in
 * order to the rows in memory, and writes the rows back. Also locks the grants that the transaction
 * charges afterwards. Returns the answers in the order of the commands, and the hints for all
 * replicas. Both are valid only after the commit of `tx`.
 */
export async function applyMoneyCommands(
  tx: TransactionSql,
  commands: readonly MoneyCommand[],
  charged_grant_ids: readonly string[] = [],
): Promise<{ answers: LedgerAnswer[]; hints: MoneyHints }> {
  const reaped = commands.flatMap((command) =>
    command.type === 'REAP' ? [command.replica_id] : [],
  );
  if (reaped.length > 0) await declareDead(tx, reaped);
  const replicas = await findLiveReplicas(tx);
  const rows = await lockMoney(tx, {
    organization_ids: commands.flatMap((command) =>
      command.type === 'DEPOSIT' || command.type === 'CREDIT' ? [command.organization_id] : [],
    ),
    key_ids: commands.flatMap((command) => ('key_id' in command ? [command.key_id] : [])),
    grant_ids: commands.flatMap((command) => ('grant_id' in command ? [command.grant_id] : [])),
    hold_ids: commands.flatMap((command) => ('hold_id' in command ? [command.hold_id] : [])),
    charged_grant_ids,
    tags: commands.flatMap((command) => ('tags' in command && command.tags ? [command.tags] : [])),
    reaped_replica_ids: reaped,
  });
  const batch = new Batch(tx, rows, new Set(replicas));
  const answers: LedgerAnswer[] = [];
  for (const command of commands) answers.push(await batch.apply(command));
  await batch.write();
  return { answers, hints: batch.books.hints };
}

/** Applies the commands of one transaction to its locked rows. */
class Batch {
  readonly books: Books;
  private readonly grants: GrantCommands;
  private readonly holds: HoldCommands;
  private readonly deposits: DepositCommands;

  constructor(
    private readonly tx: TransactionSql,
    private readonly rows: LockedRows,
    liveReplicas: ReadonlySet<string>,
  ) {
    this.books = new Books(rows);
    const shortage = new ShortageExplainer(tx, this.books);
    this.grants = new GrantCommands(this.books, shortage, liveReplicas);
    this.holds = new HoldCommands(this.books, shortage);
    this.deposits = new DepositCommands(tx, this.books);
  }

  async write(): Promise<void> {
    await this.deposits.book();
    await writeMoney(this.tx, this.rows);
    await insertHoldLines(this.tx, this.holds.lines);
  }

  async apply(command: MoneyCommand): Promise<LedgerAnswer> {
    switch (command.type) {
      case 'GRANT':
        return this.grants.grant(command);
      case 'RETURN':
        return this.grants.return(command);
      case 'REAP':
        return this.grants.reap(command.replica_id);
      case 'HOLD':
        return this.holds.hold(command);
      case 'EXTEND_HOLD':
        return this.holds.extend(command);
      case 'SETTLE_HOLD':
        return this.holds.settle(command);
      case 'RELEASE_HOLD':
      case 'EXPIRE_HOLD':
        return this.holds.end(command);
      case 'DEPOSIT':
        return this.deposits.deposit(command);
      case 'CREDIT':
        return this.deposits.setCreditLine(command);
      default:
        return command satisfies never;
    }
  }
}
