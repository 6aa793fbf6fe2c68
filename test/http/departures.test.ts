import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connect } from 'node:net';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { beginSilent } from '../support/silent-transaction.ts';
import { until } from '../support/until.ts';

/** A busy machine may need longer than the default of 5 s. */
setDefaultTimeout(60_000);

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const ROUTES = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini' },
  { path: '/v1/messages', model: 'claude-haiku-4-5' },
];

const countUsageLines = async () => {
  const [row] = await gateway.database.sql<{ lines: number }[]>`
    select count(*)::int as lines from usage_line`;
  return row?.lines ?? 0;
};

/**
 * Reads a stream until its charge is being committed. Then it disconnects and lets the commit
 * proceed.
 */
async function disconnectDuringCommit({
  path,
  model,
}: {
  path: string;
  model: string;
}): Promise<void> {
  const send = (signal?: AbortSignal) => {
    const messages = [{ role: 'user', content: 'hello' }];
    const body = { model, messages, max_tokens: 50, stream: true };
    return gateway.post(path, body, signal ? { signal } : {});
  };
  // The second call finds an open grant. A lock on the grant's row delays the charge.
  await (await send()).text();
  const before = await countUsageLines();
  const { sql } = gateway.database;
  await beginSilent(sql, async (locking) => {
    await locking`select id from quota_grant where status = 'open' for update`;
    const client = new AbortController();
    const response = await send(client.signal);
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('answer.')) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`the stream ended early: ${text}`);
      text += new TextDecoder().decode(value);
    }
    await until('the charge waits for the row', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    client.abort();
    await reader?.read().catch(() => undefined);
    // The server detects the disconnect by its socket.
    await Bun.sleep(100);
  });
  await until('the charge is committed', async () => (await countUsageLines()) === before + 1);
}

describe.each(ROUTES)(
  'a client of $path that disconnects while its charge is committed',
  (route) => {
    test('P8: is charged once, and the ledger stays correct', async () => {
      await disconnectDuringCommit(route);
      expect(await findMoneyFaults(gateway.database.sql)).toEqual([]);
      const again = {
        model: route.model,
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
      };
      expect((await gateway.post(route.path, again)).status).toBe(200);
    });

    test('is not reported as an error', async () => {
      gateway.errors.length = 0;
      await disconnectDuringCommit(route);
      await Bun.sleep(50);
      expect(gateway.errors).toEqual([]);
    });
  },
);

const MB = 1024 * 1024;
/**
 * The most bytes in sockets and streams. An answer that is fully in memory would be many times
 * larger.
 */
const MAX_BUFFERED_BYTES = 64 * MB;
const WHOLE_BYTES = 512 * MB;

/** An answer of 512 MB that counts the bytes which were read from it. */
function endless(): { response: Response; bytesRead: () => number } {
  let bytesRead = 0;
  const content = 'word '.repeat(MB / 5);
  const chunk = { id: 'theirs', model: 'canary', choices: [{ index: 0, delta: { content } }] };
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await Bun.sleep(1);
        bytesRead += bytes.length;
        if (bytesRead > WHOLE_BYTES) controller.close();
        else controller.enqueue(bytes);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { 'content-type': 'text/event-stream' };
  return { response: new Response(body, { headers }), bytesRead: () => bytesRead };
}

test('P8: a client that reads nothing pauses its upstream, and stops it by disconnecting', async () => {
  const { upstream, base_url, api_key } = gateway;
  const usual = upstream.answer;
  const { response, bytesRead } = endless();
  upstream.answer = () => response;
  const { hostname, port } = new URL(base_url);
  const messages = [{ role: 'user', content: 'hello' }];
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages, stream: true });
  upstream.asked.length = 0;
  const client = connect(Number(port), hostname);
  client.pause();
  client.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${api_key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let before = -1;
  await until('the upstream is held up', async () => {
    if (bytesRead() === before && before > 0) return true;
    before = bytesRead();
    await Bun.sleep(300);
    return false;
  });
  expect(bytesRead()).toBeLessThan(MAX_BUFFERED_BYTES);
  client.destroy();
  await upstream.asked[0]?.aborted;
  upstream.answer = usual;
  await until('the delivered part is charged', async () => {
    const imbalances = await findMoneyFaults(gateway.database.sql);
    return imbalances.length === 0;
  });
});
