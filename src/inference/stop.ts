import type { LeavingSignal } from '../actors/waiting-room.ts';

type Listener = () => void;

/**
 * Gives one upstream up: with the client, or with whoever else is followed, or on its own. What an
 * AbortController does with a signal of many; that one costs each stream several times as much.
 */
export class Stop implements LeavingSignal, EventListenerObject {
  aborted = false;
  reason: unknown;
  private listeners: Set<Listener> | undefined;

  /** Ends with a signal, and for its reason. */
  follow(signal: AbortSignal): void {
    if (signal.aborted) this.abort(signal.reason);
    else signal.addEventListener('abort', this, ONCE);
  }

  /** Once; the first reason stays. */
  abort(
    reason: unknown = new DOMException('the answer is not wanted any more', 'AbortError'),
  ): void {
    if (this.aborted) return;
    this.aborted = true;
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

  /** A signal that is followed was aborted. */
  handleEvent({ target }: Event): void {
    this.abort((target as AbortSignal).reason);
  }
}

const ONCE = { once: true };
