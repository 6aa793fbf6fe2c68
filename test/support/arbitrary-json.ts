/**
 * Bodies that a hostile or a careless client might send, for fast-check.
 */
import { fc } from './property.ts';

/** Text that often breaks parsers, databases and terminals: NUL, lone surrogates, emoji, great length. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\u0000',
      '\ud800',
      '🔑'.repeat(60),
      'x'.repeat(2_000),
      '\n',
    ),
  },
);

export const anyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer({ min: -10, max: 200_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e-9, 1e-300, 1e308, 2 ** 53, 1_000_000, 99_999.999999999),
);

/** Any JSON value; some keys have a meaning in JavaScript, e.g. `__proto__`. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    anyNumber,
    anyText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('__proto__', 'constructor', 'type', 'length', ''), anyText),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

/** Sometimes a value, sometimes undefined. */
export function sometimes<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 2 });
}

/**
 * A valid body, or one with a mistake: a value of another type, an extra field, a missing
 * field, or not an object.
 */
export function mutated(body: fc.Arbitrary<object>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: body },
    {
      weight: 6,
      arbitrary: fc.tuple(body, fc.nat(), anyJson).map(([sensible, at, value]) => {
        const keys = Object.keys(sensible);
        const key = keys[at % Math.max(keys.length, 1)];
        return key === undefined ? sensible : { ...sensible, [key]: value };
      }),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(body, anyText, anyJson)
        .map(([sensible, key, value]) => ({ ...sensible, [key]: value })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(body, fc.nat()).map(([sensible, at]) => {
        const entries = Object.entries(sensible);
        entries.splice(at % Math.max(entries.length, 1), 1);
        return Object.fromEntries(entries);
      }),
    },
    { weight: 1, arbitrary: anyJson },
  );
}
