import type { Consumption, Reservation } from '../../src/actors/money/reservation.ts';
import type { SimulatedReplica } from './replica.ts';

export interface Call {
  name: string;
  replica: SimulatedReplica;
  amount: number;
  actual: number;
  reservation?: Reservation;
  state: 'asking' | 'running' | 'settling' | 'settled' | 'released' | 'refused' | 'lost';
  /** Its replica was killed while the charge was on its way: nobody can say what became of it. */
  unknown?: boolean;
}

/** What nobody charged and no call in flight holds, as an all-knowing observer sees it. */
export function freeInTruth(
  cap: number,
  calls: readonly Call[],
  dead: readonly SimulatedReplica[],
): number {
  // What a dead replica set aside is out of reach until it is reaped.
  if (dead.some((corpse) => !corpse.reaped)) return 0;
  let taken = 0;
  for (const call of calls) {
    if (call.unknown || call.state === 'settled' || call.state === 'settling') taken += call.actual;
    if (call.state === 'running') taken += call.reservation?.amount ?? 0;
  }
  return cap - taken;
}

/** A usage line of a simulated call: only its money matters. */
export function usageOf(organization_id: string, key_id: string): Consumption {
  return {
    id: Bun.randomUUIDv7(),
    request_id: Bun.randomUUIDv7(),
    organization_id,
    key_id,
    scene: 'chat',
    access_channel: 'platform',
    model: 'm',
    model_vendor: 'v',
    channel_id: 'c',
    outcome: 'completed',
    input_tokens: 1,
    cached_input_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 1,
    estimated: false,
  };
}
