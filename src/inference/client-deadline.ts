import type { ListenableSignal } from '../actors/money/admission-queue.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import { unwatch, type Watched, watch } from '../upstreams/transport/deadlines.ts';

/** The shortest time that a client or an API key can set for a call. */
export const MIN_CLIENT_TIMEOUT_MS = 1_000;
/** The longest time that a client or an API key can set for a call. */
export const MAX_CLIENT_TIMEOUT_MS = 3_600_000;

/** Thrown if the client's deadline passes before the answer is complete. The client gets a 504. */
export class ClientDeadlineError extends WeirError {
  /** `hint` says how the client can get its answer. */
  constructor(message: string, hint: string) {
    super('timeout_error', message, { hint });
  }
}

type Listener = () => void;

/**
 * The signal of a call with a client's deadline. It is aborted when the client leaves, or when the
 * deadline passes. At the deadline, its reason is a ClientDeadlineError. So a call ends at its
 * deadline in the same way as it ends when its client leaves.
 *
 * The signal has no timer of its own. Each time `aborted` is read, it compares the time with the
 * deadline. While it has listeners, the timer of all deadlines (`watch`) checks it too.
 */
export class ClientDeadline implements ListenableSignal, Watched {
  /** The reason of the abort. Undefined before the abort. */
  reason: unknown;
  private isOver = false;
  private isWatched = false;
  private readonly listeners = new Set<Listener>();

  /**
   * `client` is aborted when the client leaves. `expires_at_ms` is a value of `performance.now()`.
   */
  constructor(
    private readonly client: CallSignal,
    private readonly expires_at_ms: number,
    private readonly createError: () => ClientDeadlineError,
  ) {}

  get aborted(): boolean {
    if (this.isOver) return true;
    if (this.client.aborted) this.end(this.client.reason);
    else if (performance.now() >= this.expires_at_ms) this.end(this.createError());
    return this.isOver;
  }

  addEventListener(_: 'abort', listener: Listener): void {
    this.listeners.add(listener);
    if (this.isWatched) return;
    this.isWatched = true;
    watch(this);
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    this.isWatched = false;
    unwatch(this);
  }

  check(): boolean {
    this.isWatched = this.listeners.size > 0 && !this.aborted;
    return this.isWatched;
  }

  private end(reason: unknown): void {
    this.isOver = true;
    this.reason = reason;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}
