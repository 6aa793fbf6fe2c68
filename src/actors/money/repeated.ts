import type { Clock } from '../clock.ts';

/** After work that took `t`, a request starts no other one for `5 t`. */
const PAUSE_FACTOR = 5;

/** What work returned. */
export interface Done<Result> {
  readonly result: Result;
  /** When the work began, milliseconds since the Unix epoch. */
  readonly began_at_ms: number;
  readonly took_ms: number;
}

export interface RepeatedDeps<Result> {
  readonly clock: Clock;
  readonly work: () => Promise<Result>;
  readonly first_after_ms: number;
  /** The pause between two runs, ms. It is longer if a run takes long. */
  readonly every_ms: number;
  readonly onError: (error: unknown) => void;
}

/** Work that runs at intervals and on request, one run at a time. Its last result is kept. */
export class Repeated<Result> {
  /** The result of the last run; undefined before the first one has ended. */
  latest: Done<Result> | undefined;
  private stopClock: () => void = () => undefined;
  private running:
    | { readonly began_at_ms: number; readonly done: Promise<Done<Result>> }
    | undefined;
  private isStopped = false;

  constructor(private readonly deps: RepeatedDeps<Result>) {
    this.schedule(deps.first_after_ms);
  }

  /** Runs the work now. If it is running, returns the result of this run. */
  run(): Promise<Done<Result>> {
    if (!this.running) {
      const began_at_ms = this.deps.clock.now();
      const done = this.once(began_at_ms).finally(() => {
        this.running = undefined;
      });
      this.running = { began_at_ms, done };
    }
    return this.running.done;
  }

  /**
   * Starts the work if it is not running, unless the last run has just ended. Waits until the run is `wait_ms`
   * old. Returns the last result; undefined if there is none. Does not wait if the last run took longer.
   */
  async runWithin(wait_ms: number): Promise<Done<Result> | undefined> {
    const { latest } = this;
    const { clock } = this.deps;
    const rested_ms = latest
      ? clock.now() - latest.began_at_ms - latest.took_ms
      : Number.POSITIVE_INFINITY;
    if (latest && rested_ms < latest.took_ms * PAUSE_FACTOR) return latest;
    const done = this.run();
    // If nobody waits, nobody else receives the error.
    done.catch((error) => this.report(error));
    const isLong = latest !== undefined && latest.took_ms > wait_ms;
    const left_ms = wait_ms - (clock.now() - (this.running?.began_at_ms ?? 0));
    if (isLong || left_ms <= 0) return latest;
    let stopWaiting: () => void = () => undefined;
    const late = new Promise<undefined>((resolve) => {
      stopWaiting = clock.after(left_ms, () => resolve(undefined));
    });
    try {
      return (await Promise.race([done, late])) ?? this.latest;
    } finally {
      stopWaiting();
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopClock();
    await this.running?.done.catch(() => undefined);
  }

  private async once(began_at_ms: number): Promise<Done<Result>> {
    const result = await this.deps.work();
    const took_ms = this.deps.clock.now() - began_at_ms;
    this.latest = { result, began_at_ms, took_ms };
    return this.latest;
  }

  private report(error: unknown): void {
    // `stop` may end the work in its middle.
    if (!this.isStopped) this.deps.onError(error);
  }

  private schedule(delay_ms: number): void {
    if (this.isStopped) return;
    this.stopClock = this.deps.clock.after(delay_ms, () => {
      this.run()
        .catch((error) => this.report(error))
        .finally(() => {
          const rest_ms = (this.latest?.took_ms ?? 0) * PAUSE_FACTOR;
          this.schedule(Math.max(this.deps.every_ms, rest_ms));
        });
    });
  }
}
