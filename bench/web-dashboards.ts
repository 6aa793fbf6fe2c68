/** Open dashboards without a browser: each follows the events and reads again as the page does. */
import type { Page } from 'playwright-core';
import type { DashboardWorld } from '../test/support/dashboard.ts';

/** How long the overview moves by events alone before it reads again (web/pages/overview/picture.ts), ms. */
const READ_EVERY_MS = 20_000;
/** The page is watched for a little longer, to see these reads, ms. */
const WATCH_MS = READ_EVERY_MS + 3_000;

/** Returns the addresses of the API that the first page reads again after an event. */
export async function readsOfOverview(world: DashboardWorld): Promise<string[]> {
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
  return [...new Set(asked)];
}

/** The cookies of a page, as a header. */
export async function cookieOf(page: Page): Promise<string> {
  return (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
}

/** Sends one call, whose charge is an event. */
export async function callOnce({ weir }: DashboardWorld): Promise<void> {
  const answer = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi [[sim tokens=2]]' }],
    }),
  });
  if (!answer.ok) throw new Error(`a call failed with ${answer.status}: ${await answer.text()}`);
  await answer.text();
}

/** Opens dashboards. Returns a function that closes them and says how many reads they made. */
export function openDashboards(
  base_url: string,
  cookie: string,
  reads: readonly string[],
  count: number,
): () => Promise<number> {
  const end = new AbortController();
  let answered = 0;
  const follow = async () => {
    const headers = { cookie };
    const { body } = await fetch(`${base_url}/v1/management/events`, {
      headers,
      signal: end.signal,
    });
    let next_ms = 0;
    for await (const _ of body ?? []) {
      if (performance.now() < next_ms) continue;
      next_ms = performance.now() + READ_EVERY_MS;
      Promise.all(
        reads.map(async (path) => {
          await (await fetch(base_url + path, { headers, signal: end.signal })).text();
          answered += 1;
        }),
      ).catch(() => undefined);
    }
  };
  const open = Array.from({ length: count }, () => follow().catch(() => undefined));
  return async () => {
    end.abort();
    await Promise.all(open);
    return answered;
  };
}
