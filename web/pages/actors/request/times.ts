import { duration } from '../../../parts/time.tsx';

/** A time since the arrival: short ones with digits, because a step inside Weir takes microseconds. */
export const sinceArrival = (ms: number): string =>
  ms < 10 ? `${ms.toFixed(2)} ms` : ms < 1_000 ? `${ms.toFixed(1)} ms` : duration(ms);
