import type { IdSource } from '../clock.ts';
import type { Lane } from './lane.ts';
import type { LedgerAnswer } from './ledger-commands.ts';

export type GrantAnswer = Exclude<LedgerAnswer, { type: 'fenced' }>;

/** Thrown when the row was given up while it was talked about. */
export class GrantFenced extends Error {
  override readonly name = 'GrantFenced';
}

/**
 * The committed side of a quota actor: one `quota_grant` row at a time. It knows what the row says
 * (`granted`), so that a command asks for a change relative to it and may be repeated.
 */
export class Grant {
  /** The row's `granted_nano_usd` as last committed. */
  granted = 0;
  id: string;

  constructor(
    private readonly key_id: string,
    private readonly organization_id: string,
    private readonly deps: { lane: Lane; ids: IdSource; replica_id: () => string },
  ) {
    this.id = deps.ids.uuid();
  }

  /** Asks for `need` to `want` nano-USD more. Throws GrantFenced. */
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

  /** Gives `amount` back and acknowledges a recall; true if the row is closed now. */
  async return(amount: number, recallAcked: number, close: boolean): Promise<boolean> {
    const answer = await this.submit({ type: 'RETURN', amount, recall_acked: recallAcked, close });
    if (answer.type !== 'returned') return false;
    this.granted = answer.granted;
    return answer.closed;
  }

  /** A closed row is never opened again: the next ask opens a new one. */
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
    if (answer.type === 'fenced' || id !== this.id) throw new GrantFenced();
    return answer;
  }
}
