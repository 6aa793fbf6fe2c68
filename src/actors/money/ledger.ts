import type { TransactionSql } from 'postgres';
import { insertDeposits, insertHoldLines } from '../../../db/ledger/entries.ts';
import { findOpenMoney, type OpenMoney, openMoneyOf } from '../../../db/ledger/in-flight.ts';
import { declareDead, findLiveReplicas, nextRecall } from '../../../db/ledger/replicas.ts';
import {
  type GrantRow,
  type HoldRow,
  type KeyRow,
  type LockedRows,
  lockMoney,
  MAX_REAPED_GRANTS,
  type OrganizationRow,
  writeMoney,
} from '../../../db/ledger/rows.ts';
import type { UsageLine } from '../../../db/ledger/settle.ts';
import { decideAmount } from '../../machines/grant.ts';
import type {
  EndHoldCommand,
  ExtendHoldCommand,
  GrantCommand,
  HoldCommand,
  LedgerAnswer,
  LedgerCommand,
  ReturnCommand,
  SettleCommand,
  SettleHoldCommand,
} from './ledger-commands.ts';
import { MoneyHints } from './money-hints.ts';

/** A ledger command that locks keys and organizations. SETTLE locks only grants. */
export type MoneyCommand = Exclude<LedgerCommand, SettleCommand>;

/**
 * Executes ledger commands inside the transaction `tx`. Locks all rows, applies the commands in
 * order to the rows in memory, and writes the rows back. Returns the answers in the order of the
 * commands, and the hints for all replicas. Both are valid only after the commit of `tx`.
 */
export async function applyMoneyCommands(
  tx: TransactionSql,
  commands: readonly MoneyCommand[],
): Promise<{ answers: LedgerAnswer[]; hints: MoneyHints }> {
  const reaped = commands.flatMap((command) =>
    command.type === 'REAP' ? [command.replica_id] : [],
  );
  if (reaped.length > 0) await declareDead(tx, reaped);
  const replicas = await findLiveReplicas(tx);
  const rows = await lockMoney(tx, {
    organization_ids: commands.flatMap((command) =>
      command.type === 'DEPOSIT' ? [command.organization_id] : [],
    ),
    key_ids: commands.flatMap((command) => ('key_id' in command ? [command.key_id] : [])),
    grant_ids: commands.flatMap((command) => ('grant_id' in command ? [command.grant_id] : [])),
    hold_ids: commands.flatMap((command) => ('hold_id' in command ? [command.hold_id] : [])),
    reaped_replica_ids: reaped,
  });
  const batch = new Batch(tx, rows, new Set(replicas));
  const answers: LedgerAnswer[] = [];
  for (const command of commands) answers.push(await batch.apply(command));
  await batch.write();
  return { answers, hints: batch.hints };
}

/** Applies the commands of one transaction to its locked rows. */
class Batch {
  readonly hints = new MoneyHints();
  private readonly holdLines: (UsageLine & { hold_id: string })[] = [];
  private readonly deposits: {
    id: string;
    organization_id: string;
    amount: number;
    note: string;
  }[] = [];
  private openMoney: OpenMoney[] | undefined;

  constructor(
    private readonly tx: TransactionSql,
    private readonly rows: LockedRows,
    private readonly liveReplicas: ReadonlySet<string>,
  ) {}

  async write(): Promise<void> {
    const added = await insertDeposits(this.tx, this.deposits);
    for (const { organization_id, amount_nano_usd } of added) {
      const organization = this.organization(organization_id);
      organization.deposited_nano_usd += amount_nano_usd;
      organization.balance_nano_usd += amount_nano_usd;
    }
    await writeMoney(this.tx, this.rows);
    await insertHoldLines(this.tx, this.holdLines);
  }

  async apply(command: MoneyCommand): Promise<LedgerAnswer> {
    switch (command.type) {
      case 'GRANT':
        return this.grant(command);
      case 'RETURN':
        return this.returnMoney(command);
      case 'HOLD':
        return this.hold(command);
      case 'EXTEND_HOLD':
        return this.extendHold(command);
      case 'SETTLE_HOLD':
        return this.settleHold(command);
      case 'RELEASE_HOLD':
      case 'EXPIRE_HOLD':
        return this.endHold(command);
      case 'DEPOSIT':
        if (!this.rows.organizations.has(command.organization_id)) return { type: 'not_found' };
        this.deposits.push({ ...command, id: command.deposit_id });
        this.hints.onMoneyFreed(command.organization_id);
        return { type: 'done' };
      case 'REAP':
        return this.reap(command.replica_id);
      default:
        return command satisfies never;
    }
  }

