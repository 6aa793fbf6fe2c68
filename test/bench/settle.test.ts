import { expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import { readSettleOptions } from '../../bench/settle-options.ts';
import type { Settled } from '../../bench/settle-side.ts';
import { ArgumentError } from '../support/arguments.ts';
import { createTestDatabase } from '../support/postgres.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the options of the comparison of settlements have defaults and bounds', () => {
  expect(readSettleOptions(['--against', 'HEAD'])).toEqual({
    ...{ commit: 'HEAD', pairs: 10, lines: 128, statements: 3_000, bound: 0.03 },
  });
  expect(readSettleOptions(['--against', 'HEAD', '--bound', '1.5']).bound).toBe(0.015);
  for (const wrong of [[], ['--against', 'HEAD', '--lines', '0'], ['--against', 'HEAD', '--x']]) {
    expect(() => readSettleOptions(wrong)).toThrow(ArgumentError);
  }
});

test('one measurement settles each line once, on this version', async () => {
  const database = await createTestDatabase();
  try {
    const side = Bun.spawn(
      [process.execPath, 'bench/settle-side.ts', ROOT, database.url, '3', '150'],
      {
        ...{ cwd: ROOT, stdout: 'pipe', stderr: 'inherit' },
      },
    );
    const settled = (await new Response(side.stdout).json()) as Settled;
    expect(settled.lines_per_s).toBeGreaterThan(0);
    const [sums] = await database.sql<{ lines: number; charged: number; settled: number }[]>`
      select count(*)::int4 as lines, sum(charged_nano_usd)::int8 as charged,
        (select settled_nano_usd from quota_grant) as settled from usage_line`;
    // 50 statements warm up, and 150 are measured.
    expect(sums).toMatchObject({ lines: 600, charged: 600 * 12_345, settled: 600 * 12_345 });
  } finally {
    await database.drop();
  }
});
