/** The audit log: written with the change, never changed, and a chain that shows what is missing. */
import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { type Actor, type Change, WEIR } from '../../../db/audit/entry.ts';
import { appendAudit, readAudit } from '../../../db/audit/log.ts';
import { verifyAudit } from '../../../db/audit/verify.ts';
import { connectDatabase, type Database } from '../../../db/client.ts';
import { migrateDatabase } from '../../../db/migrate.ts';
import { canonicalJson } from '../../../src/json/canonical.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';

setDefaultTimeout(60_000);

let fresh: TestDatabase;
let database: Database;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = connectDatabase(fresh.url, { pool: 'requests' });
  await migrateDatabase(database.sql);
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});
afterEach(() =>
  database.sql.begin(async (tx) => {
    await tx`alter table audit_log disable trigger user`;
    await tx`truncate audit_log, audit_head`;
    await tx`alter table audit_log enable trigger user`;
  }),
);

const ANN: Actor = {
  ...{ kind: 'token', id: 'token_a', label: 'mt-AbCdE…', credential_id: 'token_a' },
  ...{ address: '192.0.2.1', request_id: 'req_1' },
};
const change = (more: Partial<Change> = {}): Change => ({
  ...{ organization_id: 'org_a', actor: ANN, action: 'api_key.update', subject_id: 'key_1' },
  ...{ before: { name: 'old' }, after: { name: 'new', models: ['b', 'a'], limit_amount: 0.1 } },
  ...more,
});
const add = (more?: Partial<Change>) => database.sql.begin((tx) => appendAudit(tx, change(more)));
const all = (organization_id: string | null = 'org_a') =>
  readAudit(database.sql, organization_id, {}, { after_seq: 0 }, 1_000);

describe('a line', () => {
  test('says who, what, before and after, and has a hash that another program can compute', async () => {
    await add();
    await add({ action: 'api_key.delete', after: null });
    const lines = await all();
    expect(lines.map(({ seq, actor, action }) => [seq, actor, action])).toEqual([
      [1, ANN, 'api_key.update'],
      [2, ANN, 'api_key.delete'],
    ]);
    let previous = '';
    // Not the implementation that wrote the line.
    for (const { hash, ...line } of JSON.parse(JSON.stringify(lines))) {
      expect(line.previous_hash).toBe(previous);
      expect(hash).toBe(new Bun.CryptoHasher('sha256').update(canonicalJson(line)).digest('hex'));
      previous = hash;
    }
  });

  test('is committed with its change, or not at all', async () => {
    const failed = database.sql.begin(async (tx) => {
      await appendAudit(tx, change());
      throw new Error('the change failed');
    });
    expect(await failed.catch((error: Error) => error.message)).toBe('the change failed');
    expect(await all()).toEqual([]);
    expect(await verifyAudit(database.sql, 'org_a')).toEqual({ lines: 0, broken_at: null });
  });

  test('of an operator does not tell the organization which operator, and is in both logs', async () => {
    const actor: Actor = { ...ANN, kind: 'operator', id: 'token_op', label: 'op-AbCdE…' };
    await add({ actor, action: 'organization.suspend' });
    const [own] = await all();
    expect(own?.actor).toEqual({
      ...{ kind: 'operator', id: '', label: '', credential_id: null, address: '' },
      request_id: 'req_1',
    });
    const [installation] = await all(null);
    expect(installation).toMatchObject({ actor, after: { organization_id: 'org_a' } });
  });

  test('of Weir itself names no credential', async () => {
    await add({ actor: WEIR });
    expect((await all())[0]?.actor).toMatchObject({ kind: 'system', credential_id: null });
  });
});

test.each([
  ['update', "update audit_log set action = 'x'"],
  ['delete', 'delete from audit_log'],
  ['truncate', 'truncate audit_log'],
])('the database refuses %s', async (_, statement) => {
  await add();
  const error = await database.sql.unsafe(statement).catch((thrown: Error) => thrown);
  expect(String(error)).toContain('rows of audit_log are never changed or deleted');
  expect(await all()).toHaveLength(1);
});

test('writers at once make one chain without gaps, for each organization', async () => {
  await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      add({ organization_id: `org_${at % 3}`, subject_id: `key_${at}` }),
    ),
  );
  for (const organization_id of ['org_0', 'org_1', 'org_2']) {
    const lines = await all(organization_id);
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(await verifyAudit(database.sql, organization_id)).toEqual({
      ...{ lines: 20, broken_at: null },
    });
  }
});

describe('somebody with the rights of the table’s owner', () => {
  /** Each column of a line that can be changed alone. */
  const CHANGES: [name: string, statement: string, broken_at: number][] = [
    ...[
      "at = at + interval '1 s'",
      "actor_kind = 'person'",
      "actor_id = 'x'",
      "actor_label = 'x'",
      "credential_id = 'x'",
      "address = 'x'",
      "request_id = 'x'",
      "action = 'x'",
      "subject_id = 'x'",
      `before = '{"name":"x"}'`,
      'after = null',
      "previous_hash = 'x'",
      "hash = 'x'",
      'seq = 900',
    ].map((set): [string, string, number] => [
      `sets ${set}`,
      `update audit_log set ${set} where seq = 3`,
      3,
    ]),
    ['removes a line', 'delete from audit_log where seq = 3', 3],
    ['removes the first line', 'delete from audit_log where seq = 1', 1],
    ['removes the last line', 'delete from audit_log where seq = 5', 5],
    ['removes all lines', 'delete from audit_log', 1],
    [
      'removes a line and closes the gap',
      'delete from audit_log where seq = 3; update audit_log set seq = seq - 1 where seq > 3',
      3,
    ],
    [
      'exchanges two lines',
      'update audit_log set seq = 99 where seq = 2; update audit_log set seq = 2 where seq = 3; update audit_log set seq = 3 where seq = 99',
      2,
    ],
    ['moves the head back', 'update audit_head set seq = 4', 4],
  ];

  test.each(CHANGES)('%s: the check notices it', async (_, statement, broken_at) => {
    for (let at = 1; at <= 5; at += 1) await add({ subject_id: `key_${at}` });
    expect(await verifyAudit(database.sql, 'org_a')).toEqual({ lines: 5, broken_at: null });
    await database.sql.begin(async (tx) => {
      await tx`alter table audit_log disable trigger user`;
      for (const each of statement.split('; ')) await tx.unsafe(each);
      await tx`alter table audit_log enable trigger user`;
    });
    expect((await verifyAudit(database.sql, 'org_a')).broken_at).toBe(broken_at);
  });
});
