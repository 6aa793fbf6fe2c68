/** How many tests passed, failed and were skipped, and the closing line that says so. */

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 };

export function addCounts(one: Counts, other: Counts): Counts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
  };
}

/** For example `12 passed, 1 failed`; skipped tests are named only if there are some. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** The counts of the last closing line in the output of a command; undefined without one. */
export function readClosingLine(output: string): Counts | undefined {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\s*$/gm)];
  const last = lines.at(-1);
  if (last === undefined) return undefined;
  return { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3] ?? 0) };
}

/** The totals of Bun's JUnit report: the attributes of its outermost element. */
export function readJunit(report: string): Counts | undefined {
  const totals = /<testsuites [^>]*>/.exec(report)?.[0] ?? '';
  const total = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(totals)?.[1]);
  const tests = total('tests');
  const failed = total('failures');
  const skipped = total('skipped');
  if (Number.isNaN(tests + failed + skipped)) return undefined;
  return { passed: tests - failed - skipped, failed, skipped };
}
