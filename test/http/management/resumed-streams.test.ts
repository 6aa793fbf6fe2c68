/**
 * Clients of the live events that come and go at any time. Each adds up what the events say, from the state
 * that it knew; the sums of usage are the judge.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

const CLIENTS = 6;
const RESUMES = 5;

let weir: RunningWeir;
beforeAll(async () => {
  weir = await startWeir({ shared_database: true });
});
afterAll(() => weir.stop());

async function call(): Promise<void> {
  const answer = await fetch(`${weir.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Hi [[sim tokens=3]]' }],
    }),
  });
  await answer.text();
}

/** Returns how many calls usage has in a state. */
async function callsAt(as_of: string): Promise<number> {
  const query = new URLSearchParams({ metric: 'requests', bucket: 'none', as_of });
  const answer = await fetch(`${weir.base_url}/v1/management/usage/query?${query}`, {
    headers: { authorization: `Bearer ${weir.management_token}` },
  });
  const { total } = (await answer.json()) as { total: { value: number } };
  return total.value;
}

/** Reads one stream until it has told of calls so many times. Returns their number and the last id. */
async function listen(
  last: string | undefined,
  times: number,
): Promise<{ calls: number; id: string }> {
  const stop = new AbortController();
  const response = await fetch(`${weir.base_url}/v1/management/events`, {
    signal: stop.signal,
    headers: {
      authorization: `Bearer ${weir.management_token}`,
      ...(last === undefined ? {} : { 'last-event-id': last }),
    },
  });
  const events = (response.body ?? new ReadableStream<Uint8Array>())
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream());
  let calls = 0;
  let left = times;
  for await (const { id = '', event, data } of events) {
    if (event !== 'usage') continue;
    calls += (JSON.parse(data) as { calls: number }).calls;
    left -= 1;
    if (left > 0) continue;
    stop.abort();
    return { calls, id };
  }
  throw new Error('the stream ended');
}

test('a client that comes back at any time misses no call and counts none twice', async () => {
  let ended = false;
  const calling = (async () => {
    while (!ended) {
      await call();
      await Bun.sleep(20);
    }
  })();
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    await Bun.sleep(client * 130);
    let { id } = await listen(undefined, 1);
    const begin = await callsAt(id);
    let calls = begin;
    for (let resumed = 0; resumed < RESUMES; resumed += 1) {
      await Bun.sleep((client * 97 + resumed * 211) % 600);
      // The first event has what was missed, the next ones what came after that.
      const heard = await listen(id, 3);
      calls += heard.calls;
      id = heard.id;
      expect(calls, `client ${client}, resumed ${resumed} times`).toBe(await callsAt(id));
    }
    expect(calls).toBeGreaterThan(begin);
  });
  await Promise.all(clients);
  ended = true;
  await calling;
});
