import type { Model } from '../api/types.ts';
import { counted, percent } from '../parts/figures.ts';

/** Returns why a model has its rank, in one sentence. */
export function whyRanked({ place, of, scene, ...rank }: NonNullable<Model['rank']>): string {
  const { success_rate_24h, sample_count_24h, status } = rank;
  const where = `Place ${place} of ${of} ${scene} models.`;
  const calls = counted(sample_count_24h, 'call');
  if (status === 'ready') {
    return `${where} ${percent(success_rate_24h)} of ${calls} in 24 hours succeeded. Ties go to more calls, then to the lower price.`;
  }
  return sample_count_24h === 0
    ? `${where} Nobody called it in 24 hours, so it comes after the models with calls, by price.`
    : `${where} It had ${calls} in 24 hours: too few for a success rate, so it comes after the models with enough.`;
}
