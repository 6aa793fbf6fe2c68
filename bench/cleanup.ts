/** Stops the processes of a measurement in reverse order, also after an interrupt. */

export interface Cleanup {
  add(stop: () => unknown): void;
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const stops: (() => unknown)[] = [];
  const run = async () => {
    for (let stop = stops.pop(); stop; stop = stops.pop()) {
      try {
        await stop();
      } catch {
        // If one process cannot be stopped, all other processes must be stopped nevertheless.
      }
    }
  };
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    process.on(signal, () => run().finally(() => process.exit(code)));
  }
  return { add: (stop) => stops.push(stop), run };
}
