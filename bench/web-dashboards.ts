/** Open dashboards without a browser: each follows the events and reads again as the page does. */
import { fileURLToPath } from 'node:url';
import type { DashboardWorld } from '../test/support/dashboard.ts';
import type { ClientsInput, RepeatedRead } from './dashboard-clients.ts';

const CLIENTS = fileURLToPath(new URL('dashboard-clients.ts', import.meta.url));
/** The page is watched a little longer than between two of its reads of sums, ms. */
const WATCH_MS = 23_000;

/** What of an address differs each time that the page reads the same. */
const CHANGING = ['as_of', 'startDate', 'endDate'];

/** Returns what the first page reads again: after an event, and by the clock. */
export async function readsOfOverview(world: DashboardWorld): Promise<RepeatedRead[]> {
  const { page } = await world.open('/');
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.startsWith('/v1/') && !pathname.endsWith('/events')) asked.push(pathname + search);
  });
  await page.waitForTimeout(1_000);
  asked.length = 0;
  await callOnce(world);
  await page.waitForTimeout(WATCH_MS);
  await page.context().close();
  const times = new Map<string, { path: string; count: number }>();
  for (const path of asked) {
    const { count = 0 } = times.get(withoutChanging(path)) ?? {};
    times.set(withoutChanging(path), { path, count: count + 1 });
  }
  return [...times.values()].map(({ path, count }) =>
    path.includes('as_of=') ? { path } : { path, every_ms: Math.round(WATCH_MS / count) },
  );
}

function withoutChanging(path: string): string {
  const url = new URL(path, 'http://weir');
  for (const name of CHANGING) url.searchParams.delete(name);
  return url.pathname + url.search;
}

/** Sends one call, whose charge is an event. */
export async function callOnce({ weir }: DashboardWorld): Promise<void> {
  const answer = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${weir.api_key}`,
      'content-type': 'application/json',
      'x-weir-cache-control': 'no_cache',
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi [[sim tokens=2]]' }],
    }),
  });
  if (!answer.ok) throw new Error(`a call failed with ${answer.status}: ${await answer.text()}`);
  await answer.text();
}

/** Signs people in, and returns the cookies of each, as a header. */
export async function signInPeople(world: DashboardWorld, count: number): Promise<string[]> {
  const cookies: string[] = [];
  for (let person = 1; person <= count; person += 1) {
    const context = await world.personAs('admin', `Person ${person}`);
    cookies.push((await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; '));
    await context.close();
  }
  return cookies;
}

/** What dashboards did while they were open. */
interface Closed {
  /** Their reads that were answered. */
  readonly reads: number;
  /** CPU time of their own process, s. */
  readonly cpu_s: number;
}

/** Opens a dashboard for each cookie, all in one process. Returns a function that closes them. */
export function openDashboards(input: ClientsInput): () => Promise<Closed> {
  const child = Bun.spawn([process.execPath, CLIENTS], {
    stdin: new Blob([JSON.stringify(input)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return async () => {
    child.kill('SIGTERM');
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    if (code !== 0) throw new Error('the dashboards failed');
    const cpu_us = Number(child.resourceUsage()?.cpuTime.total ?? 0);
    return { reads: Number(text), cpu_s: cpu_us / 1e6 };
  };
}
