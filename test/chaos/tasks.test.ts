import { expect, test } from 'bun:test';
import { runTaskKills } from './tasks.ts';

/** A short run of the kill matrix; `bin/chaos tasks` runs all of it. */
test.each([
  { step: 'submit, accepted upstream', provider: 'job, idempotent' },
  { step: 'submit, accepted upstream', provider: 'lookup' },
  { step: 'settle, done and not committed', provider: 'job, neither' },
  { step: 'refund, done and not committed', provider: 'inline, neither' },
])(
  'P1, P3, P10: a task ends right after kill -9 at "$step" ($provider)',
  async ({ step, provider }) => {
    const reports = await runTaskKills({ step, provider, parallel: 2, seed: 1 });
    expect(reports).toHaveLength(1);
    expect(reports.flatMap(({ violations }) => violations)).toEqual([]);
  },
  60_000,
);
