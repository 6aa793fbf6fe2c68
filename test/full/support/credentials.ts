/** A Weir with objects of one organization, and credentials of every kind. */
import { expect } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import { configOf } from '../../support/installation.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { startSimulator } from '../../support/simulator.ts';
import { startWeir } from '../../support/weir.ts';

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path. A part such as `{batch}` stands for an object of the first organization. */
  path: string;
  opens_to: 'anybody' | 'inference' | 'management' | 'operator';
  family?: 'native' | 'gemini';
  /** True if the route accepts `x-api-key` and `x-goog-api-key`. */
  vendor_headers?: true;
  /** The status for a credential that opens the route. All bodies are `{}`. */
  status: number;
  /** The status for another organization's credential, if it differs from `status`. */
  stranger?: number;
}

const inference = (
  method: Route['method'],
  path: string,
  status: number,
  stranger?: number,
): Route => ({
  ...{ method, path, status, opens_to: 'inference' },
  ...(stranger === undefined ? {} : { stranger }),
});
const native = (...[method, path, status, stranger]: Parameters<typeof inference>): Route => ({
  ...inference(method, path, status, stranger),
  family: 'native',
  vendor_headers: true,
});
const gemini = (path: string): Route => ({
  ...inference('POST', path, 400),
  family: 'gemini',
  vendor_headers: true,
});
const management = (...[method, path, status, stranger]: Parameters<typeof inference>): Route => ({
  ...inference(method, path, status, stranger),
  opens_to: 'management',
});
const operator = (method: Route['method'], path: string, status: number): Route => ({
  ...{ method, path, status, opens_to: 'operator' },
});
const open = (method: Route['method'], path: string, status: number): Route => ({
  ...{ method, path, status, opens_to: 'anybody' },
});

/**
 * All routes. A status of 400 means that the credential was accepted and the body `{}` was refused.
 */
export const ROUTES: Route[] = [
  open('GET', '/healthz', 200),
  open('GET', '/readyz', 200),
  open('GET', '/nowhere', 404),
  open('GET', '/v1/files/nothing', 404),
  inference('POST', '/v1/chat/completions', 400),
  native('POST', '/v1/messages', 400),
  native('POST', '/v1/messages/count_tokens', 400),
  native('POST', '/v1/messages/batches', 400),
  native('GET', '/v1/messages/batches', 200),
  native('GET', '/v1/messages/batches/{batch}', 200, 404),
  native('GET', '/v1/messages/batches/{batch}/results', 200, 404),
  native('POST', '/v1/messages/batches/nothing/cancel', 404),
  native('DELETE', '/v1/messages/batches/nothing', 404),
  gemini('/v1beta/models/gemini-2.5-flash:generateContent'),
  gemini('/v1beta/models/gemini-2.5-flash:streamGenerateContent'),
  gemini('/v1/models/gemini-2.5-flash:generateContent'),
  inference('POST', '/v1/responses', 400),
  inference('GET', '/v1/responses/{response}', 200, 404),
  inference('GET', '/v1/responses/{response}/input_items', 200, 404),
  inference('POST', '/v1/responses/{response}/cancel', 400, 404),
  inference('DELETE', '/v1/responses/nothing', 404),
  inference('POST', '/v1/embeddings', 400),
  inference('POST', '/v1/audio/translations', 415),
  inference('POST', '/v1/audio/transcriptions', 415),
  inference('POST', '/v1/audio/speech', 400),
  inference('POST', '/v1/rerank', 400),
  inference('POST', '/v1/translations', 400),
  inference('POST', '/v1/images/generations', 400),
  inference('POST', '/v1/images/edits', 400),
  inference('POST', '/v1/videos/generations', 400),
  inference('POST', '/v1/music/generations', 400),
  inference('POST', '/v1/3d/generations', 400),
  inference('POST', '/v1/audio/generations', 400),
  inference('GET', '/v1/tasks/{task}', 200, 404),
  inference('GET', '/v1/tasks/{task}/events', 200, 404),
  inference('GET', '/v1/images/generations/{task}', 200, 404),
  inference('GET', '/v1/images/{task}', 200, 404),
  inference('GET', '/v1/music/generations/{task}', 404),
  { ...inference('GET', '/v1/models', 200), vendor_headers: true },
  { ...inference('GET', '/v1/models/gpt-4o', 200), vendor_headers: true },
  { ...inference('GET', '/v1/models/nothing', 404), vendor_headers: true },
  operator('GET', '/v1/operator/channels', 200),
  operator('GET', '/v1/operator/channels/openai-main', 200),
  operator('POST', '/v1/operator/channels/openai-spare/enable', 200),
  operator('POST', '/v1/operator/channels/nothing/test', 404),
  operator('POST', '/v1/operator/channels/nothing/disable', 404),
  operator('POST', '/v1/operator/channels/nothing/drain', 404),
  operator('GET', '/v1/operator/channels/openai-main/circuit-history', 200),
  operator('GET', '/v1/operator/books', 200),
  operator('GET', '/v1/operator/tasks', 200),
  management('GET', '/v1/management/balance', 200),
  management('GET', '/v1/management/api-keys', 200),
  management('PATCH', '/v1/management/api-keys/{key}', 400),
  management('PATCH', '/v1/management/api-keys/nothing', 400),
  management('GET', '/v1/management/webhook-secret', 200),
  management('GET', '/v1/management/webhook-deliveries', 200),
  management('POST', '/v1/management/webhook-deliveries/nothing/redeliver', 404),
  management('GET', '/v1/management/tasks', 200),
  management('GET', '/v1/management/tasks/{task}', 200, 404),
  management('POST', '/v1/management/tasks/nothing/cancel', 404),
  management('GET', '/v1/management/batches', 200),
  management('GET', '/v1/management/batches/{batch}', 200, 404),
  management('POST', '/v1/management/batches/nothing/cancel', 404),
];

