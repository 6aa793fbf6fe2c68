/** A real browser for tests of the dashboard: Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { unpackWithDependencies } from './debian-packages.ts';

/** Starts Chromium. Takes that of the machine, or else that of Debian's packages, below `.cache`. */
export async function startChromium(): Promise<Browser> {
  const found = Bun.which('chromium');
  const sandboxless = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  if (found) return chromium.launch({ executablePath: found, args: sandboxless });
  const { root, library_dirs } = await unpackWithDependencies('chromium');
  const executablePath = join(root, 'usr/lib/chromium/chromium');
  if (!existsSync(executablePath)) throw new Error(`there is no ${executablePath}`);
  const env = { ...process.env, LD_LIBRARY_PATH: library_dirs.join(':') } as Record<string, string>;
  return chromium.launch({ executablePath, args: sandboxless, env });
}

/** What went wrong in a page, beside what its test saw: errors in the console, and broken requests. */
export function mistakesOf(page: Page): string[] {
  const mistakes: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') mistakes.push(message.text());
  });
  page.on('pageerror', (error) => mistakes.push(String(error)));
  return mistakes;
}
