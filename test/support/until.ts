/**
 * Waits for an effect of another process.
 */

const POLL_MS = 10;

/**
 * Calls `look` until it returns a value other than `undefined` and `false`, and resolves with that value.
 *
 * @throws after `timeout_ms`, with the name of the missing event.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  timeout_ms = 30_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline_ms = performance.now() + timeout_ms;
  while (performance.now() < deadline_ms) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    await Bun.sleep(POLL_MS);
  }
  throw new Error(`did not happen within ${timeout_ms} ms: ${what}`);
}
