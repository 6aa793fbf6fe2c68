/**
 * Integers with more digits than a JavaScript number holds, e.g. int64 ids. `JSON.parse` rounds
 * them. The functions of this file keep their digits, for values that are written as JSON again.
 */

/** The JSON text from which a value was parsed (ECMAScript: JSON.parse source text access). */
interface Source {
  readonly source?: string;
}

const DIGITS = /^-?\d+$/;
/** A number with fewer digits is exact. */
const MANY_DIGITS = /\d{16}/;

function isRounded(value: unknown, source: string): boolean {
  return typeof value === 'number' && !Number.isSafeInteger(value) && DIGITS.test(source);
}

/**
 * A reviver for `JSON.parse`. An integer that a number cannot hold becomes a text with its digits.
 * Every other value stays as it is.
 */
export function digitsAsText(_name: string, value: unknown, { source = '' }: Source = {}): unknown {
  return isRounded(value, source) ? source : value;
}

/**
 * Parses JSON. An integer that a number cannot hold becomes an object that `JSON.stringify` and
 * `String` write with all its digits. Throws SyntaxError like `JSON.parse`.
 */
export function parseExact(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_name, value: unknown, { source = '' }: Source = {}) =>
    isRounded(value, source) ? asInteger(source) : value,
  );
}

/** Objects with settings, whose numbers Weir reads. */
const SETTINGS = ['generationConfig', 'generation_config'];

/**
 * Returns a parsed body whose lists and objects keep the digits of their integers. Settings at the
 * top level, e.g. a seed, stay numbers. `text` is the JSON text of `body`.
 */
export function exactBody(
  body: Readonly<Record<string, unknown>>,
  text: string,
): Readonly<Record<string, unknown>> {
  if (!MANY_DIGITS.test(text)) return body;
  const exact = parseExact(text) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'object' && !SETTINGS.includes(name) ? exact[name] : value,
    ]),
  );
}

/**
 * Returns a value that `JSON.stringify` writes as an integer, with all digits of the text. A text
 * with other characters stays a text.
 */
export function asInteger(digits: string): unknown {
  return DIGITS.test(digits) ? new ExactInteger(digits) : digits;
}

/** An integer that is written with all its digits, as JSON and as a text. */
class ExactInteger {
  constructor(private readonly digits: string) {}

  toString(): string {
    return this.digits;
  }

  toJSON(): unknown {
    return (JSON as unknown as RawJson).rawJSON(this.digits);
  }
}

/** The function of `JSON` that TypeScript's types lack (ECMAScript: JSON.rawJSON). */
interface RawJson {
  rawJSON(text: string): unknown;
}
