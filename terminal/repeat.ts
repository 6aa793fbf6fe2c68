import { RequestError } from './inspect-client.ts';
import type { Output } from './output.ts';

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 10_000;

/**
 * Runs `run` again and again, with longer and longer pauses, until it returns true: a stream ends when its connection
 * breaks or Weir restarts. `run` calls `onAnswer` for each answer, so the next pause is short again. Throws
 * RequestError if Weir refuses the request for good.
 */
export async function repeat(
  output: Output,
  run: (onAnswer: () => void) => Promise<boolean>,
): Promise<void> {
  let pause_ms = FIRST_PAUSE_MS;
  const onAnswer = () => {
    pause_ms = FIRST_PAUSE_MS;
  };
  for (;;) {
    try {
      if (await run(onAnswer)) return;
      output.note('The connection ended. Connecting again.');
    } catch (error) {
      if (!(error instanceof RequestError) || !error.isTemporary) throw error;
      output.note(`${error.message}\nTrying again in ${pause_ms / 1_000} s.`);
    }
    await Bun.sleep(pause_ms);
    pause_ms = Math.min(pause_ms * 2, LAST_PAUSE_MS);
  }
}
