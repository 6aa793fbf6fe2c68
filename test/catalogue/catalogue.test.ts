import { describe, expect, test } from 'bun:test';
import { Catalogue, isAllowed } from '../../src/catalogue/catalogue.ts';
import type { ModelDeclaration } from '../../src/catalogue/schema.ts';

const declare = (id: string, members: Partial<ModelDeclaration> = {}): ModelDeclaration => ({
  id,
  category: 'chat',
  owned_by: 'us',
  family: 'openai-chat',
  price: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 },
  ...members,
});

describe('the catalogue', () => {
  test('finds a model by its id and by its aliases', () => {
    const catalogue = new Catalogue([declare('one', { aliases: ['eins'] }), declare('two')]);
    expect(catalogue.find('one')?.id).toBe('one');
    expect(catalogue.find('eins')?.id).toBe('one');
    expect(catalogue.find('three')).toBeUndefined();
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('does not find %j', (name) => {
    expect(new Catalogue([declare('one')]).find(name)).toBeUndefined();
  });

  test('an id has precedence over another model’s alias of the same name', () => {
    const catalogue = new Catalogue([declare('one', { aliases: ['two'] }), declare('two')]);
    expect(catalogue.find('two')?.id).toBe('two');
  });

  test('a later declaration of the same id overrides the earlier one', () => {
    const catalogue = new Catalogue([declare('one'), declare('one', { owned_by: 'them' })]);
    expect(catalogue.all().map(({ owned_by }) => owned_by)).toEqual(['them']);
  });

  test('has the provider’s protocol for each family', () => {
    const catalogue = new Catalogue([
      declare('one'),
      declare('two', { family: 'anthropic-messages' }),
    ]);
    expect(catalogue.all()).toMatchObject([{ protocol: 'openai' }, { protocol: 'anthropic' }]);
  });
});

describe('an allow-list', () => {
  const model = { id: 'one', aliases: ['eins'] };

  test('that is empty allows every model', () => {
    expect(isAllowed([], model)).toBe(true);
  });

  test('allows a model by its id and by its aliases, and nothing else', () => {
    expect(isAllowed(['one'], model)).toBe(true);
    expect(isAllowed(['eins'], model)).toBe(true);
    expect(isAllowed(['two', 'ein'], model)).toBe(false);
  });
});
