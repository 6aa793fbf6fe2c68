/** How late a deadline may be noticed, ms. */
export const TICK_MS = 50;

/** Something that somebody waits for, but not for ever. */
export interface Awaited {
  /** ms of `performance.now()`; it may move while it is watched. */
  readonly deadline: number;
  /** Called once, at most `TICK_MS` after the deadline; it is not watched any more then. */
  late(): void;
  /** True once nobody waits any more, for what does not `unwatch`: it is then forgotten. */
  isOver?(): boolean;
}

const watched = new Set<Awaited>();
let ticker: Timer | undefined;

/**
 * Watches a deadline until `unwatch`. One timer serves all of them: a timer of its own for each of
 * thousands of calls that will be in time costs more than looking at them now and then.
 */
export function watch(awaited: Awaited): void {
  watched.add(awaited);
  ticker ??= setInterval(tick, TICK_MS);
}

export function unwatch(awaited: Awaited): void {
  watched.delete(awaited);
}

function tick(): void {
  const now = performance.now();
  for (const awaited of watched) {
    if (awaited.isOver?.()) watched.delete(awaited);
    if (awaited.deadline > now || !watched.delete(awaited)) continue;
    awaited.late();
  }
  if (watched.size > 0) return;
  clearInterval(ticker);
  ticker = undefined;
}
