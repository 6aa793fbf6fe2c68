import type { CatalogueModel } from './catalogue.ts';
import { CATEGORIES, type Category } from './schema.ts';

/** Scenes that models are ranked in (spec: Model catalogue, `recommended_for`). */
export const SCENES = CATEGORIES.filter(
  (category): category is Exclude<Category, 'chat' | 'audio'> =>
    category !== 'chat' && category !== 'audio',
);
export type Scene = (typeof SCENES)[number];

/** Fewer outcomes than this say little (spec: `insufficient_samples`). */
export const DEFAULT_MIN_SAMPLES = 20;
const RATE_DIGITS = 10_000;

/** A model's place among those of its scene (spec: `agent_preferences`). */
interface RankedModel {
  readonly model: string;
  /** 0–1; 0 where there is no outcome. */
  readonly success_rate: number;
  readonly samples: number;
  readonly ready: boolean;
}

/** Models in the order of their ranks, by scene. */
export type Ranking = Readonly<Partial<Record<Scene, readonly RankedModel[]>>>;

/**
 * The ranking of stored outcomes: pure, so that anybody who has them gets the same (P14). Models with
 * enough outcomes come first, by their success; ties go by the number of outcomes, then the lower
 * price, then the name. The others follow in that order without the success.
 */
export function rankModels(
  models: readonly CatalogueModel[],
  outcomes: readonly { model: string; succeeded: number; failed: number }[],
  min_samples: number,
): Ranking {
  const counted = new Map(outcomes.map((each) => [each.model, each]));
  const ranking: Partial<Record<Scene, RankedModel[]>> = {};
  for (const scene of SCENES) {
    const ranked = models
      .filter(({ category }) => category === scene)
      .map((model) => {
        const { succeeded = 0, failed = 0 } = counted.get(model.id) ?? {};
        const samples = succeeded + failed;
        const success_rate = samples === 0 ? 0 : succeeded / samples;
        const ready = samples >= min_samples && samples > 0;
        return { model: model.id, success_rate, samples, ready, price: priceOf(model) };
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

/** What a model's unit costs; only to compare models of one scene. */
function priceOf({ declaration }: CatalogueModel): number {
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
