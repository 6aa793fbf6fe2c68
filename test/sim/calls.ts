import type { Consumption, Reservation } from '../../src/actors/money/reservation.ts';
import type { SimulatedReplica } from './replica.ts';

export interface Call {
  name: string;
  replica: SimulatedReplica;
  amount: number;
  actual: number;
  reservation?: Reservation;
  state: 'waiting' | 'running' | 'settling' | 'settled' | 'released' | 'refused' | 'lost';
  /** True if the replica was killed before the charge's commit was confirmed. */
  unknown?: boolean;
}

/** Returns the nano-USD of the cap that are neither charged nor reserved, from the test's own records. */
export function actuallyFree(
  cap: number,
  calls: readonly Call[],
  dead: readonly SimulatedReplica[],
): number {
  // The grant of a dead replica cannot be used until the replica is reaped.
  if (dead.some((replica) => !replica.reaped)) return 0;
  let used = 0;
  for (const call of calls) {
    if (call.unknown || call.state === 'settled' || call.state === 'settling') used += call.actual;
    if (call.state === 'running') used += call.reservation?.amount ?? 0;
  }
  return cap - used;
}

/** Returns the usage line of a simulated call; the tests check only its amounts. */
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
