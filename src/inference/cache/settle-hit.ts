import type { Reservation } from '../../actors/money/reservation.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { Hit } from './hit.ts';
import { hitDetail, hitPrice } from './hit-price.ts';

/** A call that is answered from the cache. */
interface AnsweredCall {
  readonly request_id: string;
  readonly key: { readonly id: string; readonly organization_id: string };
  readonly model: CatalogueModel;
  readonly record?: CallRecord | undefined;
}

/**
 * Ends the reservation of a call that is answered from the cache, and puts the hit on record. Resolves
 * when the charge is committed; returns undefined for a hit that costs nothing, which has no usage line.
 * No channel served the call, so a hit counts in no model's health.
 */
export function settleHit(
  call: AnsweredCall,
  scene: string,
  reservation: Reservation,
  hit: Hit,
): Promise<void> | undefined {
  const price = hitPrice(call.model, hit);
  call.record?.answerFromCache(hitDetail(hit, price));
  if (price > 0) return charge(call, scene, reservation, price);
  reservation.release();
  return undefined;
}

async function charge(
  { request_id, key, model, record }: AnsweredCall,
  scene: string,
  reservation: Reservation,
  price: number,
): Promise<void> {
  const line = {
    ...{ id: request_id, request_id, organization_id: key.organization_id, key_id: key.id },
    ...({
      scene,
      access_channel: 'platform',
      model: model.id,
      model_vendor: model.owned_by,
    } as const),
    ...({ channel_id: '', outcome: 'cached', estimated: false } as const),
    ...{ input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
    record: record?.facts(),
  };
  await reservation.settle(line, price);
  if (record) record.isCharged = true;
}
