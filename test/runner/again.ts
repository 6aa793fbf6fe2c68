import type { Failure } from './failures.ts';
import type { Outcome } from './steps.ts';

/** More files than these do not fail because the machine is busy. */
const MAX_FILES = 5;
/** How a failed property begins. Its counterexample is a proof, and a second run tries other values. */
const COUNTEREXAMPLE = /\bProperty failed after\b/;

/**
 * Runs the files of failed tests once more, with nothing beside them: `run` gets their paths. A test that
 * passes then counts as passed, and is listed in `unsteady`. Nothing runs again if a property was refuted, if
 * something failed outside of a test, or if more than `MAX_FILES` files failed.
 */
export async function runFailedAgain(
  first: Outcome,
  run: (files: readonly string[]) => Promise<Outcome>,
): Promise<Outcome> {
  const failures = first.failures ?? [];
  const files = filesToRepeat(failures);
  if (files.length === 0 || failures.length !== first.failed) return first;
  const second = await run(files);
  const failed = Math.min(second.failed, first.failed);
  const stillFailed = second.failures ?? [];
  const isStillFailed = ({ what }: Failure) => stillFailed.some((each) => each.what === what);
  return {
    ...{ passed: first.passed + first.failed - failed, failed, skipped: first.skipped },
    failures: stillFailed,
    unsteady: failures.filter((failure) => !isStillFailed(failure)),
  };
}

function filesToRepeat(failures: readonly Failure[]): string[] {
  const files = new Set(failures.map(({ file }) => file));
  const isProof = failures.some(({ file, why }) => file === undefined || COUNTEREXAMPLE.test(why));
  return isProof || files.size > MAX_FILES ? [] : [...files].flatMap((file) => file ?? []);
}
