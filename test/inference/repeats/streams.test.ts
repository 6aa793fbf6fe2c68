/** P4, P7: streamed answers of repeated calls, and random interleavings of repeats. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Sql } from 'postgres';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { MAX_UNREAD_PIECES } from '../../../src/inference/repeats/client-relay.ts';
import type { AnswerRecorder } from '../../../src/inference/repeats/recorder.ts';
import type { RepeatableCall } from '../../../src/inference/repeats/repeats.ts';
import { fc } from '../../support/property.ts';
import { callOf, forbidden, RepeatRows } from '../../support/repeat-rows.ts';
import { until } from '../../support/until.ts';

let rows: RepeatRows;
let sql: Sql;
beforeAll(async () => {
  rows = await RepeatRows.open();
  sql = rows.sql;
});
afterAll(() => rows.close());
beforeEach(() => rows.empty());

describe('a streamed answer', () => {
  /** A stream of three pieces. `gate` opens before the last one. */
  const streamed =
    (call: RepeatableCall, gate: Promise<void>) => async (recorder: AnswerRecorder) =>
      new Response(
        recorder.start(async (client) => {
          await client.write('one ');
          await client.write('two ');
          await gate;
          await rows.charge(call);
          await client.keep('three');
          client.end('three');
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      );

  test('is sent at once, but its end only after it is kept', async () => {
    const call = callOf();
    const gate = Promise.withResolvers<void>();
    const repeats = rows.repeats('alive_1');
    const response = await repeats.run(call, streamed(call, gate.promise));
    const reader = response.body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(await read()).toBe('one ');
    expect(await read()).toBe('two ');
    gate.resolve();
    expect(await read()).toBe('three');
    const [row] = await sql`select state from kept_answer`;
    expect(row?.['state']).toBe('kept');
    expect(await (await repeats.run(callOf(), forbidden)).text()).toBe('one two three');
  });

  test('goes on to its end if the client leaves or stops reading', async () => {
    for (const leave of ['cancel', 'signal'] as const) {
      const client = new AbortController();
      const call = callOf({ client: client.signal, idempotency_key: leave });
      const repeats = rows.repeats('alive_1');
      const many = 500;
      let written = 0;
      const response = await repeats.run(call, async (recorder) => {
        const body = recorder.start(async (sink) => {
          for (; written < many; written += 1) await sink.write('x');
          await rows.charge(call);
          await sink.keep('!');
          sink.end('!');
        });
        return new Response(body);
      });
      // The writer waits for its client, which reads nothing.
      await until('the writer waits', () => written >= MAX_UNREAD_PIECES - 1);
      if (leave === 'cancel') await response.body?.cancel();
      else client.abort();
      await repeats.drain();
      const repeat = await repeats.run(callOf({ idempotency_key: leave }), forbidden);
      expect(await repeat.text()).toBe(`${'x'.repeat(many)}!`);
    }
  });

  test('waits for a client that reads slowly', async () => {
    let written = 0;
    const call = callOf();
    const repeats = rows.repeats('alive_1');
    const response = await repeats.run(call, async (recorder) => {
      const body = recorder.start(async (sink) => {
        for (; written < 1_000; written += 1) await sink.write('x');
        await rows.charge(call);
        await sink.keep('');
        sink.end('');
      });
      return new Response(body);
    });
    await Bun.sleep(50);
    expect(written).toBeLessThan(200);
    expect(await response.text()).toBe('x'.repeat(1_000));
  });

  test('that broke off breaks off at the same byte for a repeat', async () => {
    const call = callOf();
    const repeats = rows.repeats('alive_1');
    const sound = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from('first'));
        controller.enqueue(Buffer.from('second'));
      },
      async pull(controller) {
        await rows.charge(call);
        controller.error(new Error('the deadline passed'));
      },
    });
    const first = await repeats.run(call, async (recorder) => new Response(recorder.copy(sound)));
    await expect(first.bytes()).rejects.toThrow();
    const repeat = await repeats.run(callOf(), forbidden);
    const reader = repeat.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
    await expect(reader?.read()).rejects.toThrow();
  });
});

test('P4: sound that cannot be kept breaks off before its last piece, and is repeated in full', async () => {
  const repeats = rows.repeats('alive_1', 1_000_000, rows.flaky(1));
  const call = callOf();
  const sound = new ReadableStream<Uint8Array>({
    async start(controller) {
      await rows.charge(call);
      for (const piece of ['one ', 'two ', 'three']) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  const first = await repeats.run(call, async (recorder) => new Response(recorder.copy(sound)));
  await expect(first.text()).rejects.toThrow();
  await repeats.drain();
  expect(await (await repeats.run(callOf(), forbidden)).text()).toBe('one two three');
});

test('P7: for any interleaving of repeats over two replicas there is one charge and one answer', async () => {
  const step = fc.record({
    replica: fc.constantFrom('alive_1', 'alive_2'),
    wait_ms: fc.integer({ min: 0, max: 6 }),
    runs_ms: fc.integer({ min: 0, max: 6 }),
    fails: fc.boolean(),
    streams: fc.boolean(),
    leaves: fc.boolean(),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      run += 1;
      const idempotency_key = `run-${run}`;
      const key = { id: `key_run_${run}`, organization_id: 'org_a' };
      const answers: string[] = [];
      const replicas = { alive_1: rows.repeats('alive_1'), alive_2: rows.repeats('alive_2') };
      await Promise.all(
        steps.map(async ({ replica, wait_ms, runs_ms, fails, streams, leaves }) => {
          await Bun.sleep(wait_ms);
          const client = new AbortController();
          const call = callOf({ idempotency_key, key, client: client.signal });
          const answer = replicas[replica as 'alive_1'].run(call, async (recorder) => {
            await Bun.sleep(runs_ms);
            if (fails) throw new WeirError('upstream_error', 'failed without a charge');
            if (!streams) return rows.charged(call, `answer of ${call.request_id}`)();
            return new Response(
              recorder.start(async (sink) => {
                await sink.write('answer of ');
                await rows.charge(call);
                await sink.keep(call.request_id);
                sink.end(call.request_id);
              }),
            );
          });
          if (leaves) client.abort();
          const text = await answer.then((response) => response.text()).catch(String);
          // A client that left may have only a part of a streamed answer.
          if (text.startsWith('answer of ') && !leaves) answers.push(text);
          else if (!leaves) expect(text).toMatch(/still running|without a charge/);
        }),
      );
      await Promise.all(Object.values(replicas).map((each) => each.drain()));
      const [lines] = await sql<{ count: number }[]>`
        select count(*)::int4 as count from usage_line where key_id = ${key.id}`;
      expect(lines?.count).toBeLessThanOrEqual(1);
      expect(new Set(answers).size).toBeLessThanOrEqual(1);
      const states = await sql`select state from kept_answer where key_id = ${key.id}`;
      expect(states.map(({ state }) => state)).toEqual(lines?.count === 1 ? ['kept'] : []);
    }),
    { numRuns: 60 },
  );
}, 60_000);
