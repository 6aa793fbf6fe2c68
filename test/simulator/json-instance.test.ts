import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { instanceOf } from '../../simulator/shared/json-instance.ts';
import { fc } from '../support/property.ts';

const SCHEMAS = {
  'a flat object': Type.Object({ city: Type.String(), days: Type.Integer(), dry: Type.Boolean() }),
  'bounds and steps': Type.Object({
    percent: Type.Integer({ minimum: 10, maximum: 12 }),
    above: Type.Integer({ exclusiveMinimum: 5 }),
    below: Type.Number({ exclusiveMaximum: -3 }),
    narrow: Type.Number({ minimum: 0.1, maximum: 0.2 }),
    fives: Type.Integer({ multipleOf: 5, minimum: 3, maximum: 22 }),
    between: Type.Integer({ exclusiveMinimum: 1, exclusiveMaximum: 3 }),
  }),
  'strings with a length': Type.Object({
    long: Type.String({ minLength: 80 }),
    short: Type.String({ maxLength: 2 }),
  }),
  'choices, constants, null': Type.Object({
    unit: Type.Union([Type.Literal('celsius'), Type.Literal('fahrenheit')]),
    kind: Type.Literal('forecast'),
    level: Type.Enum({ low: 'low', high: 'high' }),
    note: Type.Union([Type.String(), Type.Null()]),
    nothing: Type.Null(),
  }),
  'lists and tuples': Type.Object({
    list: Type.Array(Type.Object({ id: Type.Integer() }), { minItems: 3, maxItems: 4 }),
    none: Type.Array(Type.String(), { maxItems: 0 }),
  }),
  'parts laid over one another': Type.Intersect([
    Type.Object({ first: Type.String() }),
    Type.Object({ second: Type.Number() }),
  ]),
  'deep nesting': Type.Object({
    a: Type.Object({
      b: Type.Object({ c: Type.Object({ d: Type.Object({ e: Type.String() }) }) }),
    }),
  }),
};

describe('the simulator’s JSON', () => {
  test.each(Object.entries(SCHEMAS))('fits its schema: %s', (_name, schema) => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const value = instanceOf(JSON.parse(JSON.stringify(schema)), seed);
        expect([...Value.Errors(schema, value)]).toEqual([]);
        expect(instanceOf(schema, seed)).toEqual(value);
      }),
    );
  });

  test('follows references and ends for a recursive schema', () => {
    const schema = {
      type: 'object',
      properties: { root: { $ref: '#/$defs/node' } },
      required: ['root'],
      $defs: {
        node: {
          type: 'object',
          properties: {
            label: { type: 'string' },
            next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
          required: ['label', 'next', 'children'],
        },
      },
    };
    const Node = Type.Recursive((Self) =>
      Type.Object({
        label: Type.String(),
        next: Type.Union([Self, Type.Null()]),
        children: Type.Array(Self),
      }),
    );
    const value = instanceOf(schema, 1);
    expect([...Value.Errors(Type.Object({ root: Node }), value)]).toEqual([]);
  });

  test('returns a value for an empty or unsatisfiable schema', () => {
    expect(instanceOf({}, 1)).toBeString();
    expect(instanceOf(undefined, 1)).toBeNull();
    expect(instanceOf({ $ref: '#/nowhere' }, 1)).toBeString();
    expect(instanceOf({ allOf: [{ $ref: '#' }, { $ref: '#' }] }, 1)).toBeDefined();
    const wide = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } } };
    expect(instanceOf({ ...wide, required: ['a', 'b'] }, 1)).toBeDefined();
    const endless = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
    expect(JSON.stringify(instanceOf(endless, 1))).toContain('{"a":{"a":');
  });
});
