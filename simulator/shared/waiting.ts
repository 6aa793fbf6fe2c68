/** Waits `wait_ms`. Returns true as soon as the client disconnects, or false after the wait. */
export function disconnectsWithin(signal: AbortSignal, wait_ms: number): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(true);
  return new Promise((resolve) => {
    const left = () => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer =
      wait_ms === Number.POSITIVE_INFINITY
        ? undefined
        : setTimeout(() => {
            signal.removeEventListener('abort', left);
            resolve(false);
          }, wait_ms);
    signal.addEventListener('abort', left, { once: true });
  });
}
