import { WeirError } from '../../errors/weir-error.ts';

/**
 * Database lookups under way. Requests for the same name share one lookup. The number of lookups is
 * limited, so that a flood of unknown keys cannot fill the queue of the connection pool.
 */
export class SharedLookups<Result> {
  private readonly running = new Map<string, Promise<Result>>();

  constructor(private readonly max_running: number) {}

  /**
   * Returns the result of the running lookup of `name`, or starts one. Throws WeirError
   * `service_unavailable` if too many lookups run.
   */
  run(name: string, load: () => Promise<Result>): Promise<Result> {
    const running = this.running.get(name);
    if (running) return running;
    if (this.running.size >= this.max_running) {
      throw new WeirError('service_unavailable', 'Too many API keys are being checked now.', {
        retry_after: 1,
      });
    }
    const lookup = load().finally(() => {
      if (this.running.get(name) === lookup) this.running.delete(name);
    });
    this.running.set(name, lookup);
    return lookup;
  }

  /**
   * After this call, `run` does not share the lookups that are running now. It starts new lookups,
   * which read the latest commits.
   */
  detachAll(): void {
    this.running.clear();
  }
}
