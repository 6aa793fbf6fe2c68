import type { Sql } from 'postgres';
import { addOutcomes } from '../../../db/health/outcomes.ts';
import type { Clock } from '../clock.ts';

const FLUSH_MS = 5_000;
/**
 * The most pairs of channel and model that are counted between two flushes. Outcomes of further
 * pairs are dropped.
 */
const MAX_PAIRS = 20_000;

export interface OutcomesDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The scene (category) of a public model; undefined if the model no longer exists. */
  readonly sceneOf: (model: string) => string | undefined;
  readonly onError: (error: unknown) => void;
}

interface Counts {
  channel_id: string;
  model: string;
  succeeded: number;
  failed: number;
}

/**
 * Counts successes and failures in memory and stores the counts every 5 s, so that no request waits
 * for a write. If a flush fails, its counts are lost. This hardly changes a ranking.
 */
export class OutcomeRecorder {
  private counts = new Map<string, Counts>();
  private stopClock: () => void = () => undefined;
  private flushing: Promise<void> | undefined;

  constructor(private readonly deps: OutcomesDeps) {
    this.schedule();
  }

  record(channel_id: string, model: string, success: boolean): void {
    const name = `${channel_id}\n${model}`;
    let counts = this.counts.get(name);
    if (!counts) {
      if (this.counts.size >= MAX_PAIRS) return;
      counts = { channel_id, model, succeeded: 0, failed: 0 };
      this.counts.set(name, counts);
    }
    if (success) counts.succeeded += 1;
    else counts.failed += 1;
  }

  /** Stores the counts since the last flush. */
  async flush(): Promise<void> {
    const { counts } = this;
    if (counts.size === 0) return;
    this.counts = new Map();
    const outcomes = [...counts.values()].flatMap((each) => {
      const scene = this.deps.sceneOf(each.model);
      return scene === undefined ? [] : [{ ...each, scene }];
    });
    await addOutcomes(this.deps.sql, outcomes);
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.flushing;
    await this.flush().catch(this.deps.onError);
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(FLUSH_MS, () => {
      this.flushing = this.flush()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
