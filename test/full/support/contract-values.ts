/** Values at and beyond each boundary of a published JSON Schema. */

export interface PropertySchema {
  type?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  const?: string | number;
  anyOf?: PropertySchema[];
  items?: PropertySchema;
}

export interface Values {
  inside: unknown[];
  outside: unknown[];
}

/** The longest text that is tried. The tests of bodies try longer texts. */
const MAX_TRIED_CHARS = 40_000;
const PICTURE = 'https://example.com/a.png';

/** Returns values that a property accepts and values that it refuses, by its schema alone. */
export function valuesOf(schema: PropertySchema): Values {
  const constants = schema.anyOf?.flatMap((each) => each.const ?? []) ?? [];
  if (schema.const !== undefined) constants.push(schema.const);
  if (constants.length > 0) return ofConstants(constants);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return ofNumber(schema);
    case 'boolean':
      return { inside: [true, false], outside: ['true', 1, 0, 'yes', []] };
    case 'array':
      return ofArray(schema);
    case 'string':
      return ofString(schema);
    default:
      return { inside: [], outside: [7, true, {}] };
  }
}

function ofConstants(constants: (string | number)[]): Values {
  const [first] = constants;
  const outside =
    typeof first === 'number'
      ? [Math.min(...constants.map(Number)) - 1, Math.max(...constants.map(Number)) + 1, 0.5, true]
      : ['nothing', `${first}x`, ` ${first}`, '', 7, true];
  return { inside: constants, outside: [...outside, {}, []] };
}

function ofNumber({ type, minimum, maximum }: PropertySchema): Values {
  const inside = [minimum, maximum].filter((bound) => bound !== undefined);
  const outside: unknown[] = ['1', true, {}, []];
  if (minimum !== undefined) outside.push(minimum - 1);
  if (maximum !== undefined) outside.push(maximum + 1);
  if (type === 'integer') outside.push((minimum ?? 0) + 0.5);
  return { inside, outside };
}

function ofString({ minLength = 0, maxLength, pattern }: PropertySchema): Values {
  const outside: unknown[] = [7, true, {}, ['x']];
  if (minLength > 0) outside.push('');
  const isTried = maxLength !== undefined && maxLength <= MAX_TRIED_CHARS;
  if (isTried) outside.push('x'.repeat(maxLength + 1));
  if (pattern !== undefined) outside.push('*', '');
  // A pattern does not say which values have a meaning.
  if (pattern !== undefined) return { inside: [], outside };
  return {
    inside: isTried ? ['x'.repeat(Math.max(1, minLength)), 'x'.repeat(maxLength)] : [],
    outside,
  };
}

function ofArray({ minItems = 0, maxItems }: PropertySchema): Values {
  const outside: unknown[] = [7, true, {}, [7]];
  if (minItems > 0) outside.push([]);
  if (maxItems !== undefined) outside.push(Array.from({ length: maxItems + 1 }, () => PICTURE));
  return { inside: [], outside };
}
