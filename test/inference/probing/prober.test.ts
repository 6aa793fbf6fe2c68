import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let simulator: RunningSimulator;
let weir: RunningWeir;
beforeAll(async () => {
  simulator = await startSimulator();
  const channel = (id: string, extra: object) => ({
    ...{ id, protocol: 'openai', base_url: simulator.openai_url, api_key: `sim-${id}` },
    ...{ models: { 'gpt-4o': 'physical' }, ...extra },
  });
  const channels = [channel('sick', { probe_s: 1 }), channel('spare', { priority: 1 })];
  weir = await startWeir({ shared_database: true, config: JSON.stringify({ channels }) });
});
afterAll(async () => {
  await weir.stop();
  await simulator.stop();
});

async function chat(): Promise<number> {
  const response = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.text();
  return response.status;
}

async function state(): Promise<string> {
  const response = await fetch(`${weir.base_url}/v1/operator/channels/sick`, {
    headers: { authorization: `Bearer ${weir.operator_token}` },
  });
  return ((await response.json()) as { state: string }).state;
}

test('P9: with probe_s only Weir’s own calls test whether a channel has recovered', async () => {
  await simulator.setAccount('sick', { down: true });
  await until('its circuit is open', async () => {
    expect(await chat()).toBe(200);
    return (await state()) === 'open';
  });
  const last_id = (await simulator.books()).calls.at(-1)?.id ?? '';
  // This time is longer than the cooldown. Clients go on calling, and no call goes to the failing
  // channel.
  const end = Date.now() + 4_000;
  while (Date.now() < end) {
    expect(await chat()).toBe(200);
    // A loop without a pause would reach the rate limit of the key on a fast machine.
    await Bun.sleep(10);
  }
  expect(await state()).not.toBe('degraded');
  await simulator.setAccount('sick', {});
  await until('the channel serves again after a probe', async () => (await state()) === 'degraded');
  const { calls } = await simulator.books({ since: last_id });
  const probes = calls.filter(({ account }) => account === 'sick');
  expect(probes.length).toBeGreaterThan(0);
  expect(calls.filter(({ account }) => account === 'spare').length).toBeGreaterThan(probes.length);
});
