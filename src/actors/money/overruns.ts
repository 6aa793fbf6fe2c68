import type { Clock } from '../clock.ts';
import type { GrantAnswer } from './grant.ts';
import type { QuotaMachine } from './quota-machine.ts';

/**
 * How long an overrun waits for unused money of other replicas, from the ledger's first answer.
 * After this time it takes what is free, and the platform absorbs the rest.
 */
const OVERRUN_WAIT_MS = 2_000;

/** A call that has run and costs `amount` nano-USD more than its reservation. */
interface Overrun {
  amount: number;
  /** The end of the wait, on the clock of the actor; undefined before the first answer. */
  waits_until: number | undefined;
  /** True if a second recall was started. */
  recalls_again: boolean;
  resolve: (added: number) => void;
}

/**
 * The ended calls of one key whose charge exceeds their reservation. Each gets free money of the key
 * and the organization before it is charged.
 */
export class Overruns {
  /** The number of the recall that an earlier answer started; null = none. */
  recall_seq: number | null = null;
  private readonly queue: Overrun[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly machine: QuotaMachine,
  ) {}

  get first(): Overrun | undefined {
    return this.queue[0];
  }

  /** The nano-USD that the grant lacks for the first overrun. */
  get missing(): number {
    return (this.first?.amount ?? 0) - this.machine.idle;
  }

  /** Adds an overrun. Resolves with the nano-USD that its reservation was extended by. */
  push(amount: number): Promise<number> {
    return new Promise((resolve) =>
      this.queue.push({ amount, waits_until: undefined, recalls_again: false, resolve }),
    );
  }

  /**
   * Called if the ledger has less than `missing`. Returns true if other replicas may return unused
   * money in time. Otherwise lowers the first overrun to the money that is free now.
   */
  mustWait(answer: GrantAnswer): boolean {
    const { first } = this;
    if (!first) return false;
    const mayRecallAgain = answer.type === 'short' && answer.elsewhere > 0 && !first.recalls_again;
    if (answer.type === 'contended' || mayRecallAgain) {
      // After it answered the recall, a replica may have got money again that it does not use. So
      // the first `short` for an overrun starts a second recall.
      first.recalls_again = answer.type === 'short' || first.recalls_again;
      this.recall_seq = answer.type === 'contended' ? answer.recall_seq : null;
      first.waits_until ??= this.clock.now() + OVERRUN_WAIT_MS;
      if (this.clock.now() < first.waits_until) return true;
    }
    const isShort = answer.type === 'contended' || answer.type === 'short';
    first.amount = this.machine.idle + (isShort ? answer.free : 0);
    return false;
  }

  /** If the grant covers the first overrun now, ends that overrun and returns true. */
  takeIdle(): boolean {
    const { first } = this;
    if (!first || first.amount > this.machine.idle) return false;
    if (first.amount > 0) this.machine.send({ type: 'EXTEND', amount: first.amount });
    this.queue.shift();
    this.recall_seq = null;
    first.resolve(first.amount);
    return true;
  }

  /** Ends all overruns. Their calls get no money beyond their reservations. */
  giveUp(): void {
    this.recall_seq = null;
    for (const { resolve } of this.queue.splice(0)) resolve(0);
  }
}
