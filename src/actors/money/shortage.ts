import type { TransactionSql } from 'postgres';
import { windowStart } from '../../../db/budgets/calendar.ts';
import { isLimitedBy, type Tags, tagOf } from '../../../db/budgets/tags.ts';
import { readResetTime } from '../../../db/budgets/windows.ts';
import { findOpenMoney, type OpenMoney, openMoneyOf } from '../../../db/ledger/in-flight.ts';
import { nextRecall } from '../../../db/ledger/replicas.ts';
import type { KeyRow } from '../../../db/ledger/rows.ts';
import type { GrantDecision } from '../../machines/grant.ts';
import type { Books, Counted } from './books.ts';
import type { LedgerAnswer, LimitedBy, ReachedBudget } from './ledger-commands.ts';

type Shortage = Extract<GrantDecision, { type: 'short' }>;

/** The request that gets too little money. */
interface ShortRequest {
  /** The grant that it is for; missing for a hold. */
  readonly grant_id?: string;
  readonly recall_seq: number | null;
  /** The day and the tags of the grant or hold. */
  readonly day: string | null;
  readonly tags?: Tags | null | undefined;
}

/** Explains to the ledger commands of one transaction why too little money is free. */
export class ShortageExplainer {
  private openMoney: OpenMoney[] | undefined;

  constructor(
    private readonly tx: TransactionSql,
    private readonly books: Books,
  ) {}

  /**
   * If another grant with money has not acknowledged the recall yet, starts a recall and returns
   * `contended`. Otherwise returns `short`, with the money of other grants and holds.
   */
  async explain(short: Shortage, key: KeyRow, request: ShortRequest): Promise<LedgerAnswer> {
    const { free } = short;
    const others = await this.othersOf(short, key, request);
    const recalled = await this.recall(others, short, key, request);
    if (recalled) return recalled;
    const elsewhere = others.reduce((sum, open) => sum + open.open_nano_usd, 0);
    const bound = await this.boundOf(short, request.day);
    // A grant of a day that has ended gets money only for calls that run.
    const ends_in_ms = request.day === key.day ? key.day_ends_in_ms : 0;
    return { type: 'short', bound, free, elsewhere, ends_in_ms };
  }

  /**
   * If a soft budget is exceeded only because money is held, starts a recall once and returns `contended`. The
   * request that knows the recall goes on, because a soft budget makes no call wait for others.
   */
  async relieve(
    budget_id: string,
    key: KeyRow,
    request: ShortRequest,
  ): Promise<LedgerAnswer | undefined> {
    if (request.recall_seq !== null) return undefined;
    const short: Shortage = { type: 'short', bound: 'budget', budget_id, free: 0 };
    return this.recall(await this.othersOf(short, key, request), short, key, request);
  }

  /** Returns the soft budgets that are exceeded if `amount` more is set aside; undefined if there are none. */
  async reached(key: KeyRow, of: Counted, amount = 0): Promise<ReachedBudget[] | undefined> {
    if (of.day === null) return undefined;
    const reached: ReachedBudget[] = [];
    for (const { budget, is_spent } of this.books.reachedBudgets(key, of, amount)) {
      const { id, period, key_id, when_reached, move_to } = budget;
      if (when_reached === 'refuse') continue;
      const resets_in_ms = await readResetTime(this.tx, budget, of.day);
      const tag = tagOf(budget);
      reached.push({ id, period, key_id, tag, resets_in_ms, when_reached, move_to, is_spent });
    }
    return reached.length > 0 ? reached : undefined;
  }

  /** Returns the grants and holds whose money could relieve a shortage. */
  private async othersOf(short: Shortage, key: KeyRow, request: ShortRequest) {
    const scope = this.scopeOf(short, key, request.day);
    const { rows } = this.books;
    this.openMoney ??= await findOpenMoney(this.tx, [...rows.organizations.keys()]);
    return [...this.withoutLockedRows(this.openMoney), ...openMoneyOf(rows)].filter(
      (open) => scope.has(open) && open.id !== request.grant_id,
    );
  }

  /** Starts a recall if one of `others` may have unused money that was not recalled yet. */
  private async recall(
    others: readonly OpenMoney[],
    short: Shortage,
    key: KeyRow,
    request: ShortRequest,
  ): Promise<LedgerAnswer | undefined> {
    const hasUnrecalled = others.some(
      (open) =>
        open.recallable && (request.recall_seq === null || open.recall_acked < request.recall_seq),
    );
    if (!hasUnrecalled) return undefined;
    // A recall that was sent before is sent with its number again, because it may be lost.
    const recall_seq = request.recall_seq ?? (await nextRecall(this.tx));
    const { organization_id } = key;
    const { key_id, tag } = this.scopeOf(short, key, request.day);
    this.books.hints.onRecall({ seq: recall_seq, organization_id, key_id, ...(tag && { tag }) });
    return { type: 'contended', recall_seq, free: short.free };
  }

  /** Returns which money could relieve a shortage, and the key whose grants a recall must reach. */
  private scopeOf({ bound, budget_id }: Shortage, key: KeyRow, day: string | null) {
    const tag = undefined;
    if (bound === 'key')
      return { key_id: key.id, tag, has: (open: OpenMoney) => open.key_id === key.id };
    const { organization_id } = key;
    const isOwn = (open: OpenMoney) => open.organization_id === organization_id;
    const budget = this.budgetOf(budget_id);
    if (!budget) return { key_id: null, tag, has: isOwn };
    const { key_id, period } = budget;
    const startOf = (of: string | null) => of && windowStart(period, of);
    return {
      key_id,
      tag: tagOf(budget) ?? undefined,
      has: (open: OpenMoney) => isLimitedBy(budget, open) && startOf(open.day) === startOf(day),
    };
  }

  private async boundOf({ bound, budget_id }: Shortage, day: string | null): Promise<LimitedBy> {
    const budget = this.budgetOf(budget_id);
    if (bound !== 'budget' || !budget || day === null)
      return bound === 'key' ? 'key' : 'organization';
    const { id, period, key_id } = budget;
    const resets_in_ms = await readResetTime(this.tx, budget, day);
    return { id, period, key_id, tag: tagOf(budget), resets_in_ms };
  }

  private budgetOf(budget_id: string | undefined) {
    return this.books.rows.budgets.find(({ id }) => id === budget_id);
  }

  /**
   * Returns `openMoney` without the grants and holds whose rows this transaction has locked. The
   * latest amounts of these rows are in memory, and `openMoneyOf` reads them there.
   */
  private withoutLockedRows(openMoney: OpenMoney[]): OpenMoney[] {
    const { grants, holds } = this.books.rows;
    return openMoney.filter(({ id }) => !grants.has(id) && !holds.has(id));
  }
}
