/** Management tokens and operator tokens: the same routes, each for its own kind. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { errorOf } from '../../support/envelope.ts';
import { ManagedKeys } from '../../support/managed-keys.ts';
import { ManagedTokens, tokenOf } from '../../support/managed-tokens.ts';

setDefaultTimeout(30_000);

let app: TestApp;
/** Another replica on the same database. */
let second: TestApp;
const management = new ManagedTokens(() => app, 'management');
const operator = new ManagedTokens(() => app, 'operator');
beforeAll(async () => {
  app = await startTestApp();
  second = await startTestApp({ requests_go_to: app.database.url });
});
afterAll(async () => {
  await second.stop();
  await app.stop();
});

const ISO_MS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

describe.each([
  ['management', management, 'mt'],
  ['operator', operator, 'op'],
] as const)('%s tokens', (kind, tokens, prefix) => {
  test('200: a new token works at once, on every replica, and is shown once', async () => {
    const [creator] = (await tokens.list()).slice(-1);
    const { token, ...made } = await tokens.add({ name: ' CI \t', scopes: ['read', 'read'] });
    expect(token).toMatch(new RegExp(`^${prefix}-[\\w-]{43}$`));
    expect(token.startsWith(made.token_prefix.replace('…', ''))).toBe(true);
    expect(made).toEqual({
      ...{ object: `${kind}_token`, name: 'CI', status: 'active', scopes: ['read'] },
      id: expect.stringMatching(/^token_[0-9a-f]{32}$/),
      token_prefix: expect.any(String),
      created_by: creator?.id ?? '',
      created_at: expect.stringMatching(ISO_MS),
      ...{ expires_at: null, last_used_at: null, revoked_at: null, replaces: null },
    } as never);
    expect([await tokens.statusWith(token), await tokens.statusWith(token, second)]).toEqual([
      ...[200, 200],
    ]);
    expect(await tokens.get(made.id)).toEqual(made);
    expect((await tokens.list())[0]).toEqual(made);
    const stored = await app.database.sql`select * from access_token where id = ${made.id}`;
    expect(JSON.stringify(stored)).not.toContain(token.slice(10));
  });

  test.each([
    ['name', { scopes: ['read'] }],
    ['name', { name: '', scopes: ['read'] }],
    ['name', { name: 'x'.repeat(51), scopes: ['read'] }],
    ['name', { name: 'a\u0000', scopes: ['read'] }],
    ['scopes', { name: 'x' }],
    ['scopes', { name: 'x', scopes: [] }],
    ['scopes', { name: 'x', scopes: 'read' }],
    ['scopes.1', { name: 'x', scopes: ['read', 'write'] }],
    ['expiresAt', { name: 'x', scopes: ['read'], expiresAt: 'tomorrow' }],
    ['expiresAt', { name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { name: 'x', scopes: ['read'], expiresAt: 5 }],
    ['organization_id', { name: 'x', scopes: ['read'], organization_id: 'org_1' }],
    ['kind', { name: 'x', scopes: ['read'], kind: 'operator' }],
  ])('400: names %s in %j', async (param, body) => {
    expect((await errorOf(await tokens.send('POST', '', body), 400)).param).toBe(param);
  });

  test('200: name, scopes and expiry are changed, and the token obeys at once', async () => {
    const { id, token } = await tokens.add();
    const expiresAt = '2040-01-01T00:00:00Z';
    const body = { name: 'renamed', scopes: ['admin'], expiresAt };
    expect(await tokenOf(await tokens.send('PATCH', `/${id}`, body))).toMatchObject({
      ...{ name: 'renamed', scopes: ['admin'], expires_at: '2040-01-01T00:00:00.000Z' },
    });
    const create = { name: 'by it', scopes: ['read'] };
    expect((await tokens.send('POST', '', create, { by: token })).status).toBe(200);
    await tokens.send('PATCH', `/${id}`, { scopes: ['read'] });
    const refused = await tokens.send('POST', '', create, { by: token });
    expect((await errorOf(refused, 403)).code).toBe('access_denied');
    await app.database.sql`update access_token set expires_at = now() where id = ${id}`;
    expect(await tokens.statusWith(token)).toBe(401);
    expect(await tokens.get(id)).toMatchObject({ status: 'expired' });
    expect((await tokens.list('?status=expired')).map((row) => row.id)).toContain(id);
  });

  test('400: an empty change, and the change of a token that has ended', async () => {
    const { id } = await tokens.add();
    await errorOf(await tokens.send('PATCH', `/${id}`, {}), 400);
    await tokens.send('POST', `/${id}/revoke`);
    for (const response of [
      await tokens.send('PATCH', `/${id}`, { name: 'x' }),
      await tokens.send('POST', `/${id}/rotate`),
    ]) {
      const error = await errorOf(response, 400);
      expect(error.message).toBe('This token is revoked.');
    }
  });

  test('200: a rotation ends the old token at once', async () => {
    const old = await tokens.add({ scopes: ['read', 'admin'], expiresAt: '2040-01-01T00:00:00Z' });
    const rotated = await tokenOf(await tokens.send('POST', `/${old.id}/rotate`));
    expect(rotated).toMatchObject({
      ...{ name: old.name, scopes: old.scopes, expires_at: old.expires_at, replaces: old.id },
    });
    expect(rotated.id).not.toBe(old.id);
    for (const to of [app, second]) {
      expect(await tokens.statusWith(old.token, to)).toBe(401);
      expect(await tokens.statusWith(rotated.token, to)).toBe(200);
    }
    expect(await tokens.get(old.id)).toMatchObject({ status: 'revoked' });
  });

  test('200: a rotation with a grace ends the old token later, or when it is revoked', async () => {
    const old = await tokens.add();
    const rotated = await tokenOf(await tokens.send('POST', `/${old.id}/rotate`, { grace_s: 600 }));
    expect(await tokens.statusWith(old.token)).toBe(200);
    expect(await tokens.statusWith(rotated.token)).toBe(200);
    const waiting = await tokens.get(old.id);
    expect(waiting.status).toBe('active');
    const ends_in_s = (Date.parse(waiting.revoked_at ?? '') - Date.now()) / 1_000;
    expect(Math.abs(ends_in_s - 600)).toBeLessThan(30);
    const again = await errorOf(await tokens.send('POST', `/${old.id}/rotate`), 400);
    expect(again.message).toContain('was rotated');
    await tokens.send('POST', `/${old.id}/revoke`);
    expect(await tokens.statusWith(old.token)).toBe(401);
    expect(await tokens.statusWith(rotated.token)).toBe(200);
  });

  test('200: a revocation ends the token on every replica, and can be repeated', async () => {
    const { id, token } = await tokens.add();
    expect(await tokens.statusWith(token, second)).toBe(200);
    const revoked = await tokenOf(await tokens.send('POST', `/${id}/revoke`));
    expect(revoked).toMatchObject({ status: 'revoked', revoked_at: expect.stringMatching(ISO_MS) });
    expect([await tokens.statusWith(token), await tokens.statusWith(token, second)]).toEqual([
      ...[401, 401],
    ]);
    const repeat = await tokenOf(await tokens.send('POST', `/${id}/revoke`, {}));
    expect(repeat).toEqual(revoked);
    expect((await tokens.list('?status=revoked')).map((row) => row.id)).toContain(id);
    expect((await tokens.list('?status=active')).map((row) => row.id)).not.toContain(id);
  });

  test('401: says that a token has ended, and asks the database once', async () => {
    const { id, token } = await tokens.add();
    await app.database.sql`update access_token set expires_at = now() where id = ${id}`;
    const other = await tokens.add();
    await tokens.send('POST', `/${other.id}/revoke`);
    const refusal = async (by: string) =>
      errorOf(await tokens.send('GET', '', undefined, { by }), 401);
    for (const _ of ['first', 'repeat']) {
      expect(await refusal(token)).toMatchObject({
        ...{ code: 'expired_api_key', message: 'This token has expired.' },
      });
      expect(await refusal(other.token)).toMatchObject({
        ...{ code: 'expired_api_key', message: 'This token has been revoked.' },
      });
    }
    const { sql } = app.database;
    await sql`alter table access_token rename to access_token_away`;
    expect((await refusal(token)).code).toBe('expired_api_key');
    await sql`alter table access_token_away rename to access_token`;
  });

  test.each(['token_unknown', '%00', 'x'.repeat(3_000), "'; drop table access_token"])(
    '404: no token %s',
    async (id) => {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'x' }],
        ['POST', '/rotate', undefined],
        ['POST', '/revoke', undefined],
      ] as const) {
        const escaped = encodeURI(id).replaceAll('%25', '%');
        const response = await tokens.send(method, `/${escaped}${path}`, body);
        expect((await errorOf(response, 404)).param).toBe('id');
      }
    },
  );

  test('P6: tokens of the other kind and of another organization are not found', async () => {
    const { token: theirs } = await new ManagedKeys(() => app).addStranger();
    const [strange] = await management.list().then(async () => {
      const response = await management.send('GET', '', undefined, { by: theirs });
      return ((await response.json()) as { data: { id: string }[] }).data;
    });
    const other = await (kind === 'management' ? operator : management).add();
    for (const id of [strange?.id ?? '', other.id]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { name: 'mine' }],
        ['POST', '/rotate', undefined],
        ['POST', '/revoke', undefined],
      ] as const) {
        const answers = [id, 'token_none'].map((each) =>
          tokens.send(method, `/${each}${path}`, body),
        );
        const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
        expect(texts[0]).toBe(texts[1] as string);
        expect((await answers[0])?.status).toBe(404);
      }
      expect((await tokens.list('?limit=100')).map((row) => row.id)).not.toContain(id);
    }
    expect(await management.statusWith(theirs)).toBe(200);
  });

  test('pages have every token once, the newest first', async () => {
    for (let n = 0; n < 5; n += 1) await tokens.add({ name: `page ${n}` });
    const all = await tokens.list('?limit=100');
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const response = await tokens.send('GET', `?limit=3${cursor}`);
      const page = (await response.json()) as {
        data: { id: string }[];
        has_more: boolean;
        next_cursor: string;
      };
      paged.push(...page.data.map(({ id }) => id));
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(all.map(({ id }) => id));
  });

  test('412: a change of settings that somebody else changed', async () => {
    const { id, token } = await tokens.add();
    const etag = (await tokens.send('GET', `/${id}`)).headers.get('etag') ?? '';
    const headers = { 'if-match': etag };
    await tokens.statusWith(token);
    await app.tokenUses.store();
    expect((await tokens.send('PATCH', `/${id}`, { name: 'b' }, { headers })).status).toBe(200);
    for (const response of [
      await tokens.send('PATCH', `/${id}`, { scopes: ['admin'] }, { headers }),
      await tokens.send('POST', `/${id}/rotate`, {}, { headers }),
      await tokens.send('POST', `/${id}/revoke`, {}, { headers }),
    ]) {
      expect((await errorOf(response, 412)).code).toBe('precondition_failed');
    }
    expect(await tokens.get(id)).toMatchObject({ name: 'b', scopes: ['read'], status: 'active' });
  });

  test('200: with an Idempotency-Key, a repeat gets the same secret', async () => {
    const headers = { 'idempotency-key': `${kind}-once` };
    const body = { name: 'once', scopes: ['read'] };
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () =>
        tokenOf(await tokens.send('POST', '', body, { headers })),
      ),
    );
    expect(new Set(answers.map(({ token }) => token)).size).toBe(1);
    expect((await tokens.list()).filter(({ name }) => name === 'once')).toHaveLength(1);
    const id = answers[0]?.id ?? '';
    const rotated = await tokenOf(await tokens.send('POST', `/${id}/rotate`, {}, { headers }));
    const repeat = await tokenOf(await tokens.send('POST', `/${id}/rotate`, {}, { headers }));
    expect(repeat).toEqual(rotated);
    await errorOf(await tokens.send('POST', '', { ...body, name: 'two' }, { headers }), 422);
  });

  test('no other token gets the answer of an Idempotency-Key', async () => {
    const by = (await tokens.add({ scopes: ['admin'] })).token;
    const headers = { 'idempotency-key': `${kind}-guessed` };
    const body = { name: 'guessed', scopes: ['admin'] };
    const mine = await tokenOf(await tokens.send('POST', '', body, { headers }));
    const theirs = await tokenOf(await tokens.send('POST', '', body, { headers, by }));
    expect(theirs.token).not.toBe(mine.token);
  });

  test('last_used_at is stored in batches, and never goes back', async () => {
    const { id, token } = await tokens.add();
    for (let n = 0; n < 3; n += 1) await tokens.statusWith(token);
    expect((await tokens.get(id)).last_used_at).toBeNull();
    await app.tokenUses.store();
    const used = Date.parse((await tokens.get(id)).last_used_at ?? '');
    expect(Math.abs(used - Date.now())).toBeLessThan(30_000);
    await app.database.sql`update access_token set last_used_at = '2099-01-01' where id = ${id}`;
    await tokens.statusWith(token);
    await app.tokenUses.store();
    expect((await tokens.get(id)).last_used_at).toBe('2099-01-01T00:00:00.000Z');
  });

  test('the audit log has each change, and no secret', async () => {
    const { id, token } = await tokens.add({ name: 'audited' });
    await tokens.send('PATCH', `/${id}`, { name: 'renamed' });
    await tokens.send('PATCH', `/${id}`, { name: 'renamed' });
    const next = await tokenOf(await tokens.send('POST', `/${id}/rotate`));
    await tokens.send('POST', `/${next.id}/revoke`);
    await tokens.send('POST', `/${next.id}/revoke`);
    const linesOf = async (subject: string) => {
      const response = await fetch(`${app.base_url}/v1/${kind}/audit-log?subject_id=${subject}`, {
        headers: { authorization: `Bearer ${tokens.first}` },
      });
      const { data } = (await response.json()) as { data: Record<'action', string>[] };
      return data.reverse();
    };
    const [old, now] = [await linesOf(id), await linesOf(next.id)];
    const verbs = (lines: { action: string }[]) =>
      lines.map(({ action }) => action.replace(`${kind}_token.`, ''));
    expect(verbs(old)).toEqual(['create', 'update', 'rotate']);
    expect(verbs(now)).toEqual(['create', 'revoke']);
    expect(old[1]).toMatchObject({ before: { name: 'audited' }, after: { name: 'renamed' } });
    expect(now[0]).toMatchObject({ after: { replaces: id } });
    for (const secret of [token, next.token ?? '']) {
      expect(JSON.stringify([old, now])).not.toContain(secret.slice(10));
    }
  });
});
