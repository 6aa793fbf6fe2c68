import { describe, expect, test } from 'bun:test';
import type { ChannelActor } from '../../../src/actors/channels/channel.ts';
import {
  type OwnKey,
  type OwnKeyRefusal,
  type OwnKeySet,
  OwnKeys,
} from '../../../src/actors/channels/own-keys.ts';
import { FAILURES_TO_OPEN } from '../../../src/machines/channel.ts';
import { RetryableUpstreamError } from '../../../src/upstreams/contract.ts';
import { VirtualClock } from '../../sim/virtual-clock.ts';
import { channelConfig } from '../../support/channels.ts';

const MINUTE_MS = 60_000;
const broken = () => new RetryableUpstreamError('server', 'broken');
const refused = () => new RetryableUpstreamError('auth', 'wrong key', { status: 401 });

function ownKey(channel_id: string, version = '1', models: Record<string, string> = { x: 'x' }) {
  const configure = () => channelConfig(channel_id, { models, fee_ppm: 0 });
  return { channel_id, models, version, configure } satisfies OwnKey;
}

function world(max_actors?: number) {
  const clock = new VirtualClock();
  const refusals: OwnKeyRefusal[] = [];
  const keys = new OwnKeys({
    ...{ clock, fee_ppm: () => 0, onRefused: (refusal) => refusals.push(refusal) },
    ...(max_actors === undefined ? {} : { max_actors }),
  });
  keys.start();
  const set = (organization_id: string, ...of: OwnKey[]) =>
    keys.replace(organization_id, { mode: 'only', keys: of } satisfies OwnKeySet);
  const serving = (organization_id: string, model = 'x') =>
    keys.serving(organization_id, model)?.channels ?? [];
  return { clock, keys, refusals, set, serving };
}

const fail = (channel: ChannelActor | undefined) => {
  for (let time = 0; time < FAILURES_TO_OPEN; time += 1) channel?.tryAcquire()?.failed(broken());
};

describe('the own keys of organizations', () => {
  test('P6: serve their own organization only', () => {
    const { keys, set, serving } = world();
    set('home', ownKey('own:1'));
    expect(serving('home').map(({ config }) => config.id)).toEqual(['own:1']);
    expect(keys.serving('away', 'x')).toBeUndefined();
    expect(keys.serving('home', 'y')).toBeUndefined();
    expect(keys.find('away', 'own:1', 'x')).toBeUndefined();
    expect(keys.find('home', 'own:1', 'x')).toBe(serving('home')[0] as ChannelActor);
    expect([keys.canServe('home', 'x'), keys.canServe('away', 'x')]).toEqual([true, undefined]);
  });

  test('keep their health while the account stays, and lose it with another key', () => {
    const { keys, set, serving } = world();
    set('home', ownKey('own:1'));
    fail(serving('home')[0]);
    expect([serving('home')[0]?.state, keys.canServe('home', 'x')]).toEqual(['open', false]);
    set('home', ownKey('own:1'), ownKey('own:2'));
    expect(serving('home').map(({ state }) => state)).toEqual(['open', 'healthy']);
    set('home', ownKey('own:1', '2'));
    expect(serving('home')[0]?.state).toBe('healthy');
    keys.replaceAll(new Map());
    expect([keys.size, keys.serving('home', 'x')]).toEqual([0, undefined]);
  });

  test('still refuse calls if the protocol is not known, so that no other money is used', () => {
    const { set, serving, keys } = world();
    set('home', { ...ownKey('own:1'), configure: () => undefined });
    expect([keys.serving('home', 'x')?.mode, serving('home')]).toEqual(['only', []]);
  });

  test('report a refusal once, with the provider’s words', () => {
    const { refusals, set, serving } = world();
    set('home', ownKey('own:1', '1', { x: 'x', y: 'y' }));
    const [x] = serving('home');
    const [y] = serving('home', 'y');
    x?.tryAcquire()?.failed(refused());
    expect([x?.state, y?.state]).toEqual(['disabled', 'disabled']);
    expect(refusals).toEqual([{ channel_id: 'own:1', model: 'x', message: 'wrong key' }]);
  });

  test('are forgotten when idle, but not while a call runs', () => {
    const { clock, keys, set, serving } = world();
    set('home', ownKey('own:1'), ownKey('own:2'));
    const permit = serving('home')[0]?.tryAcquire();
    expect(keys.size).toBe(2);
    clock.advance(20 * MINUTE_MS);
    expect(keys.size).toBe(1);
    permit?.succeeded();
    clock.advance(20 * MINUTE_MS);
    expect(keys.size).toBe(0);
    expect(serving('home')).toHaveLength(2);
  });

  test('are bounded: those that were used longest ago lose their health first', () => {
    const { keys, set, serving } = world(100);
    for (let number = 0; number < 1_000; number += 1) {
      set(`org_${number}`, ownKey(`own:${number}`));
    }
    expect(keys.size).toBe(0);
    fail(serving('org_0')[0]);
    for (let number = 1; number < 1_000; number += 1) {
      serving(`org_${number}`);
      expect(keys.size).toBeLessThanOrEqual(100);
      if (number < 500) serving('org_0');
    }
    expect(keys.size).toBe(100);
    expect(serving('org_0')[0]?.state).toBe('healthy');
  });

  test('cost one look-up for an organization without any, and make nothing', () => {
    const { keys } = world();
    for (let number = 0; number < 10_000; number += 1) keys.serving(`org_${number}`, 'x');
    expect(keys.size).toBe(0);
  });
});
