import type { Budget } from '../api/types.ts';

/** What happens to a call that does not fit. */
export type WhenReached = Budget['when_reached'];

/** The names that `WhenReachedField` has in errors of the API. */
export const WHEN_REACHED_PARAMS = ['when_reached', 'when_reached.move_to'];

/** The same in words. */
export function saysWhenReached(choice: WhenReached): string {
  if (choice === 'refuse') return 'calls are refused';
  return choice === 'warn' ? 'calls are served with a warning' : `calls move to ${choice.move_to}`;
}

/** True if two choices are the same. */
export const isSameChoice = (a: WhenReached, b: WhenReached): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