  private async grant(command: GrantCommand): Promise<LedgerAnswer> {
    const key = this.rows.keys.get(command.key_id);
    if (!key) return { type: 'not_found' };
    const grant = this.rows.grants.get(command.grant_id) ?? newGrant(command);
    if (grant.status === 'closed' || !this.liveReplicas.has(command.replica_id)) {
      return { type: 'fenced' };
    }
    this.post(grant);
    if (grant.granted_nano_usd !== command.expected_granted) {
      return { type: 'granted', granted: grant.granted_nano_usd, exact: true };
    }
    const unusable = unusableStatus(key);
    if (unusable) return { type: 'key_unusable', status: unusable };
    const decision = decideAmount(command, {
      ...this.fundsOf(key),
      replicas: this.liveReplicas.size,
    });
    if (decision.type === 'short') return this.explainShort(decision, key, command);
    this.setAside(key, decision.amount);
    grant.granted_nano_usd += decision.amount;
    // A grant without money gets no row.
    if (decision.amount > 0) this.rows.grants.set(grant.id, grant);
    return { type: 'granted', granted: grant.granted_nano_usd, exact: decision.exact };
  }

  /**
   * If another grant with money has not acknowledged the recall yet, starts a recall and returns
   * `contended`. Otherwise returns `short`, with the money of other grants and holds.
   */
  private async explainShort(
    short: { bound: 'key' | 'organization'; free: number },
    key: KeyRow,
    request: { grant_id?: string; recall_seq: number | null },
  ): Promise<LedgerAnswer> {
    this.openMoney ??= await findOpenMoney(this.tx, [...this.rows.organizations.keys()]);
    const others = [...this.withoutLockedRows(this.openMoney), ...openMoneyOf(this.rows)].filter(
      (open) =>
        (short.bound === 'key'
          ? open.key_id === key.id
          : open.organization_id === key.organization_id) && open.id !== request.grant_id,
    );
    const hasUnrecalled = others.some(
      (open) =>
        open.recallable && (request.recall_seq === null || open.recall_acked < request.recall_seq),
    );
    if (hasUnrecalled) {
      // A recall that was sent before is sent with its number again, because it may be lost.
      const recall_seq = request.recall_seq ?? (await nextRecall(this.tx));
      const key_id = short.bound === 'key' ? key.id : null;
      this.hints.onRecall({ seq: recall_seq, organization_id: key.organization_id, key_id });
      return { type: 'contended', recall_seq };
    }
    const elsewhere = others.reduce((sum, open) => sum + open.open_nano_usd, 0);
    return { type: 'short', bound: short.bound, free: short.free, elsewhere };
  }

  /**
   * Leaves out the grants and holds in `this.rows`. Their latest amounts are in memory, where
   * `openMoneyOf` finds them.
   */
  private withoutLockedRows(openMoney: OpenMoney[]): OpenMoney[] {
    return openMoney.filter(({ id }) => !this.rows.grants.has(id) && !this.rows.holds.has(id));
  }

  private returnMoney(command: ReturnCommand): LedgerAnswer {
    const grant = this.rows.grants.get(command.grant_id);
    if (!grant || grant.status === 'closed') return { type: 'fenced' };
    this.post(grant);
    if (command.recall_acked > grant.recall_acked) {
      grant.recall_acked = command.recall_acked;
      // The call that started the recall waits for this, even if no money was returned.
      this.hints.onMoneyFreed(command.organization_id);
    }
    if (grant.granted_nano_usd === command.expected_granted)
      this.shrinkGrant(grant, command.amount);
    // An empty grant is always closed, because its actor may be passivated at any time.
    const mayClose = command.close || grant.granted_nano_usd === 0;
    if (mayClose && grant.granted_nano_usd === grant.settled_nano_usd) grant.status = 'closed';
    return {
      type: 'returned',
      granted: grant.granted_nano_usd,
      closed: grant.status === 'closed',
    };
  }

  private async hold(command: HoldCommand): Promise<LedgerAnswer> {
    const existing = this.rows.holds.get(command.hold_id);
    if (existing) return existing.status === 'held' ? { type: 'held' } : holdEnded(existing);
    const key = this.rows.keys.get(command.key_id);
    if (!key) return { type: 'not_found' };
    const unusable = unusableStatus(key);
    if (unusable) return { type: 'key_unusable', status: unusable };
    const refused = await this.setAsideForHold(key, command.amount, command.recall_seq ?? null);
    if (refused) return refused;
    this.rows.holds.set(command.hold_id, {
      id: command.hold_id,
      key_id: key.id,
      organization_id: key.organization_id,
      status: 'held',
      amount_nano_usd: command.amount,
      charged_nano_usd: 0,
      reference: command.reference,
      expires_at: command.expires_at,
    });
    return { type: 'held' };
  }

