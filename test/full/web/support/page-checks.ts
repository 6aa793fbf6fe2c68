/** What holds for every page, for the tests of one area. */
import { expect } from 'bun:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { until } from '../../../support/until.ts';

/** The width of the smallest phone, px. */
const PHONE_PX = 320;
/** How long a page may need on a busy machine. */
const FIT_MS = 5_000;

/** The rules of axe that a theme can break. All others see the same page in both. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Returns what axe finds on a page: by all rules in the light theme, by those of colours in the dark one. */
export async function axeFindings(page: Page, theme: 'light' | 'dark'): Promise<string[]> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (theme === 'light' ? axe : axe.withRules(COLOUR_RULES)).analyze();
  return violations.map(({ id, nodes }) => `${theme} ${id}: ${nodes[0]?.html}`);
}

/** Expects that a page does not scroll sideways. A plot or table that measures its width needs a moment. */
export async function expectFits(page: Page, width_px: number): Promise<void> {
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  const fits = async () => (await width()) <= width_px;
  await until('the page fits', fits, FIT_MS).catch(() => undefined);
  expect(await width()).toBeLessThanOrEqual(width_px);
}

/** Expects that axe finds nothing in both themes, and that the page fits a phone. */
export async function expectGoodPage(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await axeFindings(page, colorScheme)).toEqual([]);
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: PHONE_PX, height: 640 });
  await expectFits(page, PHONE_PX);
  if (size) await page.setViewportSize(size);
}
