/** The installation that is made of a file and of the channels that operators made. */
import { describe, expect, test } from 'bun:test';
import { CurrentInstallation, type Declared } from '../../src/config/current-installation.ts';
import { demoConfig } from '../../src/config/demo.ts';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';
import { channelConfig } from '../support/channels.ts';

const fileOf = (text: string): Declared => ({
  ...{ yaml: parseWeirYaml(text, {}), source: 'file', transport: 'own' },
});
const FILE = `channels:
  - id: main
    protocol: openai
    base_url: https://api.example.com/v1
    api_key: secret
    models: { gpt-4o: of-the-file }
`;
const DEMO: Declared = { yaml: demoConfig('http://sim'), source: 'simulator', transport: 'fetch' };
const row = (id: string, models: Record<string, string>) => channelConfig(id, { models });

const sources = ({ now }: CurrentInstallation) => Object.fromEntries(now.sources);
const ids = ({ now }: CurrentInstallation) => now.channels.map(({ id }) => id);

describe('the channels of operators', () => {
  test('come after those of the file, with its transport', () => {
    const live = new CurrentInstallation({ ...fileOf(FILE), transport: 'fetch' });
    live.replaceRows([row('a', { 'gpt-5': 'five' })]);
    expect(ids(live)).toEqual(['main', 'a']);
    expect(sources(live)).toEqual({ main: 'file', a: 'row' });
    expect(live.now.channels.map(({ transport }) => transport)).toEqual(['fetch', 'fetch']);
    expect(live.now.catalogue.all().map(({ id }) => id)).toEqual(['gpt-4o', 'gpt-5']);
  });

  test('of the same id as one of the file are not used until the file drops it', () => {
    const live = new CurrentInstallation(fileOf(FILE));
    live.replaceRows([row('main', { 'gpt-4o': 'of-the-row' })]);
    expect(live.now.channels.map(({ models }) => models)).toEqual([{ 'gpt-4o': 'of-the-file' }]);
    expect(sources(live)).toEqual({ main: 'file' });
    live.replace(fileOf('channels: []'));
    expect(live.now.channels.map(({ models }) => models)).toEqual([{ 'gpt-4o': 'of-the-row' }]);
    expect(sources(live)).toEqual({ main: 'row' });
  });

  test('replace those of the simulator, which return with the last of them', () => {
    const live = new CurrentInstallation(DEMO);
    expect(new Set(Object.values(sources(live)))).toEqual(new Set(['simulator']));
    live.replaceRows([channelConfig('a', { enabled: false, models: { 'gpt-5': 'five' } })]);
    expect(ids(live)).toEqual(['a']);
    live.replaceRows([]);
    expect(ids(live)).toContain('demo-openai');
  });

  test('are used without the models that the file does not have, or has for another protocol', () => {
    const live = new CurrentInstallation(fileOf('channels: []'));
    const models = { 'gpt-5': 'five', mine: 'own', 'veo-3.1': 'film' };
    live.replaceRows([row('a', models)]);
    expect(live.now.channels[0]?.models).toEqual({ 'gpt-5': 'five' });
    const mine = { id: 'mine', category: 'chat', owned_by: 'me', family: 'openai-chat' };
    const price = { input_usd_per_mtok: 1, output_usd_per_mtok: 2 };
    live.replace(fileOf(JSON.stringify({ models: [{ ...mine, price }] })));
    expect(live.now.channels[0]?.models).toEqual({ 'gpt-5': 'five', mine: 'own' });
  });

  test('call the listeners only if they changed', () => {
    const live = new CurrentInstallation(fileOf(FILE));
    let changes = 0;
    live.onChange(() => {
      changes += 1;
    });
    live.replaceRows([row('a', { 'gpt-5': 'five' })]);
    live.replaceRows([row('a', { 'gpt-5': 'five' })]);
    expect(changes).toBe(1);
    live.replaceRows([channelConfig('a', { models: { 'gpt-5': 'five' }, api_key: 'new' })]);
    expect(changes).toBe(2);
  });
});

test('`offered` has every public model, also those that no channel serves', () => {
  const hidden = 'models: [{ id: gpt-4o, visibility: hidden }]';
  const { now } = new CurrentInstallation(fileOf(hidden));
  expect(now.catalogue.all()).toEqual([]);
  expect(now.offered().find('gpt-5')?.id).toBe('gpt-5');
  expect(now.offered().find('gpt-4o')).toBeUndefined();
});
