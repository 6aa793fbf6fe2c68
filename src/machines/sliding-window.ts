/**
 * How many requests or tokens were taken in the last minute. Time is counted in slots of a second, so that a window
 * has few sums. A slot counts until no moment of it is in the last 60 s any more. So no 60 s have more than the limit.
 * The script of Redis (`src/inference/limits/redis-script.ts`) does the same.
 */

const SLOT_MS = 1_000;
/** A slot counts in its own second and in the 60 after it. */
const COUNTED_SLOTS = 61;

/** What was taken in each slot, by its number. */
export type SlidingWindow = Map<number, number>;

/** Returns the number of the slot of a time. */
export function slotOf(now_ms: number): number {
  return Math.floor(now_ms / SLOT_MS);
}

/**
 * Returns how long to wait until `amount` may be taken, so that no 60 s have more than `limit`, ms; 0 = it may be taken
 * now. Infinity if the amount is above the limit. Forgets slots that count no more.
 */
export function waitFor(
  window: SlidingWindow,
  { amount, limit, now_ms }: { amount: number; limit: number; now_ms: number },
): number {
  if (amount > limit) return Number.POSITIVE_INFINITY;
  const now = slotOf(now_ms);
  let sum = amount;
  for (const [slot, taken] of window) {
    if (slot <= now - COUNTED_SLOTS) window.delete(slot);
    else sum += taken;
  }
  if (sum <= limit) return 0;
  for (const slot of [...window.keys()].sort((a, b) => a - b)) {
    sum -= window.get(slot) ?? 0;
    if (sum <= limit) return (slot + COUNTED_SLOTS) * SLOT_MS - now_ms;
  }
  return SLOT_MS;
}

/** Takes `amount`, which `waitFor` allows now. */
export function add(window: SlidingWindow, amount: number, now_ms: number): void {
  const slot = slotOf(now_ms);
  window.set(slot, (window.get(slot) ?? 0) + amount);
}

/** Corrects what was taken in a slot that still counts: by `change`, which is negative to give some back. */
export function correct(window: SlidingWindow, slot: number, change: number): void {
  const taken = window.get(slot);
  if (taken !== undefined) window.set(slot, Math.max(0, taken + change));
}
