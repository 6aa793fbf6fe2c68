/** The charts of the machines in a real browser: what may happen next? */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { findMachines } from '../../../docs/machines-page.ts';
import { MACHINES } from '../../../web/pages/machines/machines.ts';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, '../../..');

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

const chosenState = (page: Page) => page.locator('li[aria-current="true"] h3');

test('the page lists every machine of Weir', async () => {
  const ids = (await findMachines()).map(({ machine }) => machine.id);
  expect(MACHINES.map(({ id }) => id).sort()).toEqual(ids.sort());
});

describe.each(MACHINES)('the chart of $id', ({ id }) => {
  test('has room for each text, in the browser’s own face', async () => {
    const { page, mistakes } = await world.open(`/machines/${id}`);
    await page.getByRole('img', { name: `Chart of the machine ${id}` }).waitFor();
    await page.evaluate(() => document.fonts.ready);
    const outside = await page.locator('svg.chart g').evaluateAll((groups) =>
      groups.flatMap((group) => {
        const rect = group.querySelector(':scope > rect')?.getBoundingClientRect();
        const texts = [...group.querySelectorAll(':scope > text')];
        return texts
          .filter((text) => rect && text.getBoundingClientRect().right > rect.right)
          .map((text) => text.textContent);
      }),
    );
    expect(outside).toEqual([]);
    expect(await page.locator('svg.chart .chart-title').count()).toBeGreaterThan(4);
    expect(mistakes).toEqual([]);
    await page.context().close();
  });
});

test('a link opens a state, and a click on another state changes the address', async () => {
  const { page, mistakes } = await world.open('/machines/task?state=processing.waiting');
  await chosenState(page).getByText('processing.waiting').waitFor();
  const box = page.locator('svg.chart [data-state="processing.waiting"]');
  expect(await box.getAttribute('class')).toContain('chart-chosen');
  await page.locator('svg.chart [data-state="refunding"] .chart-title').click();
  await page.waitForURL((url) => url.searchParams.get('state') === 'refunding');
  await chosenState(page).getByText('refunding').waitFor();
  await page.locator('li[aria-current="true"]').getByText('Its held money').waitFor();
  // The same without a mouse: a state in words leads to the next one.
  await page
    .locator('li[aria-current="true"]')
    .getByRole('link', { name: 'failed' })
    .press('Enter');
  await page.waitForURL((url) => url.searchParams.get('state') === 'failed');
  await page.goBack();
  await chosenState(page).getByText('refunding').waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('the chart zooms to fit, and is readable otherwise', async () => {
  const { page } = await world.open('/machines/task', { width: 390, height: 800 });
  const chart = page.getByRole('img', { name: 'Chart of the machine task' });
  await chart.waitFor();
  const widthOf = async () => (await chart.boundingBox())?.width ?? 0;
  expect(await widthOf()).toBeGreaterThan(700);
  await page.getByRole('button', { name: 'Zoom to fit' }).click();
  expect(await widthOf()).toBeLessThan(390);
  await page.context().close();
});

test('the exported SVG is the file of the documentation', async () => {
  const { page } = await world.open('/machines/channel');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as SVG' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('channel.svg');
  const exported = readFileSync(await download.path(), 'utf8');
  expect(exported).toBe(readFileSync(join(ROOT, 'docs/machines/channel.svg'), 'utf8'));
  await page.context().close();
});

test('a machine that does not exist looks like a page that is missing', async () => {
  const { page } = await world.open('/machines/nothing');
  await page.getByRole('heading', { name: 'Nothing is here' }).waitFor();
  await page.context().close();
});
