/** The committed layouts are what ELK makes of the machines, so nobody has moved a box by hand. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineFiles } from '../../docs/machine-files/files.ts';
import { findMachines } from '../../docs/machines-page.ts';
import { ROOT } from '../house/sources.ts';

setDefaultTimeout(180_000);

const machines = (await findMachines()).map((found) => ({ id: found.machine.id, ...found }));

test.each(machines)('the chart of $id, laid out again, has the same places', async (found) => {
  const files = await machineFiles(found, { lay_out: true });
  const chart = files.filter(({ name }) => /\.(?:layout\.json|svg)$/.test(name));
  expect(chart).toHaveLength(2);
  for (const { name, text } of chart) {
    expect(text).toBe(readFileSync(join(ROOT, 'docs/machines', name), 'utf8'));
  }
});
