import { WeirError } from '../../errors/weir-error.ts';

/**
 * Database lookups under way, one per name: whoever asks for the same thing meanwhile shares it.
 * Bounded, so that a flood of unknown keys cannot fill the pool's queue.
 */
export class SharedLookups<Result> {
  private readonly running = new Map<string, Promise<Result>>();

  constructor(private readonly max_running: number) {}

  /** Throws WeirError `service_unavailable` when too many are under way. */
  run(name: string, look: () => Promise<Result>): Promise<Result> {
    const same = this.running.get(name);
    if (same) return same;
    if (this.running.size >= this.max_running) {
      throw new WeirError('service_unavailable', 'Too many keys are being looked up.', {
        retry_after: 1,
      });
    }
    const lookup = look().finally(() => {
      if (this.running.get(name) === lookup) this.running.delete(name);
    });
    this.running.set(name, lookup);
    return lookup;
  }

  /** Whoever asks from now on gets what is committed from now on. */
  forget(): void {
    this.running.clear();
  }
}
