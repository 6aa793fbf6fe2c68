import type { ReachedLimit } from '../../../db/records/record.ts';
import { WeirError } from '../../errors/weir-error.ts';
import {
  type Exceeded,
  type LimitedCall,
  type LimitStore,
  type Taken,
  type Taking,
  takingOf,
} from './limit.ts';
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
   * Takes what a call needs. Returns undefined if its key has no limits for it. Throws or rejects with WeirError
   * `rate_limit_exceeded` if the call would exceed one that refuses it, or with `MoveDue` if it would exceed one
   * that moves it; then it takes nothing. Returns no promise if this replica counts alone, because waiting for a
   * promise costs as much as counting.
   */
  take(call: LimitedCall): Promise<LimitLease> | LimitLease | undefined {
    if (!call.key.limits?.length) return undefined;
    const taking = takingOf(call);
    if (!taking) return undefined;
    const ready = this.shares?.ready();
    return ready ? ready.then(() => this.takeAll(taking)) : this.takeAll(taking);
  }

  private takeAll(taking: Taking): Promise<LimitLease> | LimitLease {
    const taken = this.store.take(taking);
    return taken instanceof Promise
      ? taken.then((later) => this.leaseOf(taking, later))
      : this.leaseOf(taking, taken);
  }

  /** Throws if a limit refuses or moves the call. */
  private leaseOf(taking: Taking, taken: Taken | Exceeded): LimitLease {
    if ('take' in taken) {
      const { move_to } = taken.take;
      throw move_to === undefined
        ? exceededError(taken)
        : new MoveDue(move_to, [reachedLimit(taken)]);
    }
    let hasEnded = false;
    return {
      reached: taken.exceeded?.map(reachedLimit) ?? NONE,
      end: (used) => {
        if (hasEnded) return;
        hasEnded = true;
        this.store.end(taking, taken, used);
      },
    };
  }
}

const SAYS = {
  requests: 'requests per minute',
  tokens: 'tokens per minute',
  calls: 'calls at the same time',
} as const;

function exceededError({ take, amount, wait_ms }: Exceeded): WeirError {
  const { unit, limit, model } = take;
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
