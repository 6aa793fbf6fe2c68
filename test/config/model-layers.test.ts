/** What operators set, between the catalogue and `weir.yaml`. */
import { describe, expect, test } from 'bun:test';
import type { ConfiguredItem } from '../../db/configuration/items.ts';
import { type Installation, installationOf } from '../../src/config/installation.ts';
import { parseWeirYaml } from '../../src/config/weir-yaml.ts';
import { ItemViews } from '../../src/config/which-wins.ts';

const CHANNEL = `
channels:
  - { id: main, protocol: openai, base_url: "http://x.test/v1", api_key: k, models: { gpt-4o: a, gpt-4o-mini: b } }
`;
const PRICE = { input_usd_per_mtok: 3, output_usd_per_mtok: 30 };
const OWN_PRICE = { input_usd_per_mtok: 5, output_usd_per_mtok: 50 };

const installed = (items: readonly ConfiguredItem[], file = ''): Installation =>
  installationOf(parseWeirYaml(CHANNEL + file, {}), 'own', { items });
const model = (id: string, value: ConfiguredItem['value']) => ({
  kind: 'model' as const,
  id,
  value,
});
const price = (id: string, value: object) => ({
  kind: 'price' as const,
  id,
  value: { price: value },
});
const declarationOf = (now: Installation, id = 'gpt-4o') => now.catalogue.find(id)?.declaration;

describe('one rule says which value wins', () => {
  test('a row wins over the catalogue, and its price has no source of the catalogue', () => {
    const usual = declarationOf(installed([]));
    expect(usual?.pricing_provenance).toBeDefined();
    const now = declarationOf(installed([price('gpt-4o', PRICE)]));
    expect(now).toMatchObject({ price: PRICE, context_window: usual?.context_window as number });
    expect(now?.pricing_provenance).toBeUndefined();
  });

  test('the row of a price wins over the row of its model, whichever came first', () => {
    const rows = [price('gpt-4o', PRICE), model('gpt-4o', { price: OWN_PRICE, context_window: 9 })];
    for (const items of [rows, rows.toReversed()]) {
      expect(declarationOf(installed(items))).toMatchObject({ price: PRICE, context_window: 9 });
    }
  });

  test('weir.yaml wins over a row, member by member', () => {
    const file =
      'models: [{ id: gpt-4o, price: { input_usd_per_mtok: 7, output_usd_per_mtok: 8 } }]';
    const items = [price('gpt-4o', PRICE), model('gpt-4o', { context_window: 9 })];
    const now = installed(items, file);
    expect(declarationOf(now)).toMatchObject({
      price: { input_usd_per_mtok: 7 },
      context_window: 9,
    });
    const views = new ItemViews(now);
    expect(views.find('price', 'gpt-4o')).toMatchObject({
      ...{ source: 'file', over: ['row', 'catalogue'], members: { price: 'file' } },
    });
    expect(views.find('model', 'gpt-4o')).toMatchObject({ source: 'row', over: ['catalogue'] });
    expect(views.find('routing', 'gpt-4o')).toMatchObject({ source: 'catalogue', value: {} });
    expect(views.find('price', 'gpt-4o-mini')).toMatchObject({ source: 'catalogue', over: [] });
    expect(views.find('price', 'nothing')).toBeUndefined();
    expect(views.find('preset', 'chat')).toBeUndefined();
  });

  test('a preset needs a model that a channel serves, of its scene', () => {
    const preset = (name: string) => ({
      kind: 'preset' as const,
      id: 'image',
      value: { model: name },
    });
    for (const name of ['nothing', 'flux-2-pro', 'gpt-4o']) {
      const now = installed([preset(name)]);
      expect(now.catalogue.defaults.image).toBeUndefined();
      expect(now.layers.problems.get('preset image')?.param).toBe('model');
    }
  });
});

describe('a row that does not fit is not used', () => {
  test('the others of its model are', () => {
    const items = [price('gpt-4o', { usd_per_image: 1 }), model('gpt-4o', { context_window: 9 })];
    const now = installed(items);
    expect(declarationOf(now)?.context_window).toBe(9);
    expect([...now.layers.problems.keys()]).toEqual(['price gpt-4o']);
  });

  test('an incomplete model, a wrong member and a price of nothing stop no replica', () => {
    const now = installed([
      ...[model('new', { category: 'chat' }), price('gone', PRICE)],
      model('gpt-4o', { context_window: 'large' }),
      { kind: 'routing', id: 'gpt-4o-mini', value: { policy: 'fastest' } },
    ]);
    expect([...now.layers.problems.keys()].sort()).toEqual([
      ...['model gpt-4o', 'model new', 'price gone', 'routing gpt-4o-mini'],
    ]);
    expect(declarationOf(now)).toEqual(declarationOf(installed([])) as never);
    const views = new ItemViews(now);
    expect(views.names('price')).toContain('gone');
    expect(views.names('routing')).not.toContain('gone');
    expect(views.find('price', 'gone')).toMatchObject({ value: {}, over: ['row'] });
    expect(views.find('price', 'gone')?.problem).toContain('required');
    expect(views.find('routing', 'gone')).toBeUndefined();
  });

  test('a model and its price fit together, though neither fits alone', () => {
    const members = { category: 'chat', owned_by: 'us', family: 'openai-chat' };
    const items = [price('new', PRICE), model('new', members)];
    expect(installed(items).offered().find('new')?.declaration).toMatchObject({ price: PRICE });
  });

  test('a row that contradicts a later file', () => {
    const file =
      'models: [{ id: gpt-4o, category: embedding, family: openai-embedding, price: { input_usd_per_mtok: 1 } }]';
    const channel = CHANNEL.replace('gpt-4o: a, ', '');
    const now = installationOf(parseWeirYaml(channel + file, {}), 'own', {
      items: [model('gpt-4o', { offers: { max_images: 2 } }), price('gpt-4o', PRICE)],
    });
    expect([...now.layers.problems.keys()]).toEqual(['model gpt-4o']);
  });
});
