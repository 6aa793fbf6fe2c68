/** The river of calls in flight in a real browser: live, paused, and an hour back. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';
import { shoot } from './support/screenshots.ts';

setDefaultTimeout(120_000);

let world: DashboardWorld;
beforeAll(async () => {
  world = await startDashboard();
}, 120_000);
afterAll(() => world.stop());

/** Sends a call that answers slowly, token by token. */
async function call(model: string, directives: string): Promise<void> {
  const answer = await fetch(`${world.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      ...{ model, stream: true },
      messages: [{ role: 'user', content: `Hello [[sim ${directives}]]` }],
    }),
  });
  await answer.text();
}

const ribbons = (page: Page) => page.locator('path[data-call]');

/** Expects that no text of the river is cut below its box, and that no box lies on another. */
async function expectNothingCovered(page: Page): Promise<void> {
  const overlaps = await page.locator('button[aria-pressed]').evaluateAll((boxes) => {
    const places = boxes.map((box) => box.getBoundingClientRect());
    return places.flatMap((a, at) =>
      places
        .slice(at + 1)
        .filter(
          (b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
        ),
    ).length;
  });
  expect(overlaps).toBe(0);
}

test('calls flow from their key to the ledger, stop when paused, and come back from the past', async () => {
  const { page, mistakes } = await world.open('/actors/fleet', { width: 1000, height: 1300 });
  await page.getByText('Nothing runs now').waitFor();
  const slow = 'tokens=60 chunk_ms=500';
  const running = Promise.all([
    ...['gpt-4o', 'gpt-4o-mini', 'claude-haiku-4-5'].map((model) => call(model, slow)),
    call('gemini-2.5-flash', 'tokens=5 latency_ms=25000'),
  ]);
  await until('all calls flow', async () => (await ribbons(page).count()) >= 11);
  await expectNothingCovered(page);
  await shoot(page, 'actors-fleet-flowing-light');

  await page.getByRole('button', { name: 'Pause' }).click();
  const at = new Date().toISOString();
  const first = ribbons(page).first();
  const id = await first.getAttribute('data-call');
  await first.dispatchEvent('click');
  await page.getByRole('heading', { name: 'One call' }).waitFor();
  await page.getByRole('link', { name: 'Its quota' }).waitFor();
  await page.waitForURL(({ searchParams }) => searchParams.get('call') === id);
  await page
    .getByRole('button', { name: /^gpt-4o ?demo-.*healthy/ })
    .first()
    .click();
  await page.getByRole('heading', { name: 'Calls of the chosen box' }).waitFor();
  await expectGoodPage(page);

  await running;
  // The picture is held, though the calls have ended.
  expect(await ribbons(page).count()).toBeGreaterThanOrEqual(11);
  await page.getByRole('button', { name: 'Go on live' }).click();
  await page.getByText('Nothing runs now').waitFor();

  await until('the records have the calls', async () => {
    await page.goto(`${world.weir.base_url}/actors/fleet?at=${at}`);
    await page.getByText('ran then').waitFor();
    return (await ribbons(page).count()) >= 11;
  });
  await page.getByText('4 calls ran then').waitFor();
  await page.locator('tbody button').first().click();
  await page.getByRole('link', { name: 'through the actors' }).waitFor();
  await expectGoodPage(page);
  // One step of the slider is a second, however long ago the page was opened.
  const slider = page.getByLabel('Moment of the last hour');
  const momentOf = () => page.url().match(/at=([^&]+)/)?.[1];
  for (const open_ms of [0, 500, 1_000, 1_500]) {
    const before = momentOf();
    await Bun.sleep(open_ms);
    await slider.press('ArrowLeft');
    await until('the moment changes', () => momentOf() !== before);
  }
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  await page.getByText('Nothing runs now').waitFor();
  expect(mistakes).toEqual([]);
  await page.context().close();
});

test('a person of an organization sees no channel', async () => {
  const context = await world.personAs('viewer');
  const { page, mistakes } = await world.open('/actors/fleet', { context });
  const running = call('gpt-4o', 'tokens=30 chunk_ms=500');
  await until('the call flows', async () => (await ribbons(page).count()) === 2);
  await page.getByRole('button', { name: /^Ledger/ }).waitFor();
  expect(await page.getByText('Channels', { exact: true }).count()).toBe(0);
  expect(await page.content()).not.toContain('demo-');
  expect(mistakes).toEqual([]);
  await running;
  await context.close();
});
