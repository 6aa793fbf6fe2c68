import type { ReachedLimit } from '../../../db/records/record.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Exceeded, LimitedCall, LimitStore, Take, Taken } from './limit.ts';
import { takesOf } from './limit.ts';
import { MoveDue, reachedLimit } from './move-due.ts';
import type { Shares } from './shares.ts';

const NONE: readonly ReachedLimit[] = [];

/** What a call took of the limits of its key. */
export interface LimitLease {
  /** The soft limits that the call exceeds. */
  readonly reached: readonly ReachedLimit[];
  /** Ends the call. `used` is the number of tokens that it used. A second call does nothing. */
  end(used: number): void;
}

/** Limits requests and tokens per minute and calls at the same time, by key and model. */
export class CallLimits {
  constructor(
    private readonly store: LimitStore,
    /** Undefined if all replicas share the counters. */
    private readonly shares?: Pick<Shares, 'ready'>,
  ) {}

  /**
   * Takes what a call needs. Returns undefined if its key has no limits for it. Rejects with WeirError
   * `rate_limit_exceeded` if the call would exceed one that refuses it, or with `MoveDue` if it would exceed one
   * that moves it; then it takes nothing.
   */
  take(call: LimitedCall): Promise<LimitLease> | undefined {
    if (!call.key.limits?.length) return undefined;
    const takes = takesOf(call);
    return takes.length === 0 ? undefined : this.takeAll(takes, call.call_id);
  }

  private async takeAll(takes: readonly Take[], call_id: string): Promise<LimitLease> {
    await this.shares?.ready();
    const taken = await this.store.take(takes, call_id);
    if ('take' in taken) {
      const { move_to } = taken.take;
      throw move_to === undefined
        ? exceededError(taken)
        : new MoveDue(move_to, [reachedLimit(taken)]);
    }
    return this.leaseOf(takes, call_id, taken);
  }

  private leaseOf(takes: readonly Take[], call_id: string, taken: Taken): LimitLease {
    let hasEnded = false;
    return {
      reached: taken.exceeded?.map(reachedLimit) ?? NONE,
      end: (used) => {
        if (hasEnded) return;
        hasEnded = true;
        this.store.end(takes, call_id, taken, used);
      },
    };
  }
}

const SAYS = {
  requests: 'requests per minute',
  tokens: 'tokens per minute',
  calls: 'calls at the same time',
} as const;

function exceededError({ take, wait_ms }: Exceeded): WeirError {
  const { unit, limit, amount, model } = take;
  const of = model === null ? 'this API key' : `this API key for ${model}`;
  if (!Number.isFinite(wait_ms)) {
    const message = `This request may use ${amount} tokens, and the limit of ${of} is ${limit} tokens per minute.`;
    const hint = 'Send a smaller max_tokens or a shorter prompt, or raise the limit.';
    return new WeirError('rate_limit_exceeded', message, { hint, retryable: false });
  }
  const retry_after = Math.max(1, Math.ceil(wait_ms / 1_000));
  const message = `The limit of ${of} is reached: ${limit} ${SAYS[unit]}.`;
  return new WeirError('rate_limit_exceeded', message, {
    ...{ retry_after, hint: `Wait ${retry_after} s before the next request.` },
  });
}
