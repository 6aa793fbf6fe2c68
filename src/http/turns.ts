/** Returns a promise that resolves after the tasks that wait in the event loop. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Resolves when the next work may start. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs work that occupies the event loop for long, e.g. the parsing of a large body. Such work runs
 * one after the other, and after each one the loop is free for as long as the work took. So many
 * large bodies that arrive together do not stop the other requests (P20). Resolves with the result
 * of `work`, or rejects with its error.
 */
export function inTurn<Result>(work: () => Result): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  previous = previous.then(async () => {
    const started_ms = performance.now();
    try {
      resolve(work());
    } catch (error) {
      reject(error);
    }
    // The holder of the result continues before the next turn, so its own work counts too.
    await nextTurn();
    await Bun.sleep(performance.now() - started_ms);
  });
  return promise;
}
