/** The way of a request through the actors, as its page shows it. */
import { describe, expect, test } from 'bun:test';
import type { RecordedActor, RecordedEvent } from '../../src/replay/recording.ts';
import type { RecordedRequest } from '../../web/pages/actors/request/load.ts';
import { wayOf } from '../../web/pages/actors/request/way.ts';

const ARRIVED = Date.parse('2026-11-26T10:00:00.000Z');
const REQUEST: RecordedRequest = {
  ...{ object: 'call', request_id: 'req_1', api_key_id: 'key_1' },
  // The date of a call that reserved money is when it did.
  ...{ date: new Date(ARRIVED + 2).toISOString(), outcome: 'completed', outcome_text: null },
  ...{ status: 200, error_code: null, fault: null, scene: 'chat', logical_model: 'gpt-4o' },
  ...{ model_vendor: 'openai', access_channel: 'platform', protocol: 'openai', program: null },
  ...{ stream: false, list_price: 0.1, amount: 0.1, counted: 0.1, currency: 'USD', attempts: 2 },
  ...{ cache: null, time_to_first_token_ms: 9, duration_ms: 20 },
  usage: {
    ...{ input_tokens: 1, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 1 },
    ...{ reasoning_tokens: 0, audio_tokens: 0, units: {}, estimated: false },
  },
  timeline: [
    { stage: 'arrived', at_ms: 0 },
    { stage: 'authenticated', at_ms: 0.4 },
    { stage: 'reserved', at_ms: 2 },
    { stage: 'attempt_1', at_ms: 3, until_ms: 5, result: 'server' },
    { stage: 'attempt_2', at_ms: 6, until_ms: 20, result: null },
    { stage: 'first_token', at_ms: 9 },
    { stage: 'ended', at_ms: 20 },
    { stage: 'settled', at_ms: 25 },
  ],
};

interface Given extends Partial<RecordedEvent> {
  readonly type: string;
  readonly after_ms: number;
}
const event = ({ type, after_ms, ...rest }: Given): RecordedEvent => ({
  ...{ seq: 1, at: new Date(ARRIVED + after_ms).toISOString(), event: { type }, taken: true },
  ...{ from: 'a', to: 'b', machine_version: 1, hash: null, money: null, cause: 'call' },
  ...{ request_id: null, task_id: null },
  ...rest,
});
const actor = (kind: string, id: string, events: readonly RecordedEvent[]): RecordedActor => ({
  ...{ kind, id, replica: kind === 'task' ? null : 'r1', state: 'b', base: null, events },
});

describe('the way of a request', () => {
  test('has the events of this request only, in the order of their times', () => {
    const quota = actor('quota', 'key_1', [
      event({ type: 'RESERVE', after_ms: 2, seq: 7, request_id: 'req_1' }),
      event({ type: 'RESERVE', after_ms: 2, seq: 8, request_id: 'req_2' }),
    ]);
    const { steps, lanes, whole_ms } = wayOf(REQUEST, [quota]);
    expect(steps.map(({ at_ms, lane, says }) => [at_ms, lane, says])).toEqual([
      [0, 'call', 'the request arrived'],
      [0.4, 'call', 'its API key was accepted'],
      [2, 'quota/key_1/r1', 'a call asked for money'],
      [2, 'call', 'it was admitted: its money was reserved'],
      [3, 'attempts', 'attempt 1 was sent'],
      [5, 'attempts', 'attempt 1 failed: server'],
      [6, 'attempts', 'attempt 2 was sent'],
      [9, 'attempts', 'the first token came'],
      [20, 'call', 'its answer ended'],
      [25, 'ledger', 'its charge was committed'],
    ]);
    expect(steps[2]).toMatchObject({ event: { seq: 7 }, actor: { kind: 'quota', id: 'key_1' } });
    expect(lanes.map(({ id }) => id)).toEqual(['call', 'quota/key_1/r1', 'attempts', 'ledger']);
    expect(whole_ms).toBe(25);
  });

  test('has the attempts of an operator’s recording in the lanes of their channels', () => {
    const channels = ['east', 'west'].map((id) => actor('channel', `${id}/gpt-4o`, []));
    const attempts = [{ channel_id: 'east' }, { channel_id: 'west' }];
    const { steps, lanes } = wayOf({ ...REQUEST, channel: 'west', attempts }, channels);
    const lane = (says: string) => steps.find((step) => step.says === says)?.lane;
    expect(lane('attempt 1 failed: server')).toBe('channel/east/gpt-4o/r1');
    expect(lane('attempt 2 was sent')).toBe('channel/west/gpt-4o/r1');
    expect(lane('the first token came')).toBe('channel/west/gpt-4o/r1');
    expect(lanes.map(({ id }) => id)).not.toContain('attempts');
  });

  test('says why a quota is silent, and has the money of a task in the ledger', () => {
    const money = { held_nano_usd: 7, settled_nano_usd: 0, released_nano_usd: 0 };
    const task = actor('task', 'weir_1', [event({ type: 'ACCEPTED', after_ms: 4, money })]);
    const { steps, lanes } = wayOf({ ...REQUEST, task_id: 'weir_1' }, [
      task,
      actor('quota', 'key_1', []),
    ]);
    expect(lanes[1]?.silence).toContain('The grant of the key covered the call');
    expect(lanes.map(({ title }) => title)).toEqual([
      ...['The call', 'Quota of a key', 'Attempts', 'Task', 'Ledger'],
    ]);
    expect(steps.filter(({ nano_usd }) => nano_usd !== undefined)).toMatchObject([
      { at_ms: 4, lane: 'ledger', says: 'held', nano_usd: 7, actor: { id: 'weir_1' } },
    ]);
  });
});
