/** A Weir with its dashboard, and people who are signed in there with a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { mistakesOf, startChromium } from './chromium.ts';
import { type RunningWeir, startWeir, type WeirOptions } from './weir.ts';

export const EMAIL = 'ada@example.com';
export const PASSWORD = 'correct horse battery';
const BUILD_TIMEOUT_MS = 30_000;

/** A running dashboard. */
export interface DashboardWorld {
  readonly weir: RunningWeir;
  readonly browser: Browser;
  /** Opens a page of the person who owns the first organization. The test fails if it has mistakes. */
  open(path: string, options?: OpenOptions): Promise<OpenPage>;
  stop(): Promise<void>;
}

export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** A context whose cookies the page shares; default: a new one with the owner's session. */
  readonly context?: BrowserContext;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the console, and errors of scripts. */
  readonly mistakes: string[];
}

/** Starts Weir and Chromium, and makes the first operator, who owns the first organization. */
export async function startDashboard(options: WeirOptions = {}): Promise<DashboardWorld> {
  const weir = await startWeir({
    shared_database: true,
    ...options,
    env: { ...options.env, WEIR_DASHBOARD: 'on' },
  });
  const link = /^Sign-in link +\S+(\/v1\/auth\/links\/\S+)$/m.exec(weir.output())?.[1] ?? '';
  const answer = await fetch(weir.base_url + link, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, name: 'Ada Lovelace', password: PASSWORD }),
  });
  if (!answer.ok) throw new Error(`the first operator was refused: ${await answer.text()}`);
  const cookies = answer.headers.getSetCookie().map((cookie) => {
    const pair = cookie.split(';')[0] ?? '';
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url: weir.base_url };
  });
  await built(weir.base_url);
  const browser = await startChromium();
  return {
    weir,
    browser,
    async open(path, { width = 1280, height = 900, theme = 'light', context } = {}) {
      const shared = context ?? (await browser.newContext({ viewport: { width, height } }));
      if (!context) await shared.addCookies(cookies);
      const page = await shared.newPage();
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      const mistakes = mistakesOf(page);
      await page.goto(weir.base_url + path);
      return { page, mistakes };
    },
    async stop() {
      await browser.close();
      await weir.stop();
    },
  };
}

/** Waits until the dashboard is built. */
async function built(base_url: string): Promise<void> {
  const until = Date.now() + BUILD_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(base_url, { headers: { accept: 'text/html' } });
    if (answer.ok) return;
    if (Date.now() > until) throw new Error(`the dashboard was not built: ${await answer.text()}`);
    await Bun.sleep(100);
  }
}
