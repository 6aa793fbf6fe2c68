/**
 * Bun keeps this many idle connections and closes the rest (oven-sh/bun, issue 42608): of a burst of
 * calls, what goes beyond it opens connections that are thrown away after one answer.
 */
export const KEPT_CONNECTIONS = 64;
/** At most about what opening a connection takes, with TLS, to a provider that is not far away. */
export const MAX_WAIT_MS = 25;

/**
 * The connections to one upstream, as far as they can be known from outside. A call that would have
 * to open one waits a moment for one to come back instead, if they are coming back: to an upstream
 * that takes its time all calls go at once.
 */
export class Connections {
  private idle = 0;
  /** ms of `performance.now()`. */
  private returnedAt = Number.NEGATIVE_INFINITY;
  private readonly waiting = new Set<() => void>();
  private timer: Timer | undefined;

  /** undefined = go; else go when it resolves. Every call that went gives its connection back. */
  take(): Promise<void> | undefined {
    if (this.idle > 0) {
      this.idle -= 1;
      return undefined;
    }
    if (performance.now() - this.returnedAt > MAX_WAIT_MS) return undefined;
    return new Promise((resolve) => {
      this.waiting.add(resolve);
      this.timer ??= setTimeout(this.openForAll, MAX_WAIT_MS);
    });
  }

  /** The answer was read to its end (`reusable`), or the connection was cut. */
  giveBack(reusable: boolean): void {
    if (!reusable) return;
    this.returnedAt = performance.now();
    const [next] = this.waiting;
    if (next) this.go(next);
    else this.idle = Math.min(KEPT_CONNECTIONS, this.idle + 1);
  }

  private go(resolve: () => void): void {
    this.waiting.delete(resolve);
    resolve();
  }

  private readonly openForAll = () => {
    this.timer = undefined;
    for (const resolve of this.waiting) this.go(resolve);
  };
}

const byOrigin = new Map<string, Connections>();

/** The connections to an upstream's address; there are as many as channels. */
export function connectionsTo(base_url: string): Connections {
  let connections = byOrigin.get(base_url);
  if (!connections) {
    connections = new Connections();
    byOrigin.set(base_url, connections);
  }
  return connections;
}
