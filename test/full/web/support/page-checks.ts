/** What holds for every page, for the tests of one area. */
import { expect } from 'bun:test';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** The width of the smallest phone, px. */
const PHONE_PX = 320;

/** Expects that axe finds nothing in both themes, and that the page fits a phone. */
export async function expectGoodPage(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`)).toEqual(
      [],
    );
  }
  const size = page.viewportSize();
  await page.setViewportSize({ width: PHONE_PX, height: 640 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
    PHONE_PX,
  );
  if (size) await page.setViewportSize(size);
}
