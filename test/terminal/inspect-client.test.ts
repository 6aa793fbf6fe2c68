/** The time of Weir, as a client reads it from an answer. */
import { describe, expect, test } from 'bun:test';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InspectClient } from '../../terminal/inspect-client.ts';

/** Reads an answer whose `date` is so many ms behind the clock, and returns the time that it gives. */
async function timeOfAnswer(behind_ms: number): Promise<number> {
  const server = createServer((_, response) => {
    const date = new Date(Date.now() - behind_ms).toUTCString();
    response.writeHead(200, { 'content-type': 'application/json', date }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}`);
  try {
    return (await new InspectClient({ url, token: 'op-test' }).get('/actors')).now_ms;
  } finally {
    server.close();
  }
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe('the time of an answer', () => {
  test('is the time of this machine, though Bun renews `date` only once a second', async () => {
    const before_ms = Date.now();
    const now_ms = await timeOfAnswer(SECOND_MS);
    expect(now_ms).toBeGreaterThanOrEqual(before_ms);
    expect(now_ms).toBeLessThanOrEqual(Date.now());
  });

  test.each([
    ['behind', HOUR_MS],
    ['ahead', -HOUR_MS],
  ])('is the time of Weir if its clock is an hour %s', async (_, behind_ms) => {
    const before_ms = Date.now();
    const now_ms = await timeOfAnswer(behind_ms);
    expect(now_ms).toBeGreaterThanOrEqual(before_ms - behind_ms - SECOND_MS);
    expect(now_ms).toBeLessThanOrEqual(Date.now() - behind_ms + 2 * SECOND_MS);
  });
});
