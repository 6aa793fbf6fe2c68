import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { CallSignal } from '../../upstreams/contract.ts';

type Listener = () => void;

/**
 * Gives one upstream up: with whoever is followed, or on its own. What an AbortController does with a
 * signal of many; that one costs each stream several times as much.
 *
 * Whoever is followed is not listened to: it is looked at when this is looked at.
 */
export class StopSignal implements ListenableSignal {
  /** Why; the first reason stays. Only of use once it is aborted. */
  reason: unknown;
  private stopped = false;
  private readonly followed: readonly CallSignal[];
  private listeners: Set<Listener> | undefined;

  constructor(...followed: readonly CallSignal[]) {
    this.followed = followed;
  }

  get aborted(): boolean {
    if (this.stopped) return true;
    for (const signal of this.followed) if (signal.aborted) this.abort(signal.reason);
    return this.stopped;
  }

  /** Once. */
  abort(
    reason: unknown = new DOMException('the answer is not wanted any more', 'AbortError'),
  ): void {
    if (this.stopped) return;
    this.stopped = true;
    this.reason = reason;
    for (const listener of this.listeners ?? []) listener();
    this.listeners = undefined;
  }

  addEventListener(_: 'abort', listener: Listener): void {
    this.listeners ??= new Set();
    this.listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    this.listeners?.delete(listener);
  }
}
