import type { ListenableSignal } from '../../actors/money/admission-queue.ts';
import type { CallSignal } from '../../upstreams/contract.ts';

type Listener = () => void;

/**
 * Stops the exchange with one upstream. It aborts when one of its sources is aborted, or when
 * `abort` is called. AbortSignal.any does the same, but needs several times the computing time.
 *
 * A StopSignal has no listeners on its sources. It reads the sources when `aborted` is read. So
 * after the abort of a source, the listeners of the StopSignal are called only when `aborted` is
 * read.
 */
export class StopSignal implements ListenableSignal {
  /** The reason of the first abort. Undefined before the abort. */
  reason: unknown;
  private isStopped = false;
  private readonly sources: readonly CallSignal[];
  private listeners: Set<Listener> | undefined;

  constructor(...sources: readonly CallSignal[]) {
    this.sources = sources;
  }

  get aborted(): boolean {
    if (this.isStopped) return true;
    for (const signal of this.sources) if (signal.aborted) this.abort(signal.reason);
    return this.isStopped;
  }

  /** Aborts the signal and calls its listeners. Only the first call has an effect. */
  abort(reason: unknown = new DOMException('the answer is no longer needed', 'AbortError')): void {
    if (this.isStopped) return;
    this.isStopped = true;
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
