import type { IdSource } from '../clock.ts';
import type { Lane } from './lane.ts';
import type { LedgerAnswer } from './ledger-commands.ts';

/**
 * The ledger's answer to a GRANT or RETURN command. The answer `fenced` is left out, because it is
 * thrown as GrantFencedError.
 */
export type GrantAnswer = Exclude<LedgerAnswer, { type: 'fenced' }>;

/**
 * Thrown if this replica was declared dead, if the grant's row is closed, or if `replace` was
 * called while a command ran.
 */
export class GrantFencedError extends Error {
  override readonly name = 'GrantFenced';
}

/**
 * The `quota_grant` row of a quota actor. Each command carries the amount that was last committed
 * (`granted`), so the ledger recognises a repeated command.
 */
export class Grant {
  /** `granted_nano_usd` of the row, as the ledger last answered it. */
  granted = 0;
  id: string;

  constructor(
    private readonly key_id: string,
    private readonly organization_id: string,
    private readonly deps: { lane: Lane; ids: IdSource; replica_id: () => string },
  ) {
    this.id = deps.ids.uuid();
  }

  /**
   * Requests at least `need` and at most `want` more nano-USD, and returns the ledger's answer.
   * `recallSeq` is the number of the recall that an earlier `contended` answer started. A recall
   * asks for the unused money of other grants. Throws GrantFencedError.
   */
  async request(need: number, want: number, recallSeq: number | null): Promise<GrantAnswer> {
    const answer = await this.submit({
      type: 'GRANT',
      replica_id: this.deps.replica_id(),
      need,
      want,
      recall_seq: recallSeq,
    });
    if (answer.type === 'granted') this.granted = answer.granted;
    return answer;
  }

  /**
   * Returns `amount` nano-USD to the ledger and acknowledges all recalls up to `recallAcked`. If
   * `close` is true, the row may be closed. Resolves with true if it is closed now. Throws
   * GrantFencedError.
   */
  async return(amount: number, recallAcked: number, close: boolean): Promise<boolean> {
    const answer = await this.submit({ type: 'RETURN', amount, recall_acked: recallAcked, close });
    if (answer.type !== 'returned') return false;
    this.granted = answer.granted;
    return answer.closed;
  }

  /** Lets the next request open a new row, because a closed row is never opened again. */
  replace(): void {
    this.id = this.deps.ids.uuid();
    this.granted = 0;
  }

  private async submit(
    change:
      | { type: 'GRANT'; replica_id: string; need: number; want: number; recall_seq: number | null }
      | { type: 'RETURN'; amount: number; recall_acked: number; close: boolean },
  ): Promise<GrantAnswer> {
    const { id } = this;
    const answer = await this.deps.lane.submit({
      ...change,
      grant_id: id,
      key_id: this.key_id,
      organization_id: this.organization_id,
      expected_granted: this.granted,
    });
    if (answer.type === 'fenced' || id !== this.id) throw new GrantFencedError();
    return answer;
  }
}
