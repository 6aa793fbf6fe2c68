/**
 * Waiting for what another process does.
 */

const POLL_MS = 10;

/**
 * Resolves with the first answer of `look` that is neither `undefined` nor `false`.
 *
 * @throws after `timeout_ms`, naming what did not happen.
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
  throw new Error(`within ${timeout_ms} ms this did not happen: ${what}`);
}
