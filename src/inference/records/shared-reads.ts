/**
 * Reads that several requests share. A request joins a read of the same name only if the read has not begun
 * yet, so its answer is never older than the request. Of many equal requests at once, e.g. from pages that
 * all heard of the same event, at most two read: the first one, and one for all that came meanwhile.
 */
export class SharedReads<Result> {
  private readonly running = new Map<string, Promise<Result>>();
  private readonly waiting = new Map<string, Promise<Result>>();

  /** Returns what `read` returns, or what another request's read of this name returns. */
  run(name: string, read: () => Promise<Result>): Promise<Result> {
    const running = this.running.get(name);
    if (!running) return this.start(name, read);
    const joined = this.waiting.get(name);
    if (joined) return joined;
    const next = running
      .catch(() => undefined)
      .then(() => {
        this.waiting.delete(name);
        return this.start(name, read);
      });
    this.waiting.set(name, next);
    return next;
  }

  private start(name: string, read: () => Promise<Result>): Promise<Result> {
    const started = read().finally(() => {
      if (this.running.get(name) === started) this.running.delete(name);
    });
    this.running.set(name, started);
    return started;
  }
}
