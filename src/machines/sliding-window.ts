/**
 * How many requests or tokens were taken in the last minute. Time is counted in slots of a second, so that a window
 * has few sums. A slot counts until 60 s after the last amount in it. So no 60 s have more than the limit, and nobody
 * waits for more than 60 s: the package `openai` ignores a longer `Retry-After` (its 7.55.0, client.ts, retryRequest).
 * The script of Redis (`src/inference/limits/redis-script.ts`) does the same.
 */

const SLOT_MS = 1_000;
const COUNTED_MS = 60_000;

/** What was taken in one second. */
interface Slot {
  taken: number;
  /** When the last amount was taken, ms since 1970. */
  last_ms: number;
}

export interface SlidingWindow {
  /** The slots that count, by their numbers; the oldest comes first. */
  readonly slots: Map<number, Slot>;
  /** The sum of all slots. */
  sum: number;
  /** No slot had its last amount before this time, ms since 1970. It may be too early. */
  oldest_ms: number;
}

export function newWindow(): SlidingWindow {
  return { slots: new Map(), sum: 0, oldest_ms: Number.POSITIVE_INFINITY };
}

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
  forgetBefore(window, now_ms - COUNTED_MS);
  let sum = window.sum + amount;
  if (sum <= limit) return 0;
  for (const { taken, last_ms } of window.slots.values()) {
    sum -= taken;
    if (sum <= limit) return last_ms + COUNTED_MS - now_ms;
  }
  return SLOT_MS;
}

/** Takes `amount`, which `waitFor` allows now. */
export function add(window: SlidingWindow, amount: number, now_ms: number): void {
  const slot = slotOf(now_ms);
  const existing = window.slots.get(slot);
  if (existing) {
    existing.taken += amount;
    existing.last_ms = Math.max(existing.last_ms, now_ms);
  } else window.slots.set(slot, { taken: amount, last_ms: now_ms });
  if (now_ms < window.oldest_ms) window.oldest_ms = now_ms;
  window.sum += amount;
}

/** Corrects what was taken in a slot that still counts: by `change`, which is negative to give some back. */
export function correct(window: SlidingWindow, number: number, change: number): void {
  const slot = window.slots.get(number);
  if (!slot) return;
  const taken = Math.max(0, slot.taken + change);
  window.sum += taken - slot.taken;
  slot.taken = taken;
}

/** Most calls find no slot to forget, and look at none. */
function forgetBefore(window: SlidingWindow, time_ms: number): void {
  if (window.oldest_ms > time_ms) return;
  window.oldest_ms = Number.POSITIVE_INFINITY;
  for (const [number, { taken, last_ms }] of window.slots) {
    if (last_ms > time_ms) {
      window.oldest_ms = last_ms;
      return;
    }
    window.slots.delete(number);
    window.sum -= taken;
  }
}
