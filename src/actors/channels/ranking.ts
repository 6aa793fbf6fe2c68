import type { Sql } from 'postgres';
import { readOutcomes } from '../../../db/health/outcomes.ts';
import { buildRanking, readRanking } from '../../../db/health/ranking.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { type Ranking, rankModels, SCENES } from '../../catalogue/ranking.ts';
import type { Clock } from '../clock.ts';

const LOOK_MS = 15_000;

export interface RankingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly models: () => readonly CatalogueModel[];
  /** Outcomes that a model needs for a place by its success. */
  readonly min_samples: () => number;
  readonly onError: (error: unknown) => void;
}

/** A ranking, and when it was made. */
export interface RankingSnapshot {
  readonly updated_at: Date;
  readonly ranking: Ranking;
}

/**
 * The ranking of the last 24 hours. One replica builds it each minute; all of them serve the latest
 * from memory, so a request costs no query.
 */
export class RankingCache {
  private snapshot: RankingSnapshot;
  /** When the stored one was made that was taken over last. */
  private taken: Date | undefined;
  private stopClock: () => void = () => undefined;
  private looking: Promise<void> | undefined;

  constructor(private readonly deps: RankingDeps) {
    // Before the first one nothing is known of any model.
    this.snapshot = { updated_at: new Date(deps.clock.now()), ranking: this.rank([]) };
  }

  get latest(): RankingSnapshot {
    return this.snapshot;
  }

  /** A model's place among those of its scene, from 0; after all others where it has none. */
  placeOf({ id, category }: Pick<CatalogueModel, 'id' | 'category'>): number {
    const scene = SCENES.find((each) => each === category);
    const ranked = (scene && this.snapshot.ranking[scene]) ?? [];
    const at = ranked.findIndex(({ model }) => model === id);
    return at < 0 ? ranked.length : at;
  }

  /** Looks at once, and then again and again. */
  async start(): Promise<void> {
    await this.refresh().catch(this.deps.onError);
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.looking;
  }

  /** Builds it if it is time, and takes over the latest. */
  async refresh(): Promise<void> {
    const { sql } = this.deps;
    await buildRanking(sql, async (tx) => this.rank(await readOutcomes(tx)));
    const stored = await readRanking(sql);
    if (!stored || (this.taken && stored.updated_at <= this.taken)) return;
    this.taken = stored.updated_at;
    this.snapshot = { updated_at: stored.updated_at, ranking: stored.body as unknown as Ranking };
  }

  private rank(outcomes: Awaited<ReturnType<typeof readOutcomes>>): Ranking {
    return rankModels(this.deps.models(), outcomes, this.deps.min_samples());
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(LOOK_MS, () => {
      this.looking = this.refresh()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
