/** A channel breaks in a real browser: its circuit opens, is probed, and closes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { type DashboardWorld, startDashboard } from '../../support/dashboard.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { expectGoodPage } from './support/page-checks.ts';
import { shoot } from './support/screenshots.ts';

setDefaultTimeout(120_000);

const CHANNEL = 'east';
const MODEL = 'gpt-4o';
const PAGE = `/actors/channel/${encodeURIComponent(`${CHANNEL}/${MODEL}`)}`;
/** The probe takes so long that a page shows it, ms. */
const PROBE_MS = 6_000;

let simulator: RunningSimulator;
let world: DashboardWorld;
beforeAll(async () => {
  simulator = await startSimulator();
  const channel = {
    ...{ id: CHANNEL, protocol: 'openai', base_url: simulator.openai_url },
    ...{ api_key: `sim-${CHANNEL}`, models: { [MODEL]: MODEL } },
  };
  world = await startDashboard({ config: JSON.stringify({ channels: [channel] }) });
}, 120_000);
afterAll(async () => {
  await world.stop();
  await simulator.stop();
});

async function call(): Promise<number> {
  const { status } = await fetch(`${world.weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.weir.api_key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  return status;
}

/** The state that is lit in the chart. */
const litState = (page: Page) =>
  page.locator('svg.chart .chart-active:not(.chart-group)').getAttribute('data-state');
const why = (page: Page) => page.getByRole('region', { name: 'Why?' });
const events = (page: Page) => page.getByRole('list', { name: 'Events' });

test('a channel breaks: its chart shows the circuit open, the probe, and the return', async () => {
  expect(await call()).toBe(200);
  const { page, mistakes } = await world.open(PAGE, { height: 1400 });
  await page.getByText('live', { exact: true }).waitFor();
  expect(await litState(page)).toBe('healthy');

  await simulator.setAccount(CHANNEL, { status: 500 });
  await until('the circuit opens in sight of the reader', async () => {
    await call();
    return (await litState(page)) === 'open';
  });
  await why(page).getByText('Because a call failed, and too many calls had failed.').waitFor();
  await page.getByText('It gets no call until its cooldown is over').waitFor();
  await shoot(page, 'actors-circuit-open-light');

  await simulator.setAccount(CHANNEL, { latency_ms: PROBE_MS });
  let isBack = false;
  // A call that comes after the cooldown is the probe; before, calls are refused at once.
  const calls = (async () => {
    while (!isBack) {
      isBack = (await call()) === 200;
      await Bun.sleep(300);
    }
  })();
  await until('the probe is seen', async () => (await litState(page)) === 'probing');
  await why(page).getByText('Because a call needed it after its cooldown').waitFor();
  await calls;
  await until('the channel is back', async () => (await litState(page)) === 'degraded');
  await why(page).getByText('Because the test call ended, and the test call succeeded.').waitFor();

  await simulator.setAccount(CHANNEL, {});
  await until('the channel is healthy again', async () => {
    await call();
    return (await litState(page)) === 'healthy';
  });
  await why(page).getByText('its share of successes rose above 90 %').waitFor();

  // The whole story stays, with the call that caused each step.
  const steps = await events(page).locator('code').allTextContents();
  for (const step of ['FAILED', 'COOLED', 'PROBED', 'SUCCEEDED']) expect(steps).toContain(step);
  await events(page)
    .getByRole('button', { name: /COOLED/ })
    .click();
  await until('the chart shows the probe again', async () => (await litState(page)) === 'probing');
  const caused = events(page).locator('[aria-current="step"] a[href*="/usage/requests/"]');
  expect(await caused.count()).toBe(1);
  await expectGoodPage(page);
  expect(mistakes).toEqual([]);
  await page.context().close();
});
