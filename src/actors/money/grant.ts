import type { Tags } from '../../../db/budgets/tags.ts';
import type { IdSource } from '../clock.ts';
import type { Lane } from './lane.ts';
import type { GrantCommand, LedgerAnswer, ReturnCommand } from './ledger-commands.ts';

/**
 * The ledger's answer to a GRANT or RETURN command. The answer `fenced` is left out, because it is
 * thrown as GrantFencedError.
 */
export type GrantAnswer = Exclude<LedgerAnswer, { type: 'fenced' }>;

/** A grant's row as the actor of its key believes it to be, nano-USD. */
export interface HeldGrant {
  grant_id: string;
  granted: number;
  settled: number;
  /** True while a command of the actor may change the row. Then the amounts may differ from it. */
  busy: boolean;
}

/** Thrown if the replica of a grant was declared dead, or if the grant's row is closed. */
export class GrantFencedError extends Error {
  override readonly name = 'GrantFenced';
}

/** What a grant needs to reach the ledger. */
export interface GrantDeps {
  lane: Lane;
  ids: IdSource;
  replica_id: () => string;
}

/**
 * One `quota_grant` row of a quota actor. Only one command at a time may change the row. Each
 * command carries the amount of the row in the ledger's last answer (`granted`). If the row has
 * another amount, an earlier command changed it and its answer was lost. Then the ledger does not
 * change the row again, and its answer contains the present amount.
 */
export class Grant {
  readonly id: string;
  /**
   * The id of the replica that owns the row. It never changes: if the process registers under a new
   * id, this grant keeps the old id, and the ledger closes it as a grant of a dead replica.
   */
  readonly replica_id: string;
  /** `granted_nano_usd` of the row in the ledger's last answer. */
  granted = 0;
  /** The sum of the charges that were sent to the ledger and have no answer yet, nano-USD. */
  unanswered = 0;
  private isOutcomeUnknown = false;

  constructor(
    private readonly key_id: string,
    private readonly organization_id: string,
    private readonly deps: GrantDeps,
    /** The tags of its calls that have budgets; undefined = none. */
    private readonly tags?: Tags,
  ) {
    this.id = deps.ids.uuid();
    this.replica_id = deps.replica_id();
  }

  /** True after a command was sent, until the ledger has answered this command or a later one. */
  get isUncertain(): boolean {
    return this.isOutcomeUnknown;
  }

  /**
   * Requests at least `need` and at most `want` more nano-USD, and returns the ledger's answer.
   * `recall_seq` is the number of the recall that an earlier `contended` answer started. A recall
   * asks for the unused money of other grants. Throws GrantFencedError.
   */
  async request(
    request: Pick<GrantCommand, 'need' | 'want' | 'recall_seq' | 'for_overrun' | 'in_flight'>,
  ): Promise<GrantAnswer> {
    const { replica_id } = this;
    const tags = this.tags && { tags: this.tags };
    const answer = await this.submit({
      type: 'GRANT',
      replica_id,
      ...request,
      ...tags,
    });
    if (answer.type === 'granted') this.granted = answer.granted;
    return answer;
  }

  /**
   * Returns `amount` nano-USD to the ledger and acknowledges all recalls up to `recall_acked`. If
   * `close` is true, the row may be closed. Resolves with true if it is closed now, or if there is
   * no row. Throws GrantFencedError.
   */
  async return(
    request: Pick<ReturnCommand, 'amount' | 'recall_acked' | 'close'>,
  ): Promise<boolean> {
    const answer = await this.submit({ type: 'RETURN', ...request });
    if (answer.type !== 'returned') return false;
    this.granted = answer.granted;
    return answer.closed;
  }

  private async submit(
    change:
      | Omit<GrantCommand, 'grant_id' | 'key_id' | 'organization_id' | 'expected_granted'>
      | Pick<ReturnCommand, 'type' | 'amount' | 'recall_acked' | 'close'>,
  ): Promise<GrantAnswer> {
    this.isOutcomeUnknown = true;
    const answer = await this.deps.lane.submit({
      ...change,
      grant_id: this.id,
      key_id: this.key_id,
      organization_id: this.organization_id,
      expected_granted: this.granted,
    });
    this.isOutcomeUnknown = false;
    if (answer.type === 'fenced') throw new GrantFencedError();
    return answer;
  }
}
