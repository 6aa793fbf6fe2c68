/** Votes on stored answers, and purges, over three replicas, by the real routes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { newOrganization } from '../../support/another-organization.ts';
import { type CachedReplicas, startCachedReplicas } from '../../support/cached-replicas.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(120_000);

const COUNT = 3;
const EVERYWHERE = Array.from({ length: COUNT }, (_, index) => index);
const TYPES = ['wrong_answer', 'outdated', 'unsafe', 'irrelevant', 'good'];
const ABSENT = 'ce_0123456789abcdef0123456789abcdef';

describe.each(['PostgreSQL', 'Redis'])('with messages over %s', (carrier) => {
  let redis: TestRedis | undefined;
  let world: CachedReplicas;
  let first: string;

  beforeAll(async () => {
    redis = carrier === 'Redis' ? await startTestRedis() : undefined;
    world = await startCachedReplicas(COUNT, { env: redis ? { REDIS_URL: redis.url } : {} });
    first = world.replicas[0]?.api_key ?? '';
  });
  afterAll(async () => {
    await world.stop();
    await redis?.stop();
  });

  /** Asks every replica, so that each has an entry, and returns the ids of the calls. */
  const askAll = (prompt: string, key = first) =>
    Promise.all(EVERYWHERE.map((replica) => world.ask(replica, prompt, { key })));

  /** Returns the entry with which the replica answers, also one that it stores now. */
  async function entryAt(replica: number, prompt: string): Promise<string> {
    const asked = await world.ask(replica, prompt);
    return asked.entry_id ?? asked.request_id.replace('req_', 'ce_');
  }

  /** Waits until no replica has an entry. */
  async function gone(entry_id: string, prompt: string): Promise<void> {
    for (const replica of EVERYWHERE) {
      await until(`replica ${replica} removes the entry`, async () => {
        return (await entryAt(replica, prompt)) !== entry_id;
      });
    }
    // No other replica and no Redis brings the entry back.
    for (const replica of EVERYWHERE) expect(await entryAt(replica, prompt)).not.toBe(entry_id);
  }

  test('one key that was served an entry removes it; the entry is named by either id', async () => {
    for (const named of ['entry', 'hit', 'miss'] as const) {
      const prompt = `Named by ${named}`;
      const miss = await world.ask(0, prompt);
      const hit = await world.ask(0, prompt);
      expect([miss.cache, hit.cache]).toEqual(['miss', 'hit']);
      const entry_id = miss.request_id.replace('req_', 'ce_');
      expect(hit.entry_id).toBe(entry_id);
      const ids = { entry: entry_id, hit: hit.request_id, miss: miss.request_id };
      const cache_entry_id = ids[named];
      const voted = await world.vote(1, first, { cache_entry_id, feedback_type: 'wrong_answer' });
      expect(voted).toEqual({
        status: 200,
        body: {
          object: 'cache.feedback',
          cache_entry_id: entry_id,
          ...{ feedback_type: 'wrong_answer', removed: true },
        } as object,
      });
      await gone(entry_id, prompt);
    }
  });

  test('a third of the keys that were served must say so; one vote for each key', async () => {
    const prompt = 'Served to four keys';
    const keys = [first, await world.newKey(), await world.newKey(), await world.newKey()];
    const stranger = await world.newKey();
    const { request_id } = await world.ask(0, prompt);
    const entry_id = request_id.replace('req_', 'ce_');
    for (const key of keys) {
      expect(await world.ask(0, prompt, { key })).toMatchObject({ cache: 'hit', entry_id });
    }
    const vote = async (key: string, feedback_type: string, replica = 0) => {
      const { body } = await world.vote(replica, key, { cache_entry_id: entry_id, feedback_type });
      return body.removed;
    };
    expect(await vote(stranger, 'unsafe')).toBe(false);
    expect(await vote(keys[1] ?? '', 'outdated', 1)).toBe(false);
    expect(await vote(keys[1] ?? '', 'unsafe', 2)).toBe(false);
    expect(await vote(keys[2] ?? '', 'irrelevant')).toBe(true);
    await gone(entry_id, prompt);
    expect(await vote(keys[2] ?? '', 'good')).toBe(true);
    expect(await vote(keys[1] ?? '', 'good')).toBe(true);
    await gone(entry_id, prompt);
  });

  test('a good vote takes the place of a bad one', async () => {
    const prompt = 'Served to five keys';
    const keys = [first];
    while (keys.length < 5) keys.push(await world.newKey());
    const { request_id } = await world.ask(0, prompt);
    for (const key of keys) await world.ask(0, prompt, { key });
    const vote = async (key: string | undefined, feedback_type: string) => {
      const sent = { cache_entry_id: request_id, feedback_type, description: 'x' };
      return (await world.vote(0, key ?? '', sent)).body.removed;
    };
    expect(await vote(keys[0], 'outdated')).toBe(false);
    expect(await vote(keys[0], 'good')).toBe(false);
    expect(await vote(keys[1], 'outdated')).toBe(false);
    expect(await vote(keys[2], 'outdated')).toBe(true);
  });

  test('a wrong vote is refused, and another organization’s entry does not exist (P6)', async () => {
    const { request_id } = await world.ask(0, 'A vote is refused');
    const refusal = async (key: string, body: object) => {
      const { status, body: answer } = await world.vote(0, key, body);
      return { status, ...answer.error, request_id: '' };
    };
    const sent = { cache_entry_id: request_id, feedback_type: 'good' };
    expect(await refusal(first, { ...sent, feedback_type: 'bad' })).toMatchObject({
      ...{ status: 400, param: 'feedback_type' },
      message: `feedback_type must be one of ${TYPES.join(', ')}.`,
    });
    expect(await refusal(first, { ...sent, description: 'x'.repeat(2_001) })).toMatchObject({
      ...{ status: 400, param: 'description' },
    });
    expect(await refusal(first, { ...sent, cache_entry: 'x' })).toMatchObject({ status: 400 });
    expect(await refusal('sk-none', sent)).toMatchObject({ status: 401 });
    const stranger = await newOrganization(world.replicas[0], 'strangers');
    const missing = await refusal(first, { ...sent, cache_entry_id: ABSENT });
    expect(missing).toMatchObject({ status: 404, param: 'cache_entry_id' });
    expect(await refusal(stranger, sent)).toEqual(missing);
    expect(await refusal(first, { ...sent, cache_entry_id: 'x' })).toEqual(missing);
    // The stranger's vote has no effect.
    await refusal(stranger, { ...sent, feedback_type: 'unsafe' });
    expect(await world.ask(0, 'A vote is refused')).toMatchObject({ cache: 'hit' });
  });

  test('an organization purges one entry, one model, or all; others keep theirs', async () => {
    const stranger = await newOrganization(world.replicas[0], 'others');
    const prompts = ['Purged first', 'Purged second'] as const;
    await askAll(prompts[0]);
    await askAll(prompts[1]);
    await askAll(prompts[0], stranger);
    const large = { model: 'gpt-4o' };
    await world.ask(0, prompts[0], large);
    const purge = (replica: number, query: string) =>
      world.manage<{ object: string }>(replica, 'DELETE', `/cache${query}`);
    const before = await Promise.all(EVERYWHERE.map((at) => entryAt(at, prompts[0])));
    const kept = await Promise.all(EVERYWHERE.map((at) => entryAt(at, prompts[1])));
    for (const id of new Set(before)) {
      expect(await purge(1, `?cache_entry_id=${id}`)).toMatchObject({ object: 'cache.purged' });
      await gone(id, prompts[0]);
    }
    expect(await Promise.all(EVERYWHERE.map((at) => entryAt(at, prompts[1])))).toEqual(kept);

    await purge(2, '?model=gpt-4o-mini');
    for (const id of new Set(kept)) await gone(id, prompts[1]);
    expect(await world.ask(0, prompts[0], large)).toMatchObject({ cache: 'hit' });

    await purge(0, '');
    await until('replica 0 removes all entries', async () => {
      return (await world.ask(0, prompts[0], large)).cache === 'miss';
    });
    expect(await world.ask(0, prompts[0], { key: stranger })).toMatchObject({ cache: 'hit' });

    expect(await purge(0, '?model=none')).toMatchObject({ error: { param: 'model' } });
    const missing = { error: { param: 'cache_entry_id' } };
    expect(await purge(0, `?cache_entry_id=${ABSENT}`)).toMatchObject(missing);
    const log = await world.manage<{ data: { after: object }[] }>(
      ...([0, 'GET', '/audit-log?action=cache.purge'] as const),
    );
    expect(log.data.slice(0, 2).map(({ after }) => after)).toEqual([
      { model: null, cache_entry_id: null },
      { model: 'gpt-4o-mini', cache_entry_id: null },
    ]);
  });
});
