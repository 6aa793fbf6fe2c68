/** What Weir knows of one call while it runs. */
import { describe, expect, test } from 'bun:test';
import { CallRecord } from '../../../src/inference/records/call-record.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';

const REQUEST = { id: crypto.randomUUID(), protocol: 'openai', program: 'curl/8.5.0' };
const KEY = { id: 'key_1', organization_id: 'org_1' };

function begin(arrived_ms = performance.now()) {
  const ends: { outcome: string; held: number }[] = [];
  const record = new CallRecord({ ...REQUEST, arrived_ms }, KEY, ({ outcome, held_nano_usd }) =>
    ends.push({ outcome, held: held_nano_usd }),
  );
  return { record, ends };
}

describe('the end', () => {
  test('is told once; later ends change nothing', async () => {
    const { record, ends } = begin();
    record.reserve(5_000);
    record.end('failed');
    const { ended_ms } = record.facts();
    await Bun.sleep(5);
    record.end('free');
    expect(ends).toEqual([{ outcome: 'failed', held: 0 }]);
    expect(record.outcome).toBe('failed');
    expect(record.facts().ended_ms).toBe(ended_ms);
  });
});

describe('the stage and times', () => {
  test('follow the call, in order', async () => {
    const { record } = begin();
    const stages: string[] = [record.stage];
    for (const step of [
      () => record.reserve(1),
      () => record.tryChannel('a'),
      () => record.answer(),
    ]) {
      await Bun.sleep(2);
      step();
      stages.push(record.stage);
    }
    expect(stages).toEqual(['admitting', 'reserved', 'calling', 'answering']);
    const { authenticated_us, reserved_us, routed_us, first_token_ms, ended_ms } = record.facts();
    const ms = [authenticated_us, reserved_us, routed_us].map((us) => Math.round(Number(us) / 1e3));
    const times = [...ms, Number(first_token_ms), Number(ended_ms)];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Number(reserved_us) - Number(authenticated_us)).toBeGreaterThan(1_000);
  });

  test('only the first part of an answer is the first token', async () => {
    const { record } = begin();
    record.answer();
    const { first_token_ms } = record.facts();
    await Bun.sleep(5);
    record.answer();
    expect(record.facts().first_token_ms).toBe(first_token_ms);
  });

  test('the date is the reservation, or the arrival where nothing was reserved', () => {
    const arrived_ms = performance.now() - 60_000;
    const { record } = begin(arrived_ms);
    expect(record.facts().at_ms).toBe(Math.floor(performance.timeOrigin + arrived_ms));
    record.reserve(1);
    expect(record.facts().at_ms - record.arrived_at_ms).toBeGreaterThan(59_000);
  });

  test('an offset that no column could hold is the largest one', () => {
    const { record } = begin(performance.now() - 3_600_000);
    expect(record.facts().authenticated_us).toBe(2 ** 31 - 1);
  });
});

describe('the attempts', () => {
  test('one that succeeds needs no detail', () => {
    const { record } = begin();
    record.tryChannel('a');
    expect(record.facts().detail).toBeUndefined();
    expect(record.channel_id).toBe('a');
  });

  test('each failure is noted at the latest attempt on its channel', () => {
    const { record } = begin();
    for (const channel of ['a', 'b', 'a']) record.tryChannel(channel);
    record.failChannel('a', new RetryableUpstreamError('server', 'no'));
    record.failChannel('b', undefined);
    record.failChannel('unknown', undefined);
    expect(record.facts().detail?.attempts).toMatchObject([
      { channel_id: 'a', ended_ms: null, failure: null, fault: null },
      { channel_id: 'b', failure: 'client', fault: 'caller' },
      { channel_id: 'a', failure: 'server', fault: 'broken' },
    ]);
  });
});

describe('what the client asked for', () => {
  test("OpenAI's user and metadata", () => {
    const { record } = begin();
    record.ask({ model: 'gpt-4o', user: 'ann', metadata: { team: 'blue', user_id: 'bob', n: 1 } });
    expect(record.model).toBe('gpt-4o');
    expect(record.facts().detail).toEqual({ end_user: 'ann', tags: { team: 'blue' } });
  });

  test('the tags of the key, which replace those of the client with the same names', () => {
    const key = { ...KEY, call_tags: { team: 'blue' } };
    const record = new CallRecord({ ...REQUEST, arrived_ms: 0 }, key, () => undefined);
    expect(record.tags).toEqual({ team: 'blue' });
    record.ask({ metadata: JSON.parse('{"team": "red", "env": "prod", "__proto__": "x"}') });
    expect(JSON.stringify(record.tags)).toBe('{"team":"blue","env":"prod","__proto__":"x"}');
  });

  test("Anthropic's metadata names the end user", () => {
    const { record } = begin();
    record.ask({ model: 'claude-haiku-4-5', metadata: { user_id: 'bob' } });
    expect(record.facts().detail).toEqual({ end_user: 'bob' });
  });

  test('values of other types are left out, and long ones are cut', () => {
    const { record } = begin();
    record.ask({ model: 7, user: {}, metadata: null });
    record.ask({ metadata: 'text' });
    expect([record.model, record.facts().detail]).toEqual(['', undefined]);
    const tags = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`tag${n}`, 'x']));
    record.ask({ model: 'm'.repeat(500), user: 'u'.repeat(900), metadata: tags });
    expect(record.model).toHaveLength(100);
    expect(record.end_user).toHaveLength(512);
    expect(Object.keys(record.tags ?? {})).toHaveLength(16);
  });

  test('every name of a tag is kept as a name', () => {
    const { record } = begin();
    record.ask({ metadata: JSON.parse('{"__proto__":"x","constructor":"y"}') });
    expect(JSON.stringify(record.facts().detail?.tags)).toBe('{"__proto__":"x","constructor":"y"}');
  });
});
