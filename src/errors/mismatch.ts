import { Kind, type TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';

/** Where and why a value does not fit its schema, in plain words. */
export interface Mismatch {
  /** JSON pointer of the value that does not fit. */
  readonly pointer: string;
  /** Text such as `must be an integer`, without a subject and a full stop. */
  readonly message: string;
  readonly kind: 'unknown' | 'missing' | 'wrong';
  /** If a key is unknown: the keys that the object may have. Otherwise empty. */
  readonly known: readonly string[];
}

/**
 * Explains an error of TypeBox in plain words. If the schema of a wrong value has an
 * `errorMessage`, the explanation is this text.
 */
export function explainMismatch(error: ValueError): Mismatch {
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties: {
      // The names of a record are the client's own, so none of them is a field.
      if (error.schema['patternProperties']) return wrongName(error);
      const properties = error.schema['properties'] as Record<string, TSchema> | undefined;
      const known = Object.keys(properties ?? {});
      return { pointer: error.path, message: 'is not known here', kind: 'unknown', known };
    }
    case ValueErrorType.ObjectRequiredProperty:
      return { pointer: error.path, message: 'is required', kind: 'missing', known: [] };
    case ValueErrorType.Union:
      return insideUnion(error) ?? wrongValue(error, choices(error.schema));
    default:
      return wrongValue(error, describeRule(error));
  }
}

function wrongValue(error: ValueError, message: string): Mismatch {
  const custom = error.schema['errorMessage'];
  const text = typeof custom === 'string' ? custom : message;
  return { pointer: error.path, message: text, kind: 'wrong', known: [] };
}

/** Explains why a record must not have a name. */
function wrongName({ path, schema }: ValueError): Mismatch {
  const custom = schema['errorMessage'];
  const rule = typeof custom === 'string' ? `: its object ${custom}` : '';
  const message = `has a name that is not allowed${rule}`;
  return { pointer: path, message, kind: 'wrong', known: [] };
}

/**
 * Explains why a value fits no variant of a union. If only one variant has the JSON type of the
 * value, returns the mismatch with that variant. Otherwise returns undefined. Literals do not count
 * as variants here.
 */
function insideUnion({ schema, value, path }: ValueError): Mismatch | undefined {
  const matching = variantsOf(schema).filter(
    (variant) => variant[Kind] !== 'Literal' && jsonTypeOf(variant) === typeOf(value),
  );
  const [variant] = matching;
  const error = variant && matching.length === 1 ? Value.Errors(variant, value).First() : undefined;
  if (!error) return undefined;
  const { pointer, ...inner } = explainMismatch(error);
  return { pointer: path + pointer, ...inner };
}

/** Returns the variants of a union, including those of nested unions. */
function variantsOf(schema: TSchema): TSchema[] {
  const variants = schema['anyOf'] as TSchema[] | undefined;
  return variants ? variants.flatMap(variantsOf) : [schema];
}

function jsonTypeOf(schema: TSchema): string {
  return schema['type'] === 'integer' ? 'number' : String(schema['type']);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const NOUNS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
};

function choices(schema: TSchema): string {
  const nouns = variantsOf(schema).map((variant) =>
    variant['const'] === undefined
      ? (NOUNS[String(variant['type'])] ?? 'something else')
      : String(variant['const']),
  );
  const unique = [...new Set(nouns)];
  const last = unique.pop() ?? '';
  return `must be ${unique.length > 0 ? `${unique.join(', ')} or ${last}` : last}`;
}

function describeRule({ type, schema, message }: ValueError): string {
  switch (type) {
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${schema['minItems']} ${plural('entry', schema['minItems'])}`;
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema['maxItems']} ${plural('entry', schema['maxItems'])}`;
    case ValueErrorType.StringMinLength:
      return schema['minLength'] === 1
        ? 'must not be empty'
        : `must have at least ${schema['minLength']} characters`;
    case ValueErrorType.StringMaxLength:
      return `must have at most ${schema['maxLength']} characters`;
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return `must be at least ${schema['minimum']}`;
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return `must be at most ${schema['maximum']}`;
    case ValueErrorType.IntegerExclusiveMinimum:
    case ValueErrorType.NumberExclusiveMinimum:
      return `must be more than ${schema['exclusiveMinimum']}`;
    case ValueErrorType.StringPattern:
      return `must match ${schema['pattern']}`;
    case ValueErrorType.Literal:
      return `must be ${String(schema['const'])}`;
    default: {
      const noun = NOUNS[String(schema['type'])];
      return noun === undefined ? message.toLowerCase() : `must be ${noun}`;
    }
  }
}

function plural(noun: string, count: number): string {
  return count === 1 ? noun : noun.replace(/y$/, 'ies');
}
