import type {
  GrantRow,
  HoldRow,
  KeyRow,
  LockedRows,
  OrganizationRow,
} from '../../../db/ledger/rows.ts';
import type { GrantFunds } from '../../machines/grant.ts';
import type { UnusableStatus } from './ledger-commands.ts';
import { MoneyHints } from './money-hints.ts';

/**
 * Moves money between the locked rows of one transaction. Every move changes a key and its
 * organization together, so the sums of both stay right. Amounts are in nano-USD.
 */
export class Books {
  /** The messages for all replicas, to be sent after the commit. */
  readonly hints = new MoneyHints();

  constructor(readonly rows: LockedRows) {}

  /** Adds the grant's charges to the key and the organization, except charges added earlier. */
  post(grant: GrantRow): void {
    const amount = grant.settled_nano_usd - grant.posted_nano_usd;
    this.charge(this.key(grant.key_id), amount);
    grant.posted_nano_usd = grant.settled_nano_usd;
  }

  shrinkGrant(grant: GrantRow, amount: number): void {
    this.freeMoney(this.key(grant.key_id), amount);
    grant.granted_nano_usd -= amount;
  }

  closeHold(hold: HoldRow, status: 'settled' | 'released' | 'expired', charged: number): void {
    const key = this.key(hold.key_id);
    this.charge(key, charged);
    this.freeMoney(key, hold.amount_nano_usd - charged);
    hold.status = status;
    hold.charged_nano_usd = charged;
  }

  setAside(key: KeyRow, amount: number): void {
    const organization = this.organization(key.organization_id);
    key.held_nano_usd += amount;
    organization.held_nano_usd += amount;
    organization.balance_nano_usd -= amount;
  }

  deposit(organization_id: string, amount: number): void {
    const organization = this.organization(organization_id);
    organization.deposited_nano_usd += amount;
    organization.balance_nano_usd += amount;
  }

  /** Adds credit to an organization, or takes it back. */
  addCredit(organization_id: string, amount: number): void {
    this.deposit(organization_id, amount);
    this.organization(organization_id).credit_nano_usd += amount;
  }

  /** Returns why a key may make no calls; undefined if it may. */
  unusableStatus(key: KeyRow): UnusableStatus | undefined {
    const { status } = this.organization(key.organization_id);
    if (status !== 'active') return `organization_${status}`;
    if (key.status !== 'active') return key.status;
    return key.expired ? 'expired' : undefined;
  }

  fundsOf(key: KeyRow): Pick<GrantFunds, 'key_free' | 'balance'> {
    return {
      key_free:
        key.limit_nano_usd === null
          ? null
          : key.limit_nano_usd - key.used_nano_usd - key.held_nano_usd,
      balance: this.organization(key.organization_id).balance_nano_usd,
    };
  }

  key(id: string): KeyRow {
    return requireRow(this.rows.keys.get(id), 'api_key', id);
  }

  organization(id: string): OrganizationRow {
    return requireRow(this.rows.organizations.get(id), 'organization', id);
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
}

function requireRow<Row>(row: Row | undefined, table: string, id: string): Row {
  if (!row) throw new Error(`${table} ${id} was not locked`);
  return row;
}