  private async extendHold(command: ExtendHoldCommand): Promise<LedgerAnswer> {
    const hold = this.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status !== 'held') return holdEnded(hold);
    const extra = command.amount - hold.amount_nano_usd;
    if (extra <= 0) return { type: 'held' };
    const refused = await this.setAsideForHold(this.key(hold.key_id), extra, null);
    if (refused) return refused;
    hold.amount_nano_usd = command.amount;
    return { type: 'held' };
  }

  /** Sets money aside for a hold. Returns undefined; `contended` or `short` if it is not free. */
  private async setAsideForHold(
    key: KeyRow,
    amount: number,
    recall_seq: number | null,
  ): Promise<LedgerAnswer | undefined> {
    const decision = decideAmount(
      { need: amount, want: amount },
      { ...this.fundsOf(key), replicas: 1 },
    );
    if (decision.type === 'short') return this.explainShort(decision, key, { recall_seq });
    this.setAside(key, amount);
    return undefined;
  }

  private settleHold(command: SettleHoldCommand): LedgerAnswer {
    const hold = this.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status !== 'held') return holdEnded(hold);
    const charged = Math.min(command.line.charged_nano_usd, hold.amount_nano_usd);
    const overrun = command.line.overrun_nano_usd + (command.line.charged_nano_usd - charged);
    this.closeHold(hold, 'settled', charged);
    this.holdLines.push({
      ...command.line,
      hold_id: hold.id,
      charged_nano_usd: charged,
      overrun_nano_usd: overrun,
    });
    return holdEnded(hold);
  }

  private endHold(command: EndHoldCommand): LedgerAnswer {
    const hold = this.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status === 'held') {
      this.closeHold(hold, command.type === 'RELEASE_HOLD' ? 'released' : 'expired', 0);
    }
    return holdEnded(hold);
  }

  private reap(replica_id: string): LedgerAnswer {
    const grants = [...this.rows.grants.values()].filter(
      (grant) => grant.replica_id === replica_id && grant.status === 'open',
    );
    for (const grant of grants) {
      this.post(grant);
      this.shrinkGrant(grant, grant.granted_nano_usd - grant.settled_nano_usd);
      grant.status = 'closed';
    }
    return { type: 'reaped', grants: grants.length, more: grants.length === MAX_REAPED_GRANTS };
  }

  /** Adds the grant's charges to the key and the organization, except charges added earlier. */
  private post(grant: GrantRow): void {
    const amount = grant.settled_nano_usd - grant.posted_nano_usd;
    this.charge(this.key(grant.key_id), amount);
    grant.posted_nano_usd = grant.settled_nano_usd;
  }

  private shrinkGrant(grant: GrantRow, amount: number): void {
    this.freeMoney(this.key(grant.key_id), amount);
    grant.granted_nano_usd -= amount;
  }

  private closeHold(
    hold: HoldRow,
    status: 'settled' | 'released' | 'expired',
    charged: number,
  ): void {
    const key = this.key(hold.key_id);
    this.charge(key, charged);
    this.freeMoney(key, hold.amount_nano_usd - charged);
    hold.status = status;
    hold.charged_nano_usd = charged;
  }

  private setAside(key: KeyRow, amount: number): void {
    const organization = this.organization(key.organization_id);
    key.held_nano_usd += amount;
    organization.held_nano_usd += amount;
    organization.balance_nano_usd -= amount;
  }

  private freeMoney(key: KeyRow, amount: number): void {
    if (amount === 0) return;
    this.setAside(key, -amount);
    this.hints.onMoneyFreed(key.organization_id);
  }

  private charge(key: KeyRow, amount: number): void {
    const organization = this.organization(key.organization_id);
    key.held_nano_usd -= amount;
    key.used_nano_usd += amount;
    organization.held_nano_usd -= amount;
    organization.settled_nano_usd += amount;
  }

  private fundsOf(key: KeyRow): { key_free: number | null; balance: number } {
    return {
      key_free:
        key.limit_nano_usd === null
          ? null
          : key.limit_nano_usd - key.used_nano_usd - key.held_nano_usd,
      balance: this.organization(key.organization_id).balance_nano_usd,
    };
  }

  private key(id: string): KeyRow {
    return requireRow(this.rows.keys.get(id), 'api_key', id);
  }

  private organization(id: string): OrganizationRow {
    return requireRow(this.rows.organizations.get(id), 'organization', id);
  }
}

function newGrant(command: GrantCommand): GrantRow {
  return {
    id: command.grant_id,
    key_id: command.key_id,
    organization_id: command.organization_id,
    replica_id: command.replica_id,
    status: 'open',
    granted_nano_usd: 0,
    settled_nano_usd: 0,
    posted_nano_usd: 0,
    recall_acked: 0,
  };
}

function unusableStatus(key: KeyRow): 'inactive' | 'suspended' | 'revoked' | 'expired' | undefined {
  if (key.status !== 'active') return key.status;
  return key.expired ? 'expired' : undefined;
}

function holdEnded(hold: HoldRow): LedgerAnswer {
  if (hold.status === 'held') throw new Error(`hold ${hold.id} has not ended`);
  const { status, amount_nano_usd, charged_nano_usd: charged } = hold;
  return { type: 'hold_ended', status, charged, released: amount_nano_usd - charged };
}

function requireRow<Row>(row: Row | undefined, table: string, id: string): Row {
  if (!row) throw new Error(`${table} ${id} was not locked`);
  return row;
}
