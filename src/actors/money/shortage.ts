import type { TransactionSql } from 'postgres';
import { findOpenMoney, type OpenMoney, openMoneyOf } from '../../../db/ledger/in-flight.ts';
import { nextRecall } from '../../../db/ledger/replicas.ts';
import type { KeyRow } from '../../../db/ledger/rows.ts';
import type { Books } from './books.ts';
import type { LedgerAnswer } from './ledger-commands.ts';

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
  async explain(
    short: { bound: 'key' | 'organization'; free: number },
    key: KeyRow,
    request: { grant_id?: string; recall_seq: number | null },
  ): Promise<LedgerAnswer> {
    const { bound, free } = short;
    const { rows, hints } = this.books;
    this.openMoney ??= await findOpenMoney(this.tx, [...rows.organizations.keys()]);
    const others = [...this.withoutLockedRows(this.openMoney), ...openMoneyOf(rows)].filter(
      (open) =>
        (bound === 'key' ? open.key_id === key.id : open.organization_id === key.organization_id) &&
        open.id !== request.grant_id,
    );
    const hasUnrecalled = others.some(
      (open) =>
        open.recallable && (request.recall_seq === null || open.recall_acked < request.recall_seq),
    );
    if (hasUnrecalled) {
      // A recall that was sent before is sent with its number again, because it may be lost.
      const recall_seq = request.recall_seq ?? (await nextRecall(this.tx));
      const key_id = bound === 'key' ? key.id : null;
      hints.onRecall({ seq: recall_seq, organization_id: key.organization_id, key_id });
      return { type: 'contended', recall_seq, free };
    }
    const elsewhere = others.reduce((sum, open) => sum + open.open_nano_usd, 0);
    return { type: 'short', bound, free, elsewhere };
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
