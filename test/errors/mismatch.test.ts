import { describe, expect, test } from 'bun:test';
import { type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { explainMismatch } from '../../src/errors/mismatch.ts';

/** Returns pointer and message of the first mismatch. */
function explained(schema: TSchema, value: unknown): string {
  const error = Value.Errors(schema, value).First();
  if (!error) return 'fits';
  const { pointer, message } = explainMismatch(error);
  return `${pointer} ${message}`;
}

const Part = Type.Object({ type: Type.String() });
const Nullable = Type.Union([Type.Union([Type.String(), Type.Array(Part)]), Type.Null()]);

const Tags = Type.Record(Type.String({ pattern: '^[a-z]$' }), Type.String(), {
  ...{ additionalProperties: false, errorMessage: 'must have short names' },
});

describe('the explanation of a mismatch', () => {
  test.each<[TSchema, unknown, string]>([
    [Type.String(), 5, ' must be a string'],
    [Type.Integer(), 1.5, ' must be an integer'],
    [Type.Integer(), '1', ' must be an integer'],
    [Type.Number(), Number.NaN, ' must be a number'],
    [Type.Boolean(), 'true', ' must be true or false'],
    [Type.Array(Type.String()), {}, ' must be an array'],
    [Type.Object({}), [], ' must be an object'],
    [Type.Object({}), 'x', ' must be an object'],
    [Type.Number({ minimum: 0 }), -1, ' must be at least 0'],
    [Type.Integer({ maximum: 9 }), 10, ' must be at most 9'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, ' must be more than 0'],
    [Type.String({ minLength: 1 }), '', ' must not be empty'],
    [Type.String({ minLength: 3 }), '', ' must have at least 3 characters'],
    [Type.String({ maxLength: 3 }), 'long', ' must have at most 3 characters'],
    [Type.Array(Part, { minItems: 1 }), [], ' must have at least 1 entry'],
    [Type.Array(Part, { maxItems: 0 }), [1], ' must have at most 0 entries'],
    [Type.Literal('a'), 'b', ' must be a'],
    [Tags, { abc: 'x' }, '/abc has a name that is not allowed: its object must have short names'],
    [
      Type.Object({ tags: Tags }),
      { tags: { abc: 'x' } },
      '/tags/abc has a name that is not allowed: its object must have short names',
    ],
    [Type.Object({ tags: Tags }), { tags: { a: 1 } }, '/tags/a must be a string'],
    [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'c', ' must be a or b'],
    [
      Type.Union([Type.String(), Type.Number(), Type.Null()]),
      [],
      ' must be a string, a number or null',
    ],
    [Type.Object({ a: Part }), {}, '/a is required'],
    [Type.Object({}, { additionalProperties: false }), { 'a/b': 1 }, '/a~1b is not known here'],
    [Type.String({ errorMessage: 'must be what I want' }), 5, ' must be what I want'],
    // In a union, the mismatch is that of the variant with the value's JSON type.
    [Nullable, 5, ' must be a string, an array or null'],
    [Nullable, [{}], '/0/type is required'],
    [Nullable, [{ type: 5 }], '/0/type must be a string'],
  ])('%#', (schema, value, expected) => {
    expect(explained(schema, value)).toBe(expected);
  });
});
