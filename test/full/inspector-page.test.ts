/** The page of `bin/weir inspector` in a real browser, with the receiver that Stately's inspector has. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { Browser } from 'playwright-core';
import { mistakesOf, startChromium } from '../support/chromium.ts';
import { startTenants, type Tenants } from '../support/tenants.ts';
import { until } from '../support/until.ts';
import { startBridge, stopBridges } from '../terminal/support/bridge.ts';

setDefaultTimeout(120_000);

let tenants: Tenants;
let browser: Browser;
/** Stands in for stately.ai: another origin, with the same receiver. */
let inspector: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  tenants = await startTenants();
  browser = await startChromium();
  const { outputs } = await Bun.build({
    entrypoints: [Bun.resolveSync('@statelyai/inspect', import.meta.dir)],
    target: 'browser',
  });
  const [script] = outputs;
  const receiver = `import { createBrowserReceiver } from './inspect.js';
    globalThis.received = [];
    createBrowserReceiver().subscribe((event) => received.push(event));`;
  inspector = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: ({ url }) =>
      url.endsWith('/inspect.js')
        ? new Response(script)
        : new Response(
            `<!doctype html><link rel="icon" href="data:,"><script type="module">${receiver}</script>`,
            {
              headers: { 'content-type': 'text/html' },
            },
          ),
  });
});
afterAll(async () => {
  stopBridges();
  await browser.close();
  await inspector.stop(true);
  await tenants.stop();
});

test('the inspector in the page gets each event of a task', async () => {
  const port = await startBridge(
    ...([tenants.weir.base_url, tenants.weir.operator_token] as const),
    ...['--machine', 'task', '--inspector', `http://localhost:${inspector.port}/`],
  );
  const page = await browser.newPage();
  const mistakes = mistakesOf(page);
  await page.goto(`http://localhost:${port}/`);
  const received = async (): Promise<StatelyInspectionEvent[]> => {
    const frame = page.frames().find((each) => each.url().includes(`:${inspector.port}/`));
    return (await frame?.evaluate('globalThis.received ?? []')) ?? [];
  };
  const frames = await until('the inspector shows a whole task', async () => {
    const id = await tenants.createTask(tenants.home, 10);
    return until('the task is over', async () => {
      const { status } = await tenants.manage<{ status: string }>('GET', `/tasks/${id}`);
      const found = (await received()).filter(({ sessionId }) => sessionId.endsWith(id));
      const isWhole = found.some((each) => 'snapshot' in each && each.snapshot.status === 'done');
      return status === 'completed' && (isWhole || found.length === 0) && found;
    }).then((found) => found.length > 0 && found);
  });
  expect(frames[0]?.type).toBe('@xstate.actor');
  expect(mistakes.filter((text) => !text.includes('favicon'))).toEqual([]);
});
