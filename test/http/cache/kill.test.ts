/** kill -9 while an answer is sent and stored: afterwards an identical call gets a whole answer. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { demoConfig } from '../../../src/config/demo.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { sharedRedisUrl } from '../../support/redis.ts';
import { startSimulator } from '../../support/simulator.ts';
import { startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

let simulator: Awaited<ReturnType<typeof startSimulator>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let env: Record<string, string>;
beforeAll(async () => {
  simulator = await startSimulator();
  database = await createTestDatabase();
  env = { DATABASE_URL: database.url, REDIS_URL: await sharedRedisUrl(), WEIR_CACHE: 'on' };
});
afterAll(async () => {
  await database.drop();
  await simulator.stop();
});

const TOKENS = 12;
const wordsOf = (stream: string) =>
  [...stream.matchAll(/^data: (\{.*)$/gm)]
    .map(([, json]) => JSON.parse(String(json)).choices[0]?.delta.content ?? '')
    .join('');

/** Sends a call, and returns its response. The answer is read by the caller. */
const send = ({ base_url, api_key }: { base_url: string; api_key: string }, prompt: string) =>
  fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: 'gpt-4o', stream: true },
      messages: [{ role: 'user', content: `${prompt} [[sim tokens=${TOKENS} chunk_ms=20]]` }],
    }),
  });

test.each([
  ['at its first event', 1],
  ['in its middle', 6],
  ['at its end, while it is stored', Number.POSITIVE_INFINITY],
])('kill -9 %s', async (when, reads) => {
  const config = JSON.stringify(demoConfig(simulator.url));
  const victim = await startWeir({ config, env });
  const { body } = await send(victim, when);
  const reader = body?.getReader();
  for (let read = 0; read < reads; read += 1) {
    const { done } = (await reader?.read()) ?? { done: true };
    if (done) break;
  }
  victim.kill('SIGKILL');
  await victim.exited;
  await reader?.cancel().catch(() => undefined);
  await victim.stop();

  const next = await startWeir({ config, env });
  try {
    const other = wordsOf(await (await send(next, `${when}, another`)).text());
    const answers = [await send(next, when), await send(next, when)];
    const [first, second] = await Promise.all(answers.map((each) => each.text()));
    expect(first).toEndWith('data: [DONE]\n\n');
    expect(wordsOf(String(first)).split(' ')).toHaveLength(other.split(' ').length);
    expect(answers[1]?.headers.get('x-weir-cache')).toBe('hit');
    expect(wordsOf(String(second))).toBe(wordsOf(String(first)));
  } finally {
    await next.stop();
  }
});
