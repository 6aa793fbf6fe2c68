import type { CatalogueModel } from './catalogue.ts';
import { CATEGORIES, type Category } from './schema.ts';

/** The scenes that have a ranking (spec: Model catalogue, `recommended_for`). */
export const RANKED_SCENES = CATEGORIES.filter(
  (category): category is Exclude<Category, 'chat' | 'audio'> =>
    category !== 'chat' && category !== 'audio',
);
export type RankedScene = (typeof RANKED_SCENES)[number];

/**
 * The default of `min_samples`: a model with fewer outcomes is not ranked by its success rate
 * (spec: `insufficient_samples`).
 */
export const DEFAULT_MIN_SAMPLES = 20;
const RATE_DIGITS = 10_000;

/** One entry of a scene's ranking (spec: `agent_preferences`). */
interface RankedModel {
  readonly model: string;
  /** Share of successful outcomes, 0 to 1. It is 0 if there are no outcomes. */
  readonly success_rate: number;
  readonly samples: number;
  /** True if the model has enough outcomes to be ranked by its success rate. */
  readonly ready: boolean;
}

/** For each scene, its models, best model first. */
export type Ranking = Readonly<Partial<Record<RankedScene, readonly RankedModel[]>>>;

/**
 * Ranks the models of each scene. The same outcomes give the same ranking on every replica (P14).
 *
 * - Models with at least `min_samples` outcomes come first. They are ordered by success rate, then
 *   by number of outcomes, lower price and id.
 * - The remaining models are ordered by number of outcomes, then by lower price and id.
 */
export function rankModels(
  models: readonly CatalogueModel[],
  outcomes: readonly { model: string; succeeded: number; failed: number }[],
  min_samples: number,
): Ranking {
  const counted = new Map(outcomes.map((outcome) => [outcome.model, outcome]));
  const ranking: Partial<Record<RankedScene, RankedModel[]>> = {};
  for (const scene of RANKED_SCENES) {
    const ranked = models
      .filter(({ category }) => category === scene)
      .map((model) => {
        const { succeeded = 0, failed = 0 } = counted.get(model.id) ?? {};
        const samples = succeeded + failed;
        const success_rate = samples === 0 ? 0 : succeeded / samples;
        const ready = samples >= min_samples && samples > 0;
        return { model: model.id, success_rate, samples, ready, price: unitPrice(model) };
      })
      .sort(
        (a, b) =>
          Number(b.ready) - Number(a.ready) ||
          (a.ready ? b.success_rate - a.success_rate : 0) ||
          b.samples - a.samples ||
          a.price - b.price ||
          (a.model < b.model ? -1 : 1),
      );
    if (ranked.length === 0) continue;
    ranking[scene] = ranked.map(({ price: _, success_rate, ...rest }) => ({
      ...rest,
      success_rate: Math.round(success_rate * RATE_DIGITS) / RATE_DIGITS,
    }));
  }
  return ranking;
}

/**
 * Returns the price of one unit of a model. It is used only to compare models of the same scene.
 */
function unitPrice({ declaration }: CatalogueModel): number {
  const { price } = declaration;
  return (
    price.usd_per_image ??
    price.usd_per_second ??
    price.usd_per_song ??
    price.usd_per_request ??
    price.usd_per_mchar ??
    price.output_usd_per_mtok ??
    price.input_usd_per_mtok ??
    0
  );
}
