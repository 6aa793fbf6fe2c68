import type { HoldRow, KeyRow } from '../../../db/ledger/rows.ts';
import type { UsageLine } from '../../../db/ledger/usage-line.ts';
import { decideAmount } from '../../machines/grant.ts';
import type { Books, Counted } from './books.ts';
import type {
  EndHoldCommand,
  ExtendHoldCommand,
  HoldCommand,
  LedgerAnswer,
  SettleHoldCommand,
} from './ledger-commands.ts';
import type { ShortageExplainer } from './shortage.ts';

/** Applies the commands for holds to the locked rows of one transaction. */
export class HoldCommands {
  /** The usage lines of the holds that were settled, to be inserted. */
  readonly lines: (UsageLine & { hold_id: string })[] = [];

  constructor(
    private readonly books: Books,
    private readonly shortage: ShortageExplainer,
  ) {}

  async hold(command: HoldCommand): Promise<LedgerAnswer> {
    const { rows } = this.books;
    const existing = rows.holds.get(command.hold_id);
    if (existing) return existing.status === 'held' ? { type: 'held' } : holdEnded(existing);
    const key = rows.keys.get(command.key_id);
    if (!key) return { type: 'not_found' };
    const unusable = this.books.unusableStatus(key);
    if (unusable) return { type: 'key_unusable', status: unusable };
    const { day } = key;
    const tags = command.tags ?? null;
    const counted = { day, tags };
    // A call that moves needs no money for the model that it asked for.
    const over = command.stop_at_soft
      ? await this.shortage.reached(key, counted, command.amount)
      : undefined;
    if (over?.some(({ is_spent }) => is_spent)) return { type: 'over_soft', reached: over };
    const { amount, recall_seq = null } = command;
    const refused = await this.setAside(key, counted, amount, recall_seq, true);
    if (refused) return refused;
    const reached = command.stop_at_soft && (await this.shortage.reached(key, counted));
    if (reached) {
      this.books.setAside(key, counted, -command.amount);
      return { type: 'over_soft', reached };
    }
    rows.holds.set(command.hold_id, {
      id: command.hold_id,
      key_id: key.id,
      organization_id: key.organization_id,
      status: 'held',
      amount_nano_usd: command.amount,
      charged_nano_usd: 0,
      uncharged_nano_usd: 0,
      reference: command.reference,
      expires_at: command.expires_at,
      ...counted,
    });
    return { type: 'held' };
  }

  async extend(command: ExtendHoldCommand): Promise<LedgerAnswer> {
    const hold = this.books.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status !== 'held') return holdEnded(hold);
    const extra = command.amount - hold.amount_nano_usd;
    if (extra <= 0) return { type: 'held' };
    const refused = await this.setAside(this.books.key(hold.key_id), hold, extra, null);
    if (refused) return refused;
    hold.amount_nano_usd = command.amount;
    return { type: 'held' };
  }

  /** Charges a hold. If the charge exceeds the hold, free money is added to the hold first. */
  settle(command: SettleHoldCommand): LedgerAnswer {
    const hold = this.books.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status !== 'held') return holdEnded(hold);
    const { charged_nano_usd: due, counted_nano_usd: counts = due } = command.line;
    const added = this.addFreeMoney(hold, counts - hold.amount_nano_usd);
    const counted = Math.min(counts, hold.amount_nano_usd);
    const charged = Math.min(due, counted);
    const overrun = command.line.overrun_nano_usd + (due - charged);
    this.books.closeHold(hold, 'settled', charged, counted);
    this.lines.push({
      ...command.line,
      hold_id: hold.id,
      charged_nano_usd: charged,
      overrun_nano_usd: overrun,
      ...(counted === charged ? {} : { counted_nano_usd: counted }),
    });
    return added > 0 ? { ...holdEnded(hold), added } : holdEnded(hold);
  }

  end(command: EndHoldCommand): LedgerAnswer {
    const hold = this.books.rows.holds.get(command.hold_id);
    if (!hold) return { type: 'not_found' };
    if (hold.status === 'held') {
      this.books.closeHold(hold, command.type === 'RELEASE_HOLD' ? 'released' : 'expired', 0);
    }
    return holdEnded(hold);
  }

  /** Adds at most `missing` nano-USD to the hold, and returns how much was free. */
  private addFreeMoney(hold: HoldRow, missing: number): number {
    const key = this.books.key(hold.key_id);
    const { key_free, balance, budgets } = this.books.fundsOf(key, hold);
    const free = Math.min(key_free ?? missing, balance, ...budgets.map((budget) => budget.free));
    const added = Math.max(0, Math.min(missing, free));
    this.books.setAside(key, hold, added);
    hold.amount_nano_usd += added;
    return added;
  }

  /**
   * Sets money aside for a hold. Returns undefined if this succeeds. If the money is not free, returns
   * the answer `contended` or `short`.
   */
  private async setAside(
    key: KeyRow,
    counted: Counted,
    amount: number,
    recall_seq: number | null,
    isNew = false,
  ): Promise<LedgerAnswer | undefined> {
    const decision = decideAmount(
      { need: amount, want: amount },
      { ...this.books.fundsOf(key, counted), replicas: 1 },
    );
    if (decision.type === 'short') {
      const { day, tags } = counted;
      return this.shortage.explain(decision, key, { day, tags, recall_seq });
    }
    if (decision.crowded_id !== undefined && isNew) {
      const request = { ...counted, recall_seq };
      const recalled = await this.shortage.relieve(decision.crowded_id, key, request);
      if (recalled) return recalled;
    }
    this.books.setAside(key, counted, amount);
    return undefined;
  }
}

function holdEnded(hold: HoldRow): Extract<LedgerAnswer, { type: 'hold_ended' }> {
  if (hold.status === 'held') throw new Error(`hold ${hold.id} has not ended`);
  const { status, amount_nano_usd, charged_nano_usd: charged } = hold;
  return { type: 'hold_ended', status, charged, released: amount_nano_usd - charged };
}
