/**
 * The product's main program, in which half a second passes for each minute between two sweeps of its
 * housekeeping. The product cannot reach this code.
 */
import { systemClock } from '../../../src/actors/clock.ts';

const MINUTE_MS = 60_000;
const QUICK_MS = 500;

const { after } = systemClock;
systemClock.after = (delay_ms, callback) =>
  after(delay_ms === MINUTE_MS ? QUICK_MS : delay_ms, callback);

await import('../../../src/main.ts');
