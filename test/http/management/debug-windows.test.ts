/**
 * What a debug window copies of each kind of call. The official client package sends the calls, so the
 * copies are compared with what a client sent and got.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { toFile } from 'openai';
import { hashCredential, newCredential, newId } from '../../../db/secrets.ts';
import { type DebugWorld, question, SECRET_WORDS, startDebugWorld } from '../../support/debug.ts';
import { errorOf } from '../../support/envelope.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(60_000);

let world: DebugWorld;
beforeAll(async () => {
  world = await startDebugWorld();
});
afterAll(() => world.stop());

test('without a window, nothing of a call is stored', async () => {
  const seen = world.client();
  await seen.client.chat.completions.create(question());
  await until('the call is on record', async () => (await world.tablesWith('gpt-4o')).length > 0);
  await errorOf(await world.manage('GET', `/requests/${seen.id()}/debug`), 404);
  expect(await world.tablesWith('green cheese')).toEqual([]);
});

describe('while a window is open', () => {
  test('a plain call: the body that the client sent, and the answer that it got', async () => {
    await world.whileOpen(async (window) => {
      const seen = world.client();
      await seen.client.chat.completions.create(question());
      const copy = await world.readCopy(seen.id());
      expect(copy).toMatchObject({
        path: '/v1/chat/completions',
        status: 200,
        window_id: window.id,
      });
      expect(copy.request.body).toBe(seen.sent());
      expect(copy.request.body).toContain(SECRET_WORDS);
      expect(copy.answer.body).toBe(await seen.got());
      expect(copy.answer).toMatchObject({ truncated: false, encoding: 'utf8' });
      expect(copy.answer.content_type).toStartWith('application/json');
    });
  });

  test('the database has no readable word of it, and no credential', async () => {
    expect(await world.tablesWith('green cheese')).toEqual([]);
    expect(await world.tablesWith(world.weir().api_key)).toEqual([]);
    const [row] = await world.database.sql<{ copies: number }[]>`
      select count(*)::int4 as copies from debug_copy`;
    expect(row?.copies).toBeGreaterThan(0);
  });

  test.each([false, true])('a stream, with an idempotency key: %p', async (hasKey) => {
    await world.whileOpen(async () => {
      const seen = world.client();
      const options = hasKey ? { headers: { 'idempotency-key': crypto.randomUUID() } } : {};
      const ask = () =>
        seen.client.chat.completions.create({ ...question(), stream: true }, options);
      for await (const _ of await ask());
      const copy = await world.readCopy(seen.id());
      const got = await seen.got();
      expect(got).toEndWith('data: [DONE]\n\n');
      expect(copy.answer.body).toBe(got);
      expect(copy.answer.content_type).toStartWith('text/event-stream');
      if (!hasKey) return;
      for await (const _ of await ask());
      expect((await world.readCopy(seen.id())).answer.body).toBe(got);
    });
  });

  test('a stream that its client left: what the client got, or a little more', async () => {
    await world.whileOpen(async () => {
      const seen = world.client();
      const stream = await seen.client.chat.completions.create({
        ...question('Hello [[sim tokens=500 chunk_ms=20]]'),
        stream: true,
      });
      for await (const _ of stream) break;
      stream.controller.abort();
      const copy = await world.readCopy(seen.id());
      expect(copy.answer.body).toStartWith('data: {');
      expect(copy.answer.body).not.toContain('[DONE]');
    });
  });

  test('refused calls, with the error that the client got', async () => {
    await world.whileOpen(async () => {
      const seen = world.client();
      for (const wrong of [{ temperature: 'hot' }, { model: 'no-such-model' }]) {
        const refused = seen.client.chat.completions.create({ ...question(), ...wrong } as never);
        expect(await refused.catch(() => 'refused')).toBe('refused');
        const copy = await world.readCopy(seen.id());
        expect(copy.status).toBeGreaterThanOrEqual(400);
        expect(copy.request.body).toBe(seen.sent());
        expect(copy.answer.body).toBe(await seen.got());
      }
    });
  });

  test('the creation of a task', async () => {
    await world.whileOpen(async () => {
      const seen = world.client();
      await seen.client.images.generate({ model: 'midjourney', prompt: SECRET_WORDS });
      const copy = await world.readCopy(seen.id());
      expect(copy.request.body).toBe(seen.sent());
      expect(copy.answer.body).toBe(await seen.got());
      expect(JSON.parse(copy.answer.body)).toHaveProperty('poll_url');
    });
  });

  test('sound: the streamed answer and the form that has it', async () => {
    await world.whileOpen(async () => {
      const seen = world.client();
      const speech = await seen.client.audio.speech.create({
        ...{ model: 'tts-1', voice: 'alloy', input: 'Hello' },
      });
      const sound = Buffer.from(await speech.arrayBuffer());
      const { answer } = await world.readCopy(seen.id());
      expect(answer.encoding).toBe('base64');
      expect(Buffer.from(answer.body, 'base64')).toEqual(sound);
      await seen.client.audio.transcriptions.create({
        ...{ model: 'whisper-1', file: await toFile(sound, 'hello.mp3') },
      });
      const { request } = await world.readCopy(seen.id());
      expect(request.content_type).toStartWith('multipart/form-data; boundary=');
      const whole = Buffer.from(request.body, request.encoding === 'utf8' ? 'utf8' : 'base64');
      expect(whole.includes(sound)).toBe(true);
    });
  });

  test('a key in the query of a path is not stored', async () => {
    await world.whileOpen(async () => {
      const { base_url, api_key } = world.weir();
      const path = '/v1beta/models/gpt-4o:generateContent';
      const response = await fetch(`${base_url}${path}?key=${api_key}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-goog-api-key': api_key },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
      });
      expect(response.status).toBe(200);
      const copy = await world.readCopy(response.headers.get('x-request-id'));
      expect(copy.path).toBe(path);
      expect(JSON.stringify(copy)).not.toContain(api_key);
    });
  });

  test('polls, lists and calls of another key of a window of one key are not stored', async () => {
    const [id, secret] = [newId('key'), newCredential('sk')];
    const [owner] = await world.database.sql<{ id: string }[]>`select id from organization`;
    await world.database.sql`insert into api_key ${world.database.sql({
      ...{ id, organization_id: owner?.id ?? '', name: 'other', key_prefix: 'sk-' },
      key_hash: hashCredential(secret),
    })}`;
    await world.whileOpen(
      async (window) => {
        const [own, other] = [world.client(0, secret), world.client()];
        await other.client.chat.completions.create(question());
        await own.client.models.list();
        await own.client.chat.completions.create(question());
        expect((await world.readCopy(own.id())).window_id).toBe(window.id);
        await errorOf(await world.manage('GET', `/requests/${other.id()}/debug`), 404);
        expect((await world.readWindow(window.id)).stored_calls).toBe(1);
        // A window of one key and a window of all keys may be open together. The narrower one is used.
        await world.whileOpen(async (wide) => {
          await other.client.chat.completions.create(question());
          await own.client.chat.completions.create(question());
          expect((await world.readCopy(other.id())).window_id).toBe(wide.id);
          expect((await world.readCopy(own.id())).window_id).toBe(window.id);
        });
      },
      { api_key_id: id },
    );
  });
});

test('with an Idempotency-Key, a window is opened once', async () => {
  const open = async (minutes: number) => {
    const response = await fetch(`${world.weir().base_url}/v1/management/debug-windows`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${world.weir().management_token}` },
        ...{ 'content-type': 'application/json', 'idempotency-key': 'one-window' },
      },
      body: JSON.stringify({ minutes }),
    });
    return { status: response.status, window: (await response.json()) as { id: string } };
  };
  const [first, repeat] = [await open(5), await open(5)];
  expect(first.status).toBe(200);
  expect(repeat).toEqual(first);
  expect((await open(6)).status).toBe(422);
  await world.closeWindow(first.window.id);
});
