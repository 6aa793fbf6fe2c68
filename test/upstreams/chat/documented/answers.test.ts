/**
 * Answers of chat providers, as their documentation and the tests of strangers show them. A scripted provider sends
 * each to a real Weir. The vendors' own packages of all four client protocols get its text, its
 * calls, its end and its tokens, and the charge is what the vendor bills.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../../../db/client.ts';
import {
  CHAT_PROTOCOLS,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
} from '../../../../src/protocols/names.ts';
import { requestProtocolOf } from '../../../../src/upstreams/chat/protocols.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { type RunningWeir, startWeir } from '../../../support/weir.ts';
import { CHAT_WITNESSES } from '../witnesses/table.ts';
import type { ChatAnswer } from './answer.ts';
import { CLAUDE_ANSWERS } from './claude.ts';
import { CLIENTS } from './clients.ts';
import { COMPATIBLE_ANSWERS } from './compatible.ts';
import { RARE_ANSWERS } from './ends.ts';
import { GOOGLE_ANSWERS } from './google.ts';
import { OWN_WORK_ANSWERS } from './own-work.ts';
import { RESPONSES_ANSWERS } from './responses.ts';

setDefaultTimeout(120_000);

const ANSWERS = [
  ...COMPATIBLE_ANSWERS,
  ...CLAUDE_ANSWERS,
  ...GOOGLE_ANSWERS,
  ...RESPONSES_ANSWERS,
  ...RARE_ANSWERS,
  ...OWN_WORK_ANSWERS,
];
const isChat = (name: string) => CHAT_PROTOCOLS.some((each) => each === name);
const nameOf = (at: number) => `documented-${at}`;

const dataLine = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const namedEvent = (value: object) =>
  `event: ${(value as { type?: string }).type}\n${dataLine(value)}`;

function streamOf({ protocol, stream = [] }: ChatAnswer): string {
  const written = requestProtocolOf(protocol);
  if (written === 'openai') return `${stream.map(dataLine).join('')}data: [DONE]\n\n`;
  return stream.map(written === 'gemini' ? dataLine : namedEvent).join('');
}

const provider = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const answer = ANSWERS[Number(pathname.split('/')[1])] as ChatAnswer;
    const body = (await request.json()) as { stream?: boolean };
    const isStreamed = body.stream === true || pathname.includes(':streamGenerateContent');
    return isStreamed
      ? new Response(streamOf(answer), { headers: { 'content-type': 'text/event-stream' } })
      : Response.json(answer.whole);
  },
});

/** USD per million tokens. */
const PRICE = { input: 1, cached: 0.1, written: 1.25, output: 10 };
const USD_PER_SEARCH = 0.01;

function configuration(): string {
  const channels = ANSWERS.map(({ protocol, dialect }, at) => ({
    ...{ id: nameOf(at), protocol, base_url: `${provider.url.origin}/${at}`, api_key: 'key' },
    ...(dialect === undefined ? {} : { dialect }),
    models: { [nameOf(at)]: 'm' },
  }));
  const models = ANSWERS.map((_, at) => ({
    ...{ id: nameOf(at), category: 'chat', owned_by: 'us', family: 'openai-chat' },
    ...{ context_window: 1_000_000, max_output_tokens: 8_000 },
    price: {
      input_usd_per_mtok: PRICE.input,
      cached_input_usd_per_mtok: PRICE.cached,
      cache_write_usd_per_mtok: PRICE.written,
      output_usd_per_mtok: PRICE.output,
      usd_per_web_search: USD_PER_SEARCH,
    },
  }));
  return JSON.stringify({ channels, models });
}

let weir: RunningWeir;
let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ config: configuration(), env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await provider.stop(true);
  await database.close();
  await fresh.drop();
});

/** What a client package reads, or why it cannot read the answer. */
const outcomeOf = (client: ClientProtocol, call: Parameters<(typeof CLIENTS)['openai']>[0]) =>
  CLIENTS[client](call).catch((error: unknown) => ({ error: String(error) }));

const ROWS = ANSWERS.map((each, at) => [each.vendor, each.source, at, each] as const);

describe('every client gets what a documented answer means, and pays for it', () => {
  test.concurrent.each(ROWS)('%s (%s) %i', async (_vendor, _source, at, answer) => {
    const { means, stream_billed } = answer;
    const cases = CLIENT_PROTOCOLS.flatMap((client) =>
      [false, true].map((streamed) => [client, streamed] as [ClientProtocol, boolean]),
    ).filter(([, streamed]) => (streamed ? answer.stream : answer.whole));
    const { text, calls = [], finish } = means;
    const expected: object[] = [];
    const seen: object[] = [];
    const charges: number[] = [];
    for (const [client, streamed] of cases) {
      const { base_url, api_key } = weir;
      const call = { api_key, model: nameOf(at), streamed };
      const name = `${client}${streamed ? ', streamed' : ''}`;
      seen.push({ name, ...(await outcomeOf(client, { ...call, base_url })) });
      const {
        input,
        cached = 0,
        written = 0,
        output,
        searches = 0,
      } = streamed && stream_billed ? stream_billed : means.billed;
      const tokens = { input: input + cached + written, cached, output };
      // A client of the provider's own protocol reads through Weir what it reads without Weir.
      const isSame = client === requestProtocolOf(answer.protocol);
      const direct = { ...call, base_url: `${provider.url.origin}/${at}` };
      expected.push(
        isSame
          ? { name, ...(await outcomeOf(client, direct)) }
          : { name, text, calls, finish, tokens },
      );
      const nano_usd =
        input * PRICE.input +
        cached * PRICE.cached +
        written * PRICE.written +
        output * PRICE.output;
      charges.push(Math.round(nano_usd * 1_000 + searches * USD_PER_SEARCH * 1e9));
    }
    expect(seen).toEqual(expected);
    const lines = await database.sql`
      select charged_nano_usd::int8 as charged from usage_line
      where model = ${nameOf(at)} order by created_at, id`;
    expect(lines.map(({ charged }) => charged)).toEqual(charges);
  });
});

test('the table of witnesses has the number of answers of each vendor', () => {
  const rows = CHAT_WITNESSES.filter(({ protocol }) => isChat(protocol));
  const counted = rows.map(({ provider: vendor, protocol }) => ({
    ...{ vendor, protocol },
    answers: ANSWERS.filter((each) => each.vendor === vendor && each.protocol === protocol).length,
  }));
  expect(counted).toEqual(
    rows.map(({ provider: vendor, protocol, payloads }) => ({
      ...{ vendor, protocol, answers: payloads.answers },
    })),
  );
});
