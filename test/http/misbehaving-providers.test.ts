/**
 * Generation providers that misbehave over HTTP. In each case the task ends, the ledger is correct, and no
 * response names the provider.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { connectDatabase, type Database } from '../../db/client.ts';
import { findMoneyFaults } from '../support/money-faults.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningWeir, startWeir } from '../support/weir.ts';
import { withoutSignatures } from '../support/without-signatures.ts';

setDefaultTimeout(120_000);

let weir: RunningWeir;
let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'single' });
  weir = await startWeir({ env: { DATABASE_URL: fresh.url } });
});
afterAll(async () => {
  await weir.stop();
  await database.close();
  await fresh.drop();
});

interface Task {
  id?: string;
  status?: string;
  poll_url?: string;
  data?: { url?: string }[];
  billing_transaction_id?: string;
  error?: string | { code: string; message: string };
}

const send = (path: string, body?: object) =>
  fetch(weir.base_url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${weir.api_key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

async function runTask(model: string, route: string, directive: string) {
  const prompt = `A lighthouse [[sim task_ms=200]] [[sim ${directive}]]`;
  const sync = { model, prompt };
  const body = route === 'images' ? { ...sync, async: true } : sync;
  let answer = await send(`/v1/${route}/generations`, body);
  let text = await answer.clone().text();
  while (/"status":"(pending|processing)"/.test(text)) {
    await Bun.sleep(Number(answer.headers.get('retry-after')) * 1_000);
    answer = await send(`/v1/tasks/${(JSON.parse(text) as Task).id}`);
    text = await answer.clone().text();
  }
  expect(withoutSignatures(text.replaceAll(weir.base_url, ''))).not.toMatch(
    /SIM|127\.0\.0\.1|demo-|kling-v3|generate-preview|chirp|sim-/,
  );
  return JSON.parse(text) as Task;
}

const MODELS = [
  ['veo-3.1', 'videos'],
  ['kling-3.0', 'videos'],
  ['seedance-2.0', 'videos'],
  ['runway-gen4.5', 'videos'],
  ['flux-2-pro', 'images'],
  ['midjourney', 'images'],
  ['suno_music', 'music'],
] as const;

/** The directive for the simulator, and how the task must end. */
const CASES: [directive: string, status: 'completed' | 'failed', message?: string][] = [
  ['no_url=1', 'failed', 'could not|failed|without a result|upstream_error'],
  ['url_ms=0', 'failed', 'could not|failed|without a result|upstream_error'],
  ['fail=upstream', 'failed', 'could not|failed|without a result|upstream_error'],
  ['fail=moderation', 'failed', 'safety|content_policy_violation'],
  ['poll_status=503 poll_times=2', 'completed'],
  ['poll_status=429 poll_times=1', 'completed'],
];

describe.each(CASES)('P3, P5: after [[sim %s]] a task has %s', (directive, status, message) => {
  // Veo's files need the key and stay for two days. So the URLs of Veo's files do not expire.
  const models = MODELS.filter(([model]) => !(directive === 'url_ms=0' && model === 'veo-3.1'));
  test.concurrent.each(models)('%s', async (model, route) => {
    const task = await runTask(model, route, directive);
    expect({ model, ...task }).toMatchObject({ model, status });
    if (message) expect(JSON.stringify(task.error)).toMatch(new RegExp(message));
    const lines = await database.sql`
      select usage_line.id from usage_line join task using (hold_id) where task.id = ${task.id ?? ''}`;
    expect(lines).toHaveLength(task.status === 'completed' ? 1 : 0);
  });
});

test('P1: in the end no money is held, and the audit finds nothing', async () => {
  const [row] = await database.sql`select sum(held_nano_usd)::int8 as held from organization`;
  expect(row?.['held']).toBe(0);
  expect(await findMoneyFaults(database.sql)).toEqual([]);
});
