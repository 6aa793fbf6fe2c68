import type { Sql } from 'postgres';
import { addOutcomes } from '../../../db/health/outcomes.ts';
import type { Clock } from '../clock.ts';

const FLUSH_MS = 5_000;
/** Pairs of channel and model between two flushes; more are not counted. */
const MAX_PAIRS = 20_000;

export interface OutcomesDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The category of a public model; undefined = it is gone. */
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
 * Counts how calls went and writes it down every few seconds, many at once: nothing of it is on a
 * request's path. A flush that fails is lost, which changes no ranking that matters.
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

  /** Writes down what was counted. */
  async flush(): Promise<void> {
    const { counts } = this;
    if (counts.size === 0) return;
    this.counts = new Map();
    const said = [...counts.values()].flatMap((each) => {
      const scene = this.deps.sceneOf(each.model);
      return scene === undefined ? [] : [{ ...each, scene }];
    });
    await addOutcomes(this.deps.sql, said);
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
