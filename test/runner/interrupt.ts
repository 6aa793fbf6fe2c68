/** How long a child process may take to end after an interrupt. */
const PATIENCE_MS = 5_000;

/** Passes an interrupt on to the child processes that run at the moment. */
export class Interrupt {
  signal: NodeJS.Signals | undefined;
  private readonly children = new Set<Bun.Subprocess>();

  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => this.raise(signal));
    }
  }

  /** Waits for the end of `child`; an interrupt ends it. */
  async during(child: Bun.Subprocess): Promise<number> {
    this.children.add(child);
    if (this.signal !== undefined) child.kill('SIGTERM');
    try {
      return await child.exited;
    } finally {
      this.children.delete(child);
    }
  }

  private raise(signal: NodeJS.Signals): void {
    if (this.signal !== undefined) return;
    this.signal = signal;
    const children = [...this.children];
    for (const child of children) child.kill('SIGTERM');
    setTimeout(() => {
      for (const child of children) child.kill('SIGKILL');
    }, PATIENCE_MS).unref();
  }
}
