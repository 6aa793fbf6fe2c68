import { numberAt } from './random.ts';
import { wordText } from './text.ts';

/** From this depth on, only required members are created, so that recursive schemas end. */
const ROOMY_DEPTH = 4;
/** Values that are nested deeper than this are null: their schema requires an infinite value. */
const MAX_DEPTH = 64;
/**
 * The most steps that create one value. A schema may double its value with every reference, so the
 * depth alone does not limit the size of the value.
 */
const MAX_STEPS = 20_000;
const STRING_WORDS = 3;
const RANGE_STEPS = 100;

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  duration: 'P1D',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/a',
  uuid: '00000000-0000-4000-8000-000000000000',
};

type Schema = Record<string, unknown>;

/**
 * A value that is valid under a JSON Schema, always the same for one seed. It supports the keywords
 * of structured outputs and tools. It ignores `pattern`, `not` and conditions.
 */
export function instanceOf(schema: unknown, seed: number): unknown {
  return new Maker(schema, seed).make(schema, 0);
}

/** The answer to `response_format: json_object`, which has no schema. */
export function anyObject(seed: number): unknown {
  return { answer: wordText(seed, STRING_WORDS).whole(), certain: true };
}

class Maker {
  #drawn = 0;
  #steps = 0;

  constructor(
    readonly root: unknown,
    readonly seed: number,
  ) {}

  make(input: unknown, depth: number): unknown {
    if (!isSchema(input) || depth > MAX_DEPTH || this.#tired()) return null;
    const schema = this.#resolved(input, depth);
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum']) && schema['enum'].length > 0) {
      return schema['enum'][this.#draw() % schema['enum'].length];
    }
    switch (typeOf(schema, depth)) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return this.#string(schema);
      case 'integer':
        return this.#number(schema, 1);
      case 'number':
        return this.#number(schema, 0.5);
      case 'boolean':
        return this.#draw() % 2 === 0;
      default:
        return null;
    }
  }

  /** Follows references inside the document and merges the parts of a schema. */
  #resolved(schema: Schema, depth: number, hops = 0): Schema {
    if (hops > MAX_DEPTH || this.#tired()) return {};
    const { $ref: reference, allOf: all, anyOf: any, oneOf: one, ...own } = schema;
    let merged: Schema = own;
    if (typeof reference === 'string') {
      merged = merge(this.#resolved(this.#referenced(reference), depth, hops + 1), merged);
    }
    for (const part of Array.isArray(all) ? all.filter(isSchema) : []) {
      merged = merge(merged, this.#resolved(part, depth, hops + 1));
    }
    const choices = [any, one].flatMap((list) =>
      Array.isArray(list) ? list.filter(isSchema) : [],
    );
    const choice = depth >= ROOMY_DEPTH ? plainest(choices) : choices[0];
    return choice === undefined ? merged : merge(merged, this.#resolved(choice, depth, hops + 1));
  }

  #referenced(reference: string): Schema {
    let found: unknown = this.root;
    for (const name of reference.replace(/^#\/?/, '').split('/').filter(Boolean)) {
      const key = decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~');
      found = isSchema(found) && Object.hasOwn(found, key) ? found[key] : undefined;
    }
    return isSchema(found) ? found : {};
  }

  #object(schema: Schema, depth: number): Record<string, unknown> {
    const properties = isSchema(schema['properties']) ? schema['properties'] : {};
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const object: Record<string, unknown> = {};
    for (const [name, property] of Object.entries(properties)) {
      if (depth >= ROOMY_DEPTH && !required.includes(name)) continue;
      object[name] = this.make(property, depth + 1);
    }
    for (const name of required) {
      if (typeof name === 'string' && !Object.hasOwn(object, name)) object[name] = null;
    }
    return object;
  }

  #array(schema: Schema, depth: number): unknown[] {
    const fixed = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    const array = fixed.map((item) => this.make(item, depth + 1));
    const fewest = numberOr(schema['minItems'], 0);
    const wanted = Math.max(fewest, depth >= ROOMY_DEPTH ? 0 : 1);
    const size = Math.min(wanted, numberOr(schema['maxItems'], wanted));
    while (array.length < size) array.push(this.make(schema['items'], depth + 1));
    return array;
  }

  #string(schema: Schema): string {
    const format = schema['format'];
    if (typeof format === 'string' && FORMATS[format] !== undefined) return FORMATS[format];
    const text = wordText(this.#draw(), STRING_WORDS).whole();
    const longest = numberOr(schema['maxLength'], Infinity);
    return text.padEnd(numberOr(schema['minLength'], 0), '.').slice(0, longest);
  }

  #number(schema: Schema, usual_step: number): number {
    const step = numberOr(schema['multipleOf'], usual_step);
    const { minimum, maximum } = range(schema, step);
    let first = Math.ceil(minimum / step);
    if (first * step <= numberOr(schema['exclusiveMinimum'], -Infinity)) first += 1;
    let last = Math.floor(maximum / step);
    if (last * step >= numberOr(schema['exclusiveMaximum'], Infinity)) last -= 1;
    // No multiple of `step` is between the bounds, so the value in the middle is used.
    if (last < first) return (minimum + maximum) / 2;
    return (first + (this.#draw() % (last - first + 1))) * step;
  }

  #tired(): boolean {
    this.#steps += 1;
    return this.#steps > MAX_STEPS;
  }

  #draw(): number {
    this.#drawn += 1;
    return numberAt(this.seed, this.#drawn);
  }
}

/**
 * Returns the inclusive bounds of a number. If one bound is missing, it is a hundred steps away
 * from the other bound.
 */
function range(schema: Schema, step: number): { minimum: number; maximum: number } {
  const width = RANGE_STEPS * step;
  const maximum = Math.min(
    numberOr(schema['maximum'], Infinity),
    numberOr(schema['exclusiveMaximum'], Infinity),
  );
  const minimum = Math.max(
    numberOr(schema['minimum'], -Infinity),
    numberOr(schema['exclusiveMinimum'], -Infinity),
  );
  if (minimum === -Infinity)
    return maximum === Infinity
      ? { minimum: 0, maximum: width }
      : { minimum: maximum - width, maximum };
  return { minimum, maximum: Math.min(maximum, minimum + width) };
}

function typeOf(schema: Schema, depth: number): unknown {
  const { type } = schema;
  // At great depth, null is chosen for a nullable type.
  if (Array.isArray(type)) return depth >= ROOMY_DEPTH && type.includes('null') ? 'null' : type[0];
  if (type !== undefined) return type;
  if ('properties' in schema || 'required' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  return 'string';
}

/**
 * Returns the simplest choice, for great depth: `null` or another scalar, if the schema allows one.
 */
function plainest(choices: Schema[]): Schema | undefined {
  const plain = ['null', 'string', 'integer', 'number', 'boolean'];
  return choices.find(({ type }) => plain.includes(String(type))) ?? choices.at(-1);
}

/**
 * Merges two schemas. Members of the second schema override the first. Properties and requirements
 * are joined.
 */
function merge(first: Schema, second: Schema): Schema {
  const merged: Schema = { ...first, ...second };
  if (isSchema(first['properties']) && isSchema(second['properties'])) {
    merged['properties'] = { ...first['properties'], ...second['properties'] };
  }
  if (Array.isArray(first['required']) && Array.isArray(second['required'])) {
    merged['required'] = [...first['required'], ...second['required']];
  }
  return merged;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}
