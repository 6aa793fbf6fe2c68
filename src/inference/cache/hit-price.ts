import type { CallDetail, RecordedPart } from '../../../db/records/record.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { Hit } from './hit.ts';

const PICO_PER_NANO = 1_000;

/**
 * Returns what an answer from the cache costs, nano-USD: the part of its first price that the catalogue
 * names, rounded up; 0 by default.
 */
export function hitPrice({ declaration }: CatalogueModel, { cost_nano_usd }: Hit): number {
  return Math.ceil((declaration.price.cached_answer_share ?? 0) * cost_nano_usd);
}

/** Returns the facts of a call that was answered from the cache. */
export function hitDetail(hit: Hit, price_nano_usd: number): CallDetail {
  if (price_nano_usd > 0)
    return { ...freeDetail(hit, price_nano_usd), charge: [partOf(price_nano_usd)] };
  hit.made ??= {};
  hit.made.detail ??= freeDetail(hit, 0);
  return hit.made.detail;
}

function freeDetail({ entry_id, age_s, cost_nano_usd }: Hit, price_nano_usd: number): CallDetail {
  return {
    cache_entry_id: entry_id,
    cache_age_s: age_s,
    saved_nano_usd: cost_nano_usd - price_nano_usd,
  };
}

function partOf(price_nano_usd: number): RecordedPart {
  const pico_usd = price_nano_usd * PICO_PER_NANO;
  return { kind: 'cached answer', quantity: 1, unit: 'answer', pico_usd };
}
