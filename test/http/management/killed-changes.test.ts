/** A replica is killed while clients create keys. They repeat the requests at another replica. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningWeir, startWeir } from '../../support/weir.ts';

setDefaultTimeout(120_000);

/** Keys of one organization are created one after the other, so one organization is too slow. */
const ORGANIZATIONS = 12;
const KEYS = 240;

let database: TestDatabase;
let survivor: RunningWeir;
let env: Record<string, string>;
const tokens: string[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  env = { DATABASE_URL: database.url, WEIR_SECRET_KEY: 'the same on both replicas of this test' };
  survivor = await startWeir({ env });
  const { sql } = database;
  for (let n = 0; n < ORGANIZATIONS; n += 1) {
    const [organization_id, token] = [newId('org'), newCredential('mt')];
    await sql`insert into organization ${sql({ id: organization_id, name: `n${n}` })}`;
    await sql`insert into access_token ${sql({
      ...{ id: newId('token'), kind: 'management', organization_id },
      ...{ token_hash: hashCredential(token), token_prefix: shownPrefix(token) },
    })}`;
    tokens.push(token);
  }
});
afterAll(async () => {
  await survivor.stop();
  await database.drop();
});

async function create(weir: RunningWeir, name: string, index: number) {
  const response = await fetch(`${weir.base_url}/v1/management/api-keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens[index % tokens.length]}`,
      'content-type': 'application/json',
      'idempotency-key': name,
    },
    body: JSON.stringify({ name }),
  });
  expect(response.status).toBe(200);
  const { key } = (await response.json()) as { key: string };
  return { isRepeat: response.headers.has('idempotent-replayed'), key };
}

/** Makes each creation of a key wait in its COMMIT, so that the kill meets many of them there. */
async function slowCommits(): Promise<() => Promise<void>> {
  const { sql } = database;
  await sql`create or replace function take_a_while() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.15); return null; end $$`;
  await sql`create constraint trigger slow after insert on api_key deferrable initially deferred
    for each row execute function take_a_while()`;
  return async () => {
    await sql`drop trigger slow on api_key`;
  };
}

test.each([1, 2])(
  'kill -9, round %p: each request creates one key, and its repeat returns it',
  async (round) => {
    const victim = await startWeir({ env });
    const endSlowness = await slowCommits();
    const names = Array.from({ length: KEYS }, (_, n) => `round-${round}-key-${n}`);
    const answers = new Map<string, string>();
    let isStopped = false;
    async function kill(): Promise<void> {
      // The process stops first. The database ends the commits that it has begun, for nobody.
      isStopped = true;
      await Bun.sleep(75);
      victim.kill('SIGSTOP');
      await Bun.sleep(200);
      victim.kill('SIGKILL');
    }
    await Promise.all(
      names.map(async (name, index) => {
        try {
          answers.set(name, (await create(victim, name, index)).key);
        } catch {
          // The answer was lost.
        }
        if (answers.size >= 50 * round && !isStopped) await kill();
      }),
    );
    await victim.exited;
    await endSlowness();
    let found = 0;
    await Promise.all(
      names.map(async (name, index) => {
        const { isRepeat, key } = await create(survivor, name, index);
        const known = answers.get(name);
        if (known !== undefined) expect({ isRepeat, key }).toEqual({ isRepeat: true, key: known });
        if (isRepeat) found += 1;
      }),
    );
    // Some requests did not arrive, and some keys were created without an answer.
    expect(found).toBeLessThan(KEYS);
    expect(found).toBeGreaterThan(answers.size);
    const [rows] = await database.sql`
      select count(*)::int4 as keys, count(distinct name)::int4 as names,
        (select count(*)::int4 from audit_log where action = 'api_key.create'
          and "after"->>'name' = any(${names}::text[])) as lines
      from api_key where name = any(${names}::text[])`;
    expect({ ...rows }).toEqual({ keys: KEYS, names: KEYS, lines: KEYS });
  },
);
