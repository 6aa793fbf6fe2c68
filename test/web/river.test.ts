/** The river of calls in flight, as its page lays it out. */
import { describe, expect, test } from 'bun:test';
import type { CallInFlight } from '../../web/api/types.ts';
import { isAt, riverOf } from '../../web/pages/actors/fleet/river.ts';

let made = 0;
function call(given: Partial<CallInFlight>): CallInFlight {
  made += 1;
  return {
    ...{ object: 'call_in_flight', request_id: `req_${made}`, api_key_id: 'key_1' },
    ...{ stage: 'calling', age_ms: 10, scene: 'chat', logical_model: 'gpt-4o' },
    ...{ held: 1, charged: null, organization_id: 'org_1', channel_id: 'east', circuit: 'healthy' },
    ...given,
  };
}

describe('the river', () => {
  test('has ribbons as high as the money of their calls, up to where each call is', () => {
    const calls = [
      call({ stage: 'reserved', channel_id: null, circuit: null }),
      call({ held: 2 }),
      call({ stage: 'answering', held: 1 }),
    ];
    const { ribbons } = riverOf(calls, true);
    const of = (at: number) =>
      ribbons
        .filter((ribbon) => ribbon.call === calls[at])
        .map(({ from, to, height }) => [from, to, height]);
    expect(of(0)).toEqual([['key', 'admission', 65]]);
    expect(of(1)).toEqual([
      ['key', 'admission', 130],
      ['admission', 'channel', 130],
    ]);
    expect(of(2).map(([, to]) => to)).toEqual(['admission', 'channel', 'ledger']);
  });

  test('has no channel for an organization', () => {
    const { channel_id: _, circuit: __, organization_id: ___, ...own } = call({});
    const river = riverOf([{ ...own, stage: 'answering' }], false);
    expect(river.banks).toEqual(['key', 'admission', 'ledger']);
    expect(river.ribbons.map(({ from, to }) => [from, to])).toEqual([
      ['key', 'admission'],
      ['admission', 'ledger'],
    ]);
  });

  test('gives a channel the worst state of its circuits', () => {
    const { docks } = riverOf(
      [call({ circuit: 'open' }), call({ circuit: 'degraded' }), call({ channel_id: 'west' })],
      true,
    );
    const channels = docks.filter(({ bank }) => bank === 'channel');
    expect(channels.map(({ name, circuit, calls }) => [name, circuit, calls])).toEqual([
      ['east/gpt-4o', 'open', 2],
      ['west/gpt-4o', 'healthy', 1],
    ]);
  });

  test('puts the keys beyond the tenth box into one, and no box covers another', () => {
    const calls = Array.from({ length: 30 }, (_, at) => call({ api_key_id: `key_${at}`, held: 0 }));
    const river = riverOf(calls, true);
    const keys = river.docks.filter(({ bank }) => bank === 'key');
    expect(keys.length).toBe(10);
    expect(keys.at(-1)).toMatchObject({ rest: 21, calls: 21 });
    for (const [at, { top }] of keys.slice(1).entries()) {
      expect(top).toBeGreaterThan((keys[at]?.top ?? 0) + (keys[at]?.height ?? 0));
    }
    const [last] = keys.slice(-1);
    if (!last) throw new Error('there is no box');
    expect(calls.filter((each) => isAt(river, each, last)).length).toBe(21);
    // What holds nothing can still be clicked.
    expect(Math.min(...river.ribbons.map(({ height }) => height))).toBeGreaterThanOrEqual(4);
  });

  test('keeps the ribbons of a box inside of it, one below the other', () => {
    const calls = [call({ held: 3 }), call({ held: 1 }), call({ api_key_id: 'key_2', held: 2 })];
    const { docks, ribbons } = riverOf(calls, true);
    const admission = docks.find(({ bank }) => bank === 'admission');
    const arriving = ribbons
      .filter(({ to }) => to === 'admission')
      .toSorted((a, b) => a.to_top - b.to_top);
    let next = admission?.top ?? Number.NaN;
    for (const { to_top, height } of arriving) {
      expect(to_top).toBeCloseTo(next);
      next += height;
    }
    expect(next).toBeCloseTo((admission?.top ?? 0) + (admission?.height ?? 0));
  });
});
