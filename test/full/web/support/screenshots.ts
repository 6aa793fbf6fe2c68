/** The screenshots of docs/screenshots. They are made only with WEIR_SCREENSHOTS=docs/screenshots. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const SCREENSHOTS = process.env['WEIR_SCREENSHOTS'];
const ROOT = join(import.meta.dir, '../../../..');

/** Saves what a page shows as `NAME.png`, if screenshots are wanted. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  const folder = join(ROOT, SCREENSHOTS);
  mkdirSync(folder, { recursive: true });
  // Nothing is lit because the pointer is over it.
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
