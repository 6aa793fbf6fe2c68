import type { CallFacts } from '../../../db/records/record.ts';

/** One moment of a call. `at_ms` counts from the arrival of the request. */
export interface Moment {
  readonly stage: string;
  readonly at_ms: number;
  readonly until_ms?: number | null;
  readonly result?: string | null;
}

/** What moments are made of. */
type Facts = Pick<
  CallFacts,
  'authenticated_us' | 'reserved_us' | 'routed_us' | 'first_token_ms'
> & {
  readonly ended_ms: number | null;
  readonly detail?: CallFacts['detail'] | null;
};

/**
 * Returns the moments of a call in order. An attempt has a number, and no channel (P5). `settled_ms` is
 * the time of the charge's commit, if it is known. Some moments are stored in µs and others in ms, so a
 * rounded moment is moved to the one before it.
 */
export function momentsOf(facts: Facts, settled_ms: number | null = null): Moment[] {
  const moments: Moment[] = [{ stage: 'arrived', at_ms: 0 }];
  const add = (stage: string, at_ms: number | null) => {
    if (at_ms !== null) moments.push({ stage, at_ms });
  };
  const ms = (us: number | null) => (us === null ? null : us / 1_000);
  add('authenticated', ms(facts.authenticated_us));
  add('reserved', ms(facts.reserved_us));
  const attempts = facts.detail?.attempts;
  if (!attempts) add('attempt_1', ms(facts.routed_us));
  for (const [at, attempt] of (attempts ?? []).entries()) {
    moments.push({
      stage: `attempt_${at + 1}`,
      at_ms: attempt.started_ms,
      until_ms: attempt.ended_ms,
      result: attempt.failure,
    });
  }
  add('first_token', facts.first_token_ms);
  add('ended', facts.ended_ms);
  add('settled', settled_ms);
  return inOrder(moments);
}

function inOrder(moments: readonly Moment[]): Moment[] {
  let latest = 0;
  return moments.map((moment) => {
    latest = Math.max(latest, moment.at_ms);
    const { until_ms } = moment;
    if (typeof until_ms !== 'number') return { ...moment, at_ms: latest };
    return { ...moment, at_ms: latest, until_ms: Math.max(latest, until_ms) };
  });
}
