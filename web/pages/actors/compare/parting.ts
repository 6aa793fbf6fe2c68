import type { ActorHistory, Moment } from '../one/history.ts';

/**
 * Returns the index of the first moment in which two runs of one machine differ: by its event, the guard
 * that held, or the state that it led to. A run that ends earlier differs there. Undefined if they are equal.
 */
export function partingOf(one: ActorHistory, other: ActorHistory): number | undefined {
  const length = Math.max(one.moments.length, other.moments.length);
  for (let index = 0; index < length; index += 1) {
    if (stepOf(one.moments[index]) !== stepOf(other.moments[index])) return index;
  }
  return undefined;
}

function stepOf(moment: Moment | undefined): string {
  if (!moment) return '';
  const { event, state, taken } = moment;
  return JSON.stringify([event?.event.type ?? null, state, taken?.guard ?? null]);
}
