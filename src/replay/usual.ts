const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * How long an actor is usually in the first part of its state, ms. It is generous: most actors are
 * faster. A state without a time is one in which an actor may rest: it has ended, it works, or it waits
 * for a person.
 */
export const USUAL_MS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // Long videos take some minutes. A refund is one transaction of the ledger.
  task: { pending: 2 * MINUTE_MS, processing: 10 * MINUTE_MS, refunding: MINUTE_MS },
  batch: { received: MINUTE_MS, in_progress: HOUR_MS, canceling: 10 * MINUTE_MS },
  // The first three pauses of a receiver that refuses are shorter.
  webhook: { announced: MINUTE_MS, delivering: MINUTE_MS, waiting: 3 * MINUTE_MS },
  quota: {},
  // The longest cooldown is one minute.
  channel: { degraded: 15 * MINUTE_MS, open: 2 * MINUTE_MS, probing: MINUTE_MS },
};

/** Returns how long an actor is usually in a first part of a state, ms; null if it may rest there. */
export function usualMs(kind: string, top: string): number | null {
  return USUAL_MS[kind]?.[top] ?? null;
}

/** True if an actor is longer in the first part of its state than is usual. Times are ms since the epoch. */
export function isStuck(kind: string, top: string, since_ms: number, now_ms: number): boolean {
  const usual = usualMs(kind, top);
  return usual !== null && now_ms - since_ms > usual;
}
