import { expect, test } from 'bun:test';
import { runPauses } from '../chaos/pause.ts';

/** A short run; `bin/chaos pause` pauses each replica and the database for longer. */
test('P1, P16: a paused replica or database costs no other lease, no charge and no held money', async () => {
  const report = await runPauses({
    seed: 3,
    pauses: 4,
    target: 'all',
    min_ms: 1_000,
    max_ms: 12_000,
    onViolation: (violation) => console.error(violation),
  });
  expect(report.violations).toEqual([]);
  expect(report.whole).toBeGreaterThan(100);
}, 600_000);
