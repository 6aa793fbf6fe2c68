/**
 * Thousands of concurrent calls, with a third of the clients disconnecting. No client gets an
 * answer of another call.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { until } from '../support/until.ts';
import { repeatWords, tokensOf, wordsOf } from './support/marked-upstream.ts';

setDefaultTimeout(180_000);

const CALLS = 5_760;
const AT_ONCE = 240;
/** 35 of 100 clients disconnect, which is 2,016 of 5,760. */
const LEAVING_PERCENT = 35;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ max_concurrency: 1_000, balance_usd: 10_000 });
});
afterAll(() => gateway.stop());

const marker = (n: number) => `marker-${n}-${(n * 7_919) % 104_729}-end`;
const MARKERS = /marker-\d+-\d+-end/g;

/** Each route has the prices of one input token and one output token in nano-USD (catalogue). */
const ROUTES = [
  { path: '/v1/chat/completions', model: 'gpt-4o-mini', price: [150, 600] },
  { path: '/v1/messages', model: 'claude-haiku-4-5', price: [1_000, 5_000] },
  // In the next two routes, the protocol of the call is not that of the provider.
  { path: '/v1/chat/completions', model: 'claude-haiku-4-5', price: [1_000, 5_000] },
  { path: '/v1/messages', model: 'gpt-4o-mini', price: [150, 600] },
] as const;

interface Outcome {
  n: number;
  left: boolean;
  status: number;
  text: string;
  /** The id in hexadecimal, as the ledger stores it. */
  request_id: string;
}

const routeOf = (n: number) => ROUTES[n % ROUTES.length] ?? ROUTES[0];
/** Clients that disconnect are spread over the routes, and over plain answers and streams. */
const leaves = (n: number) => (n * 37) % 100 < LEAVING_PERCENT;
const streams = (n: number) => Math.floor(n / ROUTES.length) % 2 === 0;

async function call(n: number): Promise<Outcome> {
  const { path, model } = routeOf(n);
  const client = new AbortController();
  // Some clients leave before the upstream call, some in the middle, and a few too late.
  if (leaves(n)) setTimeout(() => client.abort(), n % 23);
  const messages = [{ role: 'user', content: marker(n) }];
  const body = { model, max_tokens: 200, stream: streams(n), messages };
  let text = '';
  let status = 0;
  let request_id = '';
  try {
    const response = await gateway.post(path, body, { signal: client.signal });
    status = response.status;
    request_id = (response.headers.get('x-request-id') ?? '').replace('req_', '');
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { n, left: false, status, text, request_id };
  } catch (error) {
    if (!client.signal.aborted) throw error;
    return { n, left: true, status, text, request_id };
  }
}

/** Returns the words of an answer or of a stream, whole or cut off. */
function saidIn(text: string): string {
  return [...text.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, words]) => words).join('');
}

test(`${CALLS} calls, a third with a client that leaves: each answer belongs to its own call`, async () => {
  gateway.upstream.answer = async (asked) => {
    const words = wordsOf(asked);
    await Bun.sleep(tokensOf(words).output % 17);
    return repeatWords(asked);
  };
  const outcomes: Outcome[] = [];
  let next = 0;
  const worker = async () => {
    while (next < CALLS) {
      const n = next;
      next += 1;
      outcomes.push(await call(n));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  const wrong: object[] = [];
  for (const { n, left, status, text } of outcomes) {
    const said = saidIn(text);
    const own = marker(n);
    if (left ? !own.startsWith(said) : status !== 200 || said !== own) wrong.push({ n, said, own });
    if ((text.match(MARKERS) ?? []).some((each) => each !== own)) wrong.push({ n, text });
  }
  expect(wrong).toEqual([]);
  const left = outcomes.filter((each) => each.left).length;
  expect(outcomes).toHaveLength(CALLS);
  expect(left).toBeGreaterThan(CALLS / 5);
  // No call was sent to the upstream twice.
  const words = gateway.upstream.asked.map(wordsOf);
  expect(new Set(words).size).toBe(words.length);

  await expectCharged(outcomes);
});

async function expectCharged(outcomes: Outcome[]): Promise<void> {
  const { sql } = gateway.database;
  await until('nothing is held', async () => {
    const [row] = await sql<{ held: number }[]>`
      select sum(held_nano_usd)::int8 as held from api_key`;
    return row?.held === 0;
  });
  const lines = await sql<{ id: string; charged: number }[]>`
    select replace(request_id::text, '-', '') as id, charged_nano_usd as charged from usage_line`;
  const charges = new Map(lines.map(({ id, charged }) => [id, charged]));
  expect(charges.size).toBe(lines.length);
  const wrong: object[] = [];
  for (const { n, left, request_id } of outcomes) {
    if (left) continue;
    const { input, output } = tokensOf(marker(n));
    const [in_price, out_price] = routeOf(n).price;
    const expected = input * in_price + output * out_price;
    if (charges.get(request_id) !== expected) {
      wrong.push({ n, charged: charges.get(request_id), expected });
    }
  }
  expect(wrong).toEqual([]);
  expect(await findMoneyFaults(sql)).toEqual([]);
  expect(gateway.errors).toEqual([]);
}
