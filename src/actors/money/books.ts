import { windowStart } from '../../../db/budgets/calendar.ts';
import { isLimitedBy, type Tags } from '../../../db/budgets/tags.ts';
import type { BudgetRow, WindowSums } from '../../../db/budgets/windows.ts';
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

/** What chooses the windows in which a grant or a hold counts: its day, and its tags that have budgets. */
export interface Counted {
  readonly day: string | null;
  readonly tags: Tags | null;
}

/** A window of a budget. */
interface BudgetWindow {
  readonly budget: BudgetRow;
  readonly window: WindowSums;
}

/**
 * Moves money between the locked rows of one transaction. Every move changes a key and its
 * organization together, so the sums of both stay right. Amounts are in nano-USD.
 *
 * What a key's cap counts of a call on an own key may be more than its charge. The difference is money that
 * returns to the organization, and stays used in the key.
 *
 * Budgets count what the caps of keys count. The `day` and the `tags` of a grant or a hold choose the windows.
 */
export class Books {
  /** The messages for all replicas, to be sent after the commit. */
  readonly hints = new MoneyHints();

  constructor(readonly rows: LockedRows) {}

  /** Adds the grant's charges to the key and the organization, except charges added earlier. */
  post(grant: GrantRow): void {
    const amount = grant.settled_nano_usd - grant.posted_nano_usd;
    const uncharged = grant.uncharged_nano_usd - grant.uncharged_posted_nano_usd;
    this.charge(this.key(grant.key_id), grant, amount, uncharged);
    grant.posted_nano_usd = grant.settled_nano_usd;
    grant.uncharged_posted_nano_usd = grant.uncharged_nano_usd;
  }

  shrinkGrant(grant: GrantRow, amount: number): void {
    this.freeMoney(this.key(grant.key_id), grant, amount);
    grant.granted_nano_usd -= amount;
  }

  /** Ends a hold. `counted` is what the key's cap counts of it, which is at least its charge. */
  closeHold(
    hold: HoldRow,
    status: 'settled' | 'released' | 'expired',
    charged: number,
    counted = charged,
  ): void {
    const key = this.key(hold.key_id);
    this.charge(key, hold, counted, counted - charged);
    this.freeMoney(key, hold, hold.amount_nano_usd - counted);
    hold.status = status;
    hold.charged_nano_usd = charged;
    hold.uncharged_nano_usd = counted - charged;
  }

  /** Sets money aside for a grant or a hold. */
  setAside(key: KeyRow, of: Counted, amount: number): void {
    const organization = this.organization(key.organization_id);
    key.held_nano_usd += amount;
    organization.held_nano_usd += amount;
    organization.balance_nano_usd -= amount;
    for (const { window } of this.windowsOf(key, of)) window.held_nano_usd += amount;
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

  /** Returns the free money for a grant or a hold. */
  fundsOf(key: KeyRow, of: Counted): Omit<GrantFunds, 'replicas'> {
    const windows = this.windowsOf(key, of);
    return {
      key_free:
        key.limit_nano_usd === null
          ? null
          : key.limit_nano_usd - key.used_nano_usd - key.held_nano_usd,
      balance: this.organization(key.organization_id).balance_nano_usd,
      budgets: windows
        .filter(({ budget }) => budget.when_reached === 'refuse')
        .map((each) => ({ id: each.budget.id, free: freeIn(each) })),
      soft: softOf(windows).map((each) => ({
        ...{ id: each.budget.id, free: freeIn(each), is_spent: isSpent(each) },
      })),
    };
  }

  /** Returns the soft budgets whose windows are exceeded if `amount` more is set aside. */
  reachedBudgets(
    key: KeyRow,
    of: Counted,
    amount: number,
  ): { budget: BudgetRow; is_spent: boolean }[] {
    return softOf(this.windowsOf(key, of))
      .filter((each) => freeIn(each) < amount)
      .map((each) => ({ budget: each.budget, is_spent: isSpent(each) }));
  }

  key(id: string): KeyRow {
    return requireRow(this.rows.keys.get(id), 'api_key', id);
  }

  organization(id: string): OrganizationRow {
    return requireRow(this.rows.organizations.get(id), 'organization', id);
  }

  /** Returns the windows that limit money of a key. */
  private windowsOf(
    { id: key_id, organization_id }: KeyRow,
    { day, tags }: Counted,
  ): BudgetWindow[] {
    const { budgets } = this.rows;
    if (budgets.length === 0 || day === null) return [];
    return budgets.flatMap((budget) => {
      const isLimited = isLimitedBy(budget, { organization_id, key_id, tags });
      const window = isLimited && budget.windows.get(windowStart(budget.period, day));
      return window ? [{ budget, window }] : [];
    });
  }

  private freeMoney(key: KeyRow, of: Counted, amount: number): void {
    if (amount === 0) return;
    this.setAside(key, of, -amount);
    this.hints.onMoneyFreed(key.organization_id);
  }

  /** Turns held money into used money. The organization gets the part back that is not charged. */
  private charge(key: KeyRow, of: Counted, counted: number, uncharged: number): void {
    const organization = this.organization(key.organization_id);
    key.held_nano_usd -= counted;
    key.used_nano_usd += counted;
    key.uncharged_nano_usd += uncharged;
    organization.held_nano_usd -= counted;
    organization.settled_nano_usd += counted - uncharged;
    for (const { window } of this.windowsOf(key, of)) {
      window.held_nano_usd -= counted;
      window.used_nano_usd += counted;
    }
    if (uncharged === 0) return;
    organization.balance_nano_usd += uncharged;
    this.hints.onMoneyFreed(key.organization_id);
  }
}

function softOf(windows: readonly BudgetWindow[]): BudgetWindow[] {
  return windows.filter(({ budget }) => budget.when_reached !== 'refuse');
}

function freeIn({ budget, window }: BudgetWindow): number {
  return budget.limit_nano_usd - window.used_nano_usd - window.held_nano_usd;
}

function isSpent({ budget, window }: BudgetWindow): boolean {
  return window.used_nano_usd >= budget.limit_nano_usd;
}

function requireRow<Row>(row: Row | undefined, table: string, id: string): Row {
  if (!row) throw new Error(`${table} ${id} was not locked`);
  return row;
}
