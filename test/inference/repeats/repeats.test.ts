/** P7, P10: the rows of repeated calls, on a real database, with calls that the test scripts. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Sql } from 'postgres';
import { deleteExpiredCalls, dropUnwantedBodies } from '../../../db/repeats/kept-answers.ts';
import { MAX_KEPT_BYTES } from '../../../src/inference/repeats/answer-record.ts';
import { callOf, forbidden, RepeatRows, refusalOf } from '../../support/repeat-rows.ts';
import { until } from '../../support/until.ts';

let rows: RepeatRows;
let sql: Sql;
beforeAll(async () => {
  rows = await RepeatRows.open();
  sql = rows.sql;
});
afterAll(() => rows.close());
beforeEach(() => rows.empty());

describe('a repeat', () => {
  test('P7: on another replica gets status, headers and body of the first answer', async () => {
    expect(await rows.run(rows.repeats('alive_1'), 'the answer')).toBe('the answer');
    const repeat = await rows.repeats('alive_2').run(callOf(), forbidden);
    expect(await repeat.text()).toBe('the answer');
    expect(Object.fromEntries(repeat.headers)).toEqual({
      'content-type': 'text/plain',
      'idempotent-replayed': 'true',
      'x-should-retry': 'false',
    });
  });

  test('P10: of a call whose replica died is refused, and never runs', async () => {
    const never = rows.repeats('dead').run(callOf(), () => new Promise<Response>(() => undefined));
    never.catch(() => undefined);
    await until('the call is claimed', async () => (await sql`select from kept_answer`).length > 0);
    const error = await refusalOf(rows.repeats('alive_1'));
    expect(error).toMatchObject({ id: 'idempotency_outcome_unknown', retryable: false });
    expect(error.details.hint).toContain('new Idempotency-Key');
  });

  test('of a running call is refused with the time to wait', async () => {
    const gate = Promise.withResolvers<void>();
    const call = callOf();
    const first = rows.repeats('alive_1').run(call, async () => {
      await gate.promise;
      return rows.charged(call, 'late')();
    });
    await until('the call is claimed', async () => (await sql`select from kept_answer`).length > 0);
    const error = await refusalOf(rows.repeats('alive_2'));
    expect(error.id).toBe('idempotency_key_in_use');
    expect(error.details.retry_after).toBe(1);
    gate.resolve();
    expect(await (await first).text()).toBe('late');
  });

  test('with another request is refused', async () => {
    const repeats = rows.repeats('alive_1');
    await rows.run(repeats, 'answer');
    const error = await refusalOf(repeats, { request_hash: 'hash-2' });
    expect(error.id).toBe('idempotency_key_reused');
  });

  test('P6: another API key, another organization and another route have their own calls', async () => {
    const repeats = rows.repeats('alive_1');
    await rows.run(repeats, 'one');
    expect(await rows.run(repeats, 'two', { key: { id: 'key_2', organization_id: 'org_a' } })).toBe(
      'two',
    );
    expect(
      await rows.run(repeats, 'three', { key: { id: 'key_3', organization_id: 'org_b' } }),
    ).toBe('three');
    expect(await rows.run(repeats, 'four', { route: '/v1/messages' })).toBe('four');
  });

  test('runs anew after an error that charged nothing', async () => {
    const repeats = rows.repeats('alive_1');
    const failing = repeats.run(callOf(), () => Promise.reject(new Error('refused')));
    await expect(failing).rejects.toThrow('refused');
    expect(await sql`select from kept_answer`).toHaveLength(0);
    expect(await rows.run(repeats, 'anew')).toBe('anew');
  });

  test('gets an error that charged something', async () => {
    const repeats = rows.repeats('alive_1');
    const call = callOf();
    const failing = repeats.run(call, async () => {
      await rows.charge(call);
      throw new Error('after the charge');
    });
    await expect(failing).rejects.toThrow('after the charge');
    const repeat = await repeats.run(callOf(), forbidden);
    expect(repeat.status).toBe(503);
    expect(await repeat.text()).toContain('after the charge');
  });

  test('runs anew after the answer expired, and the sweep deletes expired answers', async () => {
    const repeats = rows.repeats('alive_1');
    await rows.run(repeats, 'old');
    await sql`update kept_answer set expires_at = weir_now()`;
    expect(await rows.run(repeats, 'new')).toBe('new');
    await deleteExpiredCalls(sql);
    expect(await sql`select from kept_answer`).toHaveLength(1);
    await sql`update kept_answer set expires_at = weir_now()`;
    await deleteExpiredCalls(sql);
    expect(await sql`select from kept_answer`).toHaveLength(0);
  });
});

describe('a kept answer', () => {
  const SECRET = 'a secret of the model';

  test('is encrypted: the database holds neither the answer nor the idempotency key', async () => {
    await rows.run(rows.repeats('alive_1'), SECRET, { idempotency_key: 'order-of-mr-smith' });
    const kept = await sql<{ row: string; body: Buffer }[]>`
      select row_to_json(kept_answer)::text as row, body from kept_answer`;
    expect(kept).toHaveLength(1);
    expect(kept[0]?.body.toString('latin1')).not.toContain(SECRET);
    expect(kept[0]?.row).not.toContain('smith');
  });

  test('of another call cannot be swapped in', async () => {
    const repeats = rows.repeats('alive_1');
    await rows.run(repeats, 'mine');
    await rows.run(repeats, 'theirs', { key: { id: 'key_2', organization_id: 'org_b' } });
    await sql`
      update kept_answer set body = (select body from kept_answer where key_id = 'key_2')
      where key_id = 'key_1'`;
    await expect(repeats.run(callOf(), forbidden)).rejects.toThrow();
  });

  test('is not kept if it is too large: the repeat is refused, and does not run', async () => {
    const repeats = rows.repeats('alive_1', 10 * MAX_KEPT_BYTES);
    const call = callOf();
    const large = 'x'.repeat(MAX_KEPT_BYTES + 1);
    const first = await repeats.run(call, rows.charged(call, large));
    expect((await first.text()).length).toBe(large.length);
    const error = await refusalOf(repeats);
    expect(error).toMatchObject({ id: 'idempotent_answer_not_kept', retryable: false });
    expect(error.message).toContain('too large');
  });

  test('has a bound per organization: the oldest bodies are dropped, their repeats refused', async () => {
    const repeats = rows.repeats('alive_1', 10_000);
    const text = 'y'.repeat(1_000);
    for (let order = 0; order < 30; order += 1) {
      await rows.run(repeats, text, { idempotency_key: `order-${order}` });
    }
    await rows.run(repeats, text, { key: { id: 'key_9', organization_id: 'org_b' } });
    await repeats.drain();
    const [kept] = await sql<{ bytes: number; rows: number }[]>`
      select sum(body_bytes)::int4 as bytes, count(*)::int4 as rows from kept_answer
      where organization_id = 'org_a'`;
    expect(kept?.rows).toBe(30);
    expect(kept?.bytes).toBeWithin(5_000, 10_001);
    const oldest = await refusalOf(repeats, { idempotency_key: 'order-0' });
    expect(oldest.id).toBe('idempotent_answer_not_kept');
    const newest = await repeats.run(callOf({ idempotency_key: 'order-29' }), forbidden);
    expect(await newest.text()).toBe(text);
    const others =
      await sql`select from kept_answer where organization_id = 'org_b' and state = 'kept'`;
    expect(others).toHaveLength(1);
  });

  test('is not kept with keep_answers: false, but the call never runs twice', async () => {
    const repeats = rows.repeats('alive_1');
    await rows.run(repeats, 'before');
    await sql`update organization set keep_answers = false where id = 'org_a'`;
    expect((await refusalOf(repeats)).message).toContain('keep_answers');
    await repeats.dropUnwanted();
    await rows.run(repeats, 'after', { idempotency_key: 'order-2' });
    expect((await refusalOf(repeats, { idempotency_key: 'order-2' })).message).toContain(
      'keep_answers',
    );
    expect(await sql`select from kept_answer where body is not null`).toHaveLength(0);
    await sql`update organization set keep_answers = true where id = 'org_a'`;
    expect((await refusalOf(repeats)).id).toBe('idempotent_answer_not_kept');
  });

  test('that was committed while the organization switched off is dropped by the sweep', async () => {
    await rows.run(rows.repeats('alive_1'), 'late');
    await sql`update organization set keep_answers = false where id = 'org_a'`;
    expect(await dropUnwantedBodies(sql)).toBe(1);
    expect(await dropUnwantedBodies(sql)).toBe(0);
  });
});

test('P4: if the answer cannot be kept, its end is not sent; it is kept later, and repeated', async () => {
  const repeats = rows.repeats('alive_1', 1_000_000, rows.flaky(2));
  const call = callOf();
  const first = repeats.run(call, rows.charged(call, 'the answer'));
  await expect(first).rejects.toMatchObject({ id: 'service_unavailable', retryable: true });
  expect((await refusalOf(repeats)).id).toBe('idempotency_key_in_use');
  await repeats.drain();
  expect(await (await repeats.run(callOf(), forbidden)).text()).toBe('the answer');
});
