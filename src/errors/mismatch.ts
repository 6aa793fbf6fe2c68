import { Kind, type TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';

/** Where and why a value does not fit its schema, in words for people. */
export interface Mismatch {
  /** JSON pointer of the offending value. */
  readonly pointer: string;
  /** Without a subject and a full stop: `must be an integer`. */
  readonly message: string;
  readonly kind: 'unknown' | 'missing' | 'wrong';
  /** For an unknown key: the keys that are known at its place. */
  readonly known: readonly string[];
}

/** Explains the library's finding. A schema's own `errorMessage` goes before the library's words. */
export function explainMismatch(error: ValueError): Mismatch {
  switch (error.type) {
    case ValueErrorType.ObjectAdditionalProperties: {
      const properties = error.schema['properties'] as Record<string, TSchema> | undefined;
      const known = Object.keys(properties ?? {});
      return { pointer: error.path, message: 'is not known here', kind: 'unknown', known };
    }
    case ValueErrorType.ObjectRequiredProperty:
      return { pointer: error.path, message: 'is required', kind: 'missing', known: [] };
    case ValueErrorType.Union:
      return insideUnion(error) ?? wrong(error, choices(error.schema));
    default:
      return wrong(error, wording(error));
  }
}

function wrong(error: ValueError, message: string): Mismatch {
  const own = error.schema['errorMessage'];
  const said = typeof own === 'string' ? own : message;
  return { pointer: error.path, message: said, kind: 'wrong', known: [] };
}

/** What is wrong with the one variant that was meant: the one of the same JSON type. */
function insideUnion({ schema, value, path }: ValueError): Mismatch | undefined {
  const meant = variantsOf(schema).filter(
    (variant) => variant[Kind] !== 'Literal' && jsonTypeOf(variant) === typeOf(value),
  );
  const [variant] = meant;
  const error = variant && meant.length === 1 ? Value.Errors(variant, value).First() : undefined;
  if (!error) return undefined;
  const { pointer, ...inner } = explainMismatch(error);
  return { pointer: path + pointer, ...inner };
}

/** The variants of a union, those of unions inside of it among them. */
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

function wording({ type, schema, message }: ValueError): string {
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
