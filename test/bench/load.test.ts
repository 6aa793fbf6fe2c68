/** The load generator's errors, and the answers that are read beside it. */
import { expect, test } from 'bun:test';
import { bodyOfCall } from '../../bench/contenders.ts';
import { flawOfMeasurement, measure } from '../../bench/load.ts';
import { findProgram } from '../../bench/programs.ts';
import type { Target } from '../../bench/target.ts';
import { startSimulator } from '../support/simulator.ts';
import { removeFolder, throwawayFolder } from '../support/throwaway.ts';

/**
 * Measures a server that gives this answer to each call for a stream, for one second. Returns the
 * flaw of the measurement.
 */
async function flawUnderLoad(answer: () => Response): Promise<string | undefined> {
  const wrk = await findProgram('wrk');
  const folder = throwawayFolder('load');
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  const target: Target = { url: server.url.href, headers: {}, body: bodyOfCall(true) };
  try {
    const load = { connections: 2, seconds: 1, stream: true };
    return flawOfMeasurement(await measure(wrk, target, folder, load));
  } finally {
    await server.stop(true);
    removeFolder(folder);
  }
}

const events = (text: string, status = 200) =>
  new Response(text, { status, headers: { 'content-type': 'text/event-stream' } });

test('a measurement counts only if every answer is 2xx and every stream ends', async () => {
  const simulator = await startSimulator();
  const url = `${simulator.openai_url}/chat/completions`;
  const headers = { authorization: 'Bearer sim-load', 'content-type': 'application/json' };
  const sent = await fetch(url, { method: 'POST', headers, body: bodyOfCall(true) });
  const text = await sent.text();
  await simulator.stop();
  expect(await flawUnderLoad(() => events(text))).toBeUndefined();

  let calls = 0;
  const sometimes = () => {
    calls += 1;
    return events(text, calls % 3 === 0 ? 503 : 200);
  };
  expect(await flawUnderLoad(sometimes)).toMatch(/^\d+ errors and \d+ answers under load$/);

  const cut = text.slice(0, text.indexOf('data: [DONE]'));
  expect(await flawUnderLoad(() => events(cut))).toContain('does not end with [DONE]');
});
