/** Resolves after the event loop has run the callbacks that are due now. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that takes longer than this delays other calls noticeably, ms. */
const LONG_WORK_MS = 10;
/**
 * The pause after long work is so many times as long as the work. A call of another client passes the
 * event loop several times, and must not wait for long work each time.
 */
const LONG_PAUSE_FACTOR = 3;

/** Resolves when the next work may start. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs work that occupies the event loop for long, e.g. parsing or sending a large body. Only one
 * piece of such work runs at a time. After it comes a pause that is as long as the work took, or
 * three times as long if it took more than 10 ms. So many large bodies that arrive together do not
 * stop the other requests (P20). Resolves with the result of `work`, or rejects with its error.
 */
export function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  previous = previous.then(async () => {
    const started_ms = performance.now();
    try {
      resolve(work());
    } catch (error) {
      reject(error);
    }
    // The code that awaits the result runs before the next turn. So its time counts too.
    await nextTurn();
    const took_ms = performance.now() - started_ms;
    await Bun.sleep(took_ms > LONG_WORK_MS ? took_ms * LONG_PAUSE_FACTOR : took_ms);
  });
  return promise;
}

/** The callers of `oneByOne` that wait, in their order. */
const waiting: (() => void)[] = [];

/**
 * Resolves when it is the caller's turn. In each turn of the event loop only one caller continues, so
 * that many large pieces of streams do not stop the other requests (P20).
 */
export function oneByOne(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueNext);
  });
}

function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}
