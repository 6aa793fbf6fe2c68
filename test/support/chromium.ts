/** A real browser for tests of the dashboard: Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { unpackDebianPackages } from './debian-packages.ts';

/** Libraries of Chromium that a machine without a desktop lacks. */
const LIBRARIES = [
  ...['libnss3', 'libnspr4', 'libatk1.0-0', 'libatk-bridge2.0-0', 'libatspi2.0-0', 'libcups2'],
  ...['libdrm2', 'libgbm1', 'libxkbcommon0', 'libasound2', 'libpango-1.0-0', 'libcairo2'],
  ...['libxcomposite1', 'libxdamage1', 'libxfixes3', 'libxrandr2', 'libx11-6', 'libxcb1'],
  ...['libxext6', 'libdbus-1-3', 'libminizip1', 'libopus0', 'libwebpmux3', 'libwebpdemux2'],
  ...['libxslt1.1', 'libflac12', 'libsnappy1v5', 'libjsoncpp25', 'libdouble-conversion3'],
  ...['libopenh264-7', 'libopenjp2-7', 'libxnvctrl0', 'libevent-2.1-7', 'libwoff1'],
  ...['libgraphite2-3', 'libharfbuzz0b', 'libharfbuzz-subset0', 'libfontconfig1', 'libfreetype6'],
  ...['libjpeg62-turbo', 'libpng16-16', 'liblcms2-2', 'libre2-9', 'libabsl20220623', 'libdav1d6'],
  ...['libpulse0', 'libsndfile1', 'libasyncns0', 'libxrender1', 'libpixman-1-0', 'libthai0'],
  ...['libfribidi0', 'libdatrie1', 'libwayland-client0', 'libwayland-server0', 'libxshmfence1'],
  ...['libavahi-client3', 'libavahi-common3', 'libxcb-randr0', 'libxcb-shm0', 'libxcb-render0'],
  ...['libxi6', 'libxau6', 'libxdmcp6', 'libbsd0', 'libmd0', 'fonts-dejavu-core'],
];

/** Starts Chromium. Takes that of the machine, or else that of Debian's packages, below `.cache`. */
export async function startChromium(): Promise<Browser> {
  const found = Bun.which('chromium');
  const sandboxless = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];
  if (found) return chromium.launch({ executablePath: found, args: sandboxless });
  const { root, library_dirs } = await unpackDebianPackages(
    'chromium',
    ['chromium', 'chromium-common'],
    LIBRARIES,
  );
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
