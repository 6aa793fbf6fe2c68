import type { Sql } from 'postgres';
import { readOutcomes } from '../../../db/health/outcomes.ts';
import { buildRanking, readRanking } from '../../../db/health/ranking.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { RANKED_SCENES, type Ranking, rankModels } from '../../catalogue/ranking.ts';
import type { Clock } from '../clock.ts';

const POLL_MS = 15_000;

export interface RankingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly models: () => readonly CatalogueModel[];
  /** How many outcomes a model needs before it is ranked by its share of successes. */
  readonly min_samples: () => number;
  readonly onError: (error: unknown) => void;
}

/** A ranking and the time when it was built. */
export interface RankingSnapshot {
  readonly updated_at: Date;
  readonly ranking: Ranking;
}

/**
 * The ranking of the last 24 hours. One replica builds it each minute; all replicas keep the latest
 * ranking in memory, so a request needs no query.
 */
export class RankingCache {
  private snapshot: RankingSnapshot;
  /** `updated_at` of the ranking that was last read from the database. */
  private stored_at: Date | undefined;
  private stopClock: () => void = () => undefined;
  private polling: Promise<void> | undefined;

  constructor(private readonly deps: RankingDeps) {
    // Until a stored ranking is read, the models are ranked without outcomes.
    this.snapshot = { updated_at: new Date(deps.clock.now()), ranking: this.rank([]) };
  }

  get latest(): RankingSnapshot {
    return this.snapshot;
  }

  /**
   * A model's rank among the models of its scene (category), from 0. An unranked model comes after
   * all others.
   */
  placeOf({ id, category }: Pick<CatalogueModel, 'id' | 'category'>): number {
    const scene = RANKED_SCENES.find((each) => each === category);
    const ranked = (scene && this.snapshot.ranking[scene]) ?? [];
    const at = ranked.findIndex(({ model }) => model === id);
    return at < 0 ? ranked.length : at;
  }

  /** Calls `refresh` now, and then every 15 s. */
  async start(): Promise<void> {
    await this.refresh().catch(this.deps.onError);
    this.schedule();
  }

  async stop(): Promise<void> {
    this.stopClock();
    await this.polling;
  }

  /** Builds and stores a new ranking if one is due. Then reads the stored ranking. */
  async refresh(): Promise<void> {
    const { sql } = this.deps;
    await buildRanking(sql, async (tx) => this.rank(await readOutcomes(tx)));
    const stored = await readRanking(sql);
    if (!stored || (this.stored_at && stored.updated_at <= this.stored_at)) return;
    this.stored_at = stored.updated_at;
    this.snapshot = { updated_at: stored.updated_at, ranking: stored.body as unknown as Ranking };
  }

  private rank(outcomes: Awaited<ReturnType<typeof readOutcomes>>): Ranking {
    return rankModels(this.deps.models(), outcomes, this.deps.min_samples());
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(POLL_MS, () => {
      this.polling = this.refresh()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }
}
