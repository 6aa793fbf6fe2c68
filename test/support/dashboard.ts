/** A Weir with its dashboard, and people who are signed in there with a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../src/access/actions.ts';
import { mistakesOf, startChromium } from './chromium.ts';
import { type RunningWeir, startWeir, type WeirOptions } from './weir.ts';

const EMAIL = 'ada@example.com';
export const PASSWORD = 'correct horse battery';
const BUILD_TIMEOUT_MS = 30_000;

/** A running dashboard. */
export interface DashboardWorld {
  readonly weir: RunningWeir;
  readonly browser: Browser;
  /** Opens a page of the person who owns the first organization. The test fails if it has mistakes. */
  open(path: string, options?: OpenOptions): Promise<OpenPage>;
  /** A page of the same person that has not opened anything yet. So a test that watches it misses no request. */
  unopened(options?: OpenOptions): Promise<OpenPage>;
  /** Makes a person with a role in the first organization, and returns a context with their session. */
  personAs(role: Role, name?: string): Promise<BrowserContext>;
  stop(): Promise<void>;
}

interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** A context whose cookies the page shares; default: a new one with the owner's session. */
  readonly context?: BrowserContext;
}

interface OpenPage {
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
  const cookies = cookiesOf(answer, weir.base_url);
  await built(weir.base_url);
  const browser = await startChromium();
  const unopened: DashboardWorld['unopened'] = async (options = {}) => {
    const { width = 1280, height = 900, theme = 'light', context } = options;
    const shared = context ?? (await browser.newContext({ viewport: { width, height } }));
    if (!context) await shared.addCookies(cookies);
    const page = await shared.newPage();
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    return { page, mistakes: mistakesOf(page) };
  };
  return {
    weir,
    browser,
    unopened,
    async open(path, options) {
      const opened = await unopened(options);
      await opened.page.goto(weir.base_url + path);
      return opened;
    },
    async personAs(role, name = `A ${role}`) {
      const context = await browser.newContext();
      await context.addCookies(await invite(weir, role, name));
      return context;
    },
    async stop() {
      await browser.close();
      await weir.stop();
    },
  };
}

type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** The cookies that an answer sets. */
function cookiesOf(answer: Response, url: string): Cookies {
  return answer.headers.getSetCookie().map((cookie) => {
    const pair = cookie.split(';')[0] ?? '';
    const at = pair.indexOf('=');
    return { name: pair.slice(0, at), value: pair.slice(at + 1), url };
  });
}

/** Invites a person and accepts the invitation. Returns the cookies of the session. */
async function invite(weir: RunningWeir, role: Role, name: string): Promise<Cookies> {
  const post = async (url: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const email = `${role}-${crypto.randomUUID()}@example.com`;
  const invited = await post(
    `${weir.base_url}/v1/management/invitations`,
    { email, role },
    { authorization: `Bearer ${weir.management_token}` },
  );
  const { url } = (await invited.json()) as { url: string };
  return cookiesOf(await post(url, { name, password: PASSWORD }), weir.base_url);
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
