import type { Clock } from '../clock.ts';

/** Pause before a failed read is repeated. */
const RETRY_MS = 1_000;

export interface RereadDeps {
  readonly clock: Clock;
  /** Reads rows and applies them to the memory of this replica. */
  readonly read: () => Promise<void>;
  /** Called for each failed read; must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads rows again whenever they may have changed. One read runs at a time, so an older result
 * never replaces a newer one. A failed read is repeated until it succeeds.
 */
export class Reread {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;
  private cancelRetry: () => void = () => undefined;
  private isStopped = false;

  constructor(private readonly deps: RereadDeps) {}

  /** Requests a read without waiting for it. */
  request(): void {
    this.readNow().catch(() => undefined);
  }

  /**
   * Requests a read that starts after this call, and resolves when this read has ended. Rejects if
   * this read fails; the read is then repeated in the background.
   */
  readNow(): Promise<void> {
    if (this.isStopped) return Promise.resolve();
    if (!this.running) return this.start();
    // The running read may have started before the change.
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.isStopped ? undefined : this.start();
      });
    return this.next;
  }

  /** After this call no read is started. */
  stop(): void {
    this.isStopped = true;
    this.cancelRetry();
  }

  private start(): Promise<void> {
    this.cancelRetry();
    const read = this.deps.read();
    this.running = read;
    read.then(
      () => this.onEnd(),
      (error: unknown) => {
        this.onEnd();
        this.deps.onError(error);
        if (!this.isStopped)
          this.cancelRetry = this.deps.clock.after(RETRY_MS, () => this.request());
      },
    );
    return read;
  }

  private onEnd(): void {
    this.running = undefined;
  }
}
