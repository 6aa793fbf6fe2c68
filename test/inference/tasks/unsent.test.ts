/** A model that several channels serve: not every provider has a place for every parameter (P18). */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { refuseUnsent } from '../../../src/inference/tasks/unsent.ts';
import { channelConfig } from '../../support/channels.ts';
import { accept } from '../../support/contracts.ts';
import { ScriptedProvider } from '../../support/scripted-provider.ts';
import { startTaskWorld, type TaskWorld } from '../../support/task-replica.ts';

const MODEL = 'veo-3.1';
const silent = accept(MODEL, { output_audio: false });

const channel = (protocol: 'veo' | 'fal' | 'runway') => ({
  config: channelConfig(protocol, { protocol, models: { [MODEL]: 'fal-ai/veo3.1' } }),
});

function refusalOf(channels: ReturnType<typeof channel>[], input = silent): WeirError | undefined {
  try {
    refuseUnsent(channels, MODEL, input);
    return undefined;
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
}

describe('a parameter that no channel can send is refused before money is held', () => {
  test('if the only provider has no place for it', () => {
    const error = refusalOf([channel('veo')]);
    expect(error).toMatchObject({
      id: 'invalid_request',
      message: 'veo-3.1 does not take output_audio false.',
      details: { param: 'output_audio', hint: 'Leave output_audio out.' },
    });
  });

  test('but not if another channel can send it, or if the model has no channel', () => {
    expect(refusalOf([channel('veo'), channel('fal')])).toBeUndefined();
    expect(refusalOf([])).toBeUndefined();
  });

  test('and the value that the provider uses by itself is accepted', () => {
    expect(refusalOf([channel('veo')], accept(MODEL, {}))).toBeUndefined();
    expect(refusalOf([channel('veo')], accept(MODEL, { output_audio: true }))).toBeUndefined();
  });
});

describe('another channel sends it', () => {
  let world: TaskWorld;
  beforeAll(async () => {
    world = await startTaskWorld();
  });
  afterAll(() => world.stop());

  test('although a channel of higher priority serves the model too', async () => {
    const [first, second] = [new ScriptedProvider(), new ScriptedProvider()];
    const replica = await world.replica({
      protocols: [
        { ...first.protocol('job'), name: 'veo' },
        { ...second.protocol('job'), name: 'fal' },
      ],
    });
    const key = await world.newKey(100);
    const made = await replica.create(key, { input: silent });
    expect(await replica.ended(made.id, key.organization_id)).toMatchObject({
      status: 'completed',
    });
    const usual = await replica.create(key);
    expect(await replica.ended(usual.id, key.organization_id)).toMatchObject({
      status: 'completed',
    });
    expect([first.accepted.length, second.accepted.length]).toEqual([1, 1]);
    await replica.close();
  });
});