type KeyName = 'active' | 'revoked' | 'expired' | 'inactive' | 'suspended' | 'stranger';
type TokenName = 'management' | 'stranger' | 'operator' | 'revoked_mt' | 'revoked_op';

export interface Party {
  keys: Record<KeyName, string>;
  tokens: Record<TokenName, string>;
  send(route: Route, headers: Record<string, string>): Promise<Response>;
  /** Checks that the objects of the first organization are unchanged. */
  expectUnchanged(): Promise<void>;
  stop(): Promise<void>;
}

export async function startParty(): Promise<Party> {
  const simulator = await startSimulator();
  const database = await createTestDatabase();
  const { sql } = database;
  const config = JSON.parse(configOf(simulator.url)) as { channels: object[] };
  config.channels.push({
    ...{ id: 'pictures', protocol: 'openai-images', api_key: 'sim-pictures' },
    ...{ base_url: `${simulator.url}/openai/v1`, models: { 'gpt-image-2': 'gpt-image-2' } },
  });
  const weir = await startWeir({
    config: JSON.stringify(config),
    env: { DATABASE_URL: database.url },
  });
  const [home] = await sql<{ id: string }[]>`select id from organization`;
  const away = newId('org');
  await sql`insert into organization ${sql({ id: away, name: 'strangers' })}`;

  async function addKey(organization_id: string, more: object = {}): Promise<[string, string]> {
    const [id, secret] = [newId('key'), newCredential('sk')];
    await sql`insert into api_key ${sql({
      ...{ id, organization_id, name: 'test', key_hash: hashCredential(secret) },
      ...{ key_prefix: shownPrefix(secret), ...more },
    })}`;
    return [id, secret];
  }
  async function addToken(prefix: 'mt' | 'op', organization_id: string | null, more: object = {}) {
    const secret = newCredential(prefix);
    await sql`insert into access_token ${sql({
      ...{ id: newId('token'), kind: prefix === 'mt' ? 'management' : 'operator', organization_id },
      ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret), ...more },
    })}`;
    return secret;
  }
  const first = home?.id ?? '';
  const [key, active] = await addKey(first);
  const past = new Date(Date.now() - 1_000);
  const keys = {
    active,
    revoked: (await addKey(first, { status: 'revoked' }))[1],
    expired: (await addKey(first, { expires_at: past }))[1],
    inactive: (await addKey(first, { status: 'inactive' }))[1],
    suspended: (await addKey(first, { status: 'suspended' }))[1],
    stranger: (await addKey(away))[1],
  };
  const tokens = {
    management: weir.management_token,
    operator: weir.operator_token,
    stranger: await addToken('mt', away),
    revoked_mt: await addToken('mt', first, { revoked_at: past }),
    revoked_op: await addToken('op', null, { revoked_at: past }),
  };

  const request = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    fetch(weir.base_url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        ...headers,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
  const make = async (path: string, body: object) => {
    const made = await request('POST', path, { authorization: `Bearer ${active}` }, body);
    const text = await made.text();
    if (!made.ok) throw new Error(`${path}: ${text}`);
    return (JSON.parse(text) as { id: string }).id;
  };
  const question = { role: 'user', content: 'hi' };
  const params = { model: 'claude-haiku-4-5', max_tokens: 5, messages: [question] };
  const objects: Record<string, string> = {
    key,
    response: await make('/v1/responses', { model: 'gpt-4o', input: 'hi' }),
    batch: await make('/v1/messages/batches', { requests: [{ custom_id: 'a', params }] }),
    task: await make('/v1/images/generations', {
      ...{ model: 'gpt-image-2', prompt: 'x' },
      async: true,
    }),
  };
  const pathOf = (path: string) => path.replace(/\{(\w+)\}/g, (_, name) => objects[name] ?? '');
  const send = ({ method, path }: Route, headers: Record<string, string>) =>
    request(method, pathOf(path), headers);
  const owner = { authorization: `Bearer ${active}` };
  const look = async () => {
    const paths = ['/v1/responses/{response}', '/v1/messages/batches/{batch}', '/v1/tasks/{task}'];
    const texts = await Promise.all(
      paths.map(async (path) => (await request('GET', pathOf(path), owner)).text()),
    );
    // Each read signs the file's URL again, so URLs are not compared.
    return texts.map((text) => text.replace(/"url":"[^"]*"/g, ''));
  };
  await settled(() => look());
  const before = await look();
  return {
    keys,
    tokens,
    send,
    async expectUnchanged() {
      expect(await look()).toEqual(before);
      const [row] = await sql`select status, name from api_key where id = ${key}`;
      expect({ ...row }).toEqual({ status: 'active', name: 'test' });
    },
    async stop() {
      await weir.stop();
      await simulator.stop();
      await database.drop();
    },
  };
}

/** Waits until the batch and the task have ended. */
async function settled(look: () => Promise<string[]>): Promise<void> {
  const busy = /"(processing_)?status":"(pending|processing|in_progress)"/;
  for (let tries = 0; tries < 300; tries += 1) {
    if (!busy.test((await look()).join())) return;
    await Bun.sleep(50);
  }
  throw new Error('the objects did not come to an end');
}
