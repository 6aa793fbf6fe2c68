/**
 * A client leaves in the middle of a stream, and the database is slow to commit the charge. The call
 * still has one record: its usage line.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI from 'openai';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { beginSilent } from '../../support/silent-transaction.ts';
import { until } from '../../support/until.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
let weir: RunningWeir;
beforeAll(async () => {
  fresh = await createTestDatabase();
  weir = await startWeir({ env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await fresh.drop();
});

const SLOW = '[[sim chunk_ms=100 tokens=400]]';
/** Records of calls without a charge are written within 100 ms. */
const FLUSHED_MS = 500;

/** Reads the first piece of a body, and leaves. */
async function leaveAfterFirst(response: Response, client: AbortController): Promise<string> {
  const reader = response.body?.getReader();
  await reader?.read();
  client.abort();
  await reader?.read().catch(() => undefined);
  return response.headers.get('x-request-id') ?? '';
}

const CALLS: Record<string, (openai: OpenAI, client: AbortController) => Promise<Response>> = {
  chat: (openai, client) =>
    openai.chat.completions
      .create(
        { model: 'gpt-4o-mini', messages: [{ role: 'user', content: SLOW }], stream: true },
        { signal: client.signal },
      )
      .asResponse(),
  speech: (openai, client) =>
    openai.audio.speech
      .create(
        { model: 'tts-1', voice: 'alloy', input: 'Slowly [[sim chunk_ms=100 stall_after=4]]' },
        { signal: client.signal },
      )
      .asResponse(),
};

test.each(Object.keys(CALLS))('a left %s stream has one record', async (name) => {
  const openai = new OpenAI({ baseURL: `${weir.base_url}/v1`, apiKey: weir.api_key });
  const client = new AbortController();
  const response = await CALLS[name]?.(openai, client);
  if (!response) throw new Error(`no call ${name}`);
  const id = await beginSilent(fresh.sql, async (tx) => {
    await tx`select from quota_grant for update`;
    const left = await leaveAfterFirst(response, client);
    await Bun.sleep(FLUSHED_MS);
    return left;
  });
  const uuid = id.slice('req_'.length);
  await until('the usage line', async () => {
    const rows = await fresh.sql`select from usage_line where request_id = ${uuid}`;
    return rows.length === 1;
  });
  await Bun.sleep(FLUSHED_MS);
  expect(await fresh.sql`select outcome from call_record where id = ${uuid}`).toHaveLength(0);
});
