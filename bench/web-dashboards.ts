/** Open dashboards without a browser: each follows the events and reads again as the page does. */
import type { DashboardWorld } from '../test/support/dashboard.ts';

/** The overview reads at the first event after each multiple of this time (web/pages/overview/picture.ts), ms. */
const READ_EVERY_MS = 20_000;
/** And within this time after it, ms. */
const SPREAD_MS = 2_000;
/** The page is watched for a little longer, to see these reads, ms. */
const WATCH_MS = READ_EVERY_MS + 3_000;

/** What of an address differs each time that the page reads the same. */
const CHANGING = ['as_of', 'startDate', 'endDate'];

/** Returns the addresses of the API that the first page reads again after an event, each once. */
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
  return [...new Map(asked.map((path) => [withoutChanging(path), path])).values()];
}

function withoutChanging(path: string): string {
  const url = new URL(path, 'http://weir');
  for (const name of CHANGING) url.searchParams.delete(name);
  return url.pathname + url.search;
}

/** The same read at another committed state: the page reads at the state of the latest event. */
function readAt(path: string, as_of: string): string {
  const url = new URL(path, 'http://weir');
  if (as_of !== '' && url.searchParams.has('as_of')) url.searchParams.set('as_of', as_of);
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

/**
 * Opens a dashboard for each cookie, which reads as the page does.
 * Returns a function that closes them and says how many reads they made.
 */
export function openDashboards(
  base_url: string,
  cookies: readonly string[],
  reads: readonly string[],
): () => Promise<number> {
  const end = new AbortController();
  let answered = 0;
  const follow = async (cookie: string) => {
    const headers = { cookie };
    const { body } = await fetch(`${base_url}/v1/management/events`, {
      headers,
      signal: end.signal,
    });
    const decoder = new TextDecoder();
    let slot: number | undefined;
    for await (const part of body ?? []) {
      const ids = decoder.decode(part, { stream: true }).matchAll(/^id: (\S+)$/gm);
      const as_of = [...ids].at(-1)?.[1] ?? '';
      const number = Math.floor(Date.parse(as_of.split('~')[0] ?? '') / READ_EVERY_MS);
      if (Number.isNaN(number) || number === slot) continue;
      const isFirst = slot === undefined;
      slot = number;
      if (isFirst) continue;
      const reading = Bun.sleep(Math.random() * SPREAD_MS).then(() =>
        Promise.all(
          reads.map(async (path) => {
            await (
              await fetch(base_url + readAt(path, as_of), { headers, signal: end.signal })
            ).text();
            answered += 1;
          }),
        ),
      );
      reading.catch(() => undefined);
    }
  };
  const open = cookies.map((cookie) => follow(cookie).catch(() => undefined));
  return async () => {
    end.abort();
    await Promise.all(open);
    return answered;
  };
}
