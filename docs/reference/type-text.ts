import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox';

/** One member of a body, or one parameter of a query. */
export interface Member {
  /** Its name; of a member inside another one, the path to it: `messages[].role`. */
  readonly name: string;
  readonly schema: TSchema;
  readonly required: boolean;
}

/** Deeper members are the vendor's business. */
const MAX_DEPTH = 3;

/** Returns the members of an object, also those inside of other members, in order. */
export function membersOf(schema: TObject, prefix = '', depth = 1): Member[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const path = prefix + name;
    const inner = depth < MAX_DEPTH ? objectsIn(member, path) : [];
    return [
      { name: path, schema: member, required: required.has(name) },
      ...inner.flatMap(([at, object]) => membersOf(object, `${at}.`, depth + 1)),
    ];
  });
}

/** The objects with members in a schema, with the paths at which they are. */
function objectsIn(schema: TSchema, path: string): [path: string, object: TObject][] {
  if (KindGuard.IsObject(schema)) {
    return Object.keys(schema.properties).length > 0 ? [[path, schema]] : [];
  }
  if (isList(schema)) return objectsIn(schema['items'] as TSchema, `${path}[]`);
  return variantsOf(schema).flatMap((variant) => objectsIn(variant, path));
}

const isNull = (text: string) => text === 'null';
const isList = (schema: TSchema) => schema['type'] === 'array' && schema['items'] !== undefined;
const variantsOf = (schema: TSchema): TSchema[] => (schema['anyOf'] as TSchema[] | undefined) ?? [];

/** Returns the type of a schema with its bounds, in Markdown. */
export function typeText(schema: TSchema): string {
  const standard = schema['default'];
  const end = standard === undefined ? '' : `; default ${code(standard)}`;
  return kindText(schema) + patternText(schema) + end;
}

function kindText(schema: TSchema): string {
  if (schema['const'] !== undefined) return code(schema['const']);
  const variants = variantsOf(schema);
  if (variants.length > 0) {
    const texts = [...new Set(variants.map(kindText))];
    const isChoice = texts.every((text) => text.startsWith('`') || text === 'null');
    if (isChoice) return texts.join(', ');
    return [...texts.filter(isNull), ...texts.filter((text) => !isNull(text))].join(' or ');
  }
  switch (schema['type']) {
    case 'string':
      return schema['format'] === 'binary'
        ? 'file'
        : `string${range(schema['minLength'], schema['maxLength'], 'character')}`;
    case 'integer':
      return `integer${limits(schema)}`;
    case 'number':
      return `number${limits(schema)}`;
    case 'array': {
      const items = isList(schema) ? ` of ${inner(schema['items'] as TSchema)}` : '';
      return `array${items}${range(schema['minItems'], schema['maxItems'], 'item')}`;
    }
    case 'object': {
      const [values] = Object.values(
        (schema['patternProperties'] as Record<string, TSchema> | undefined) ?? {},
      );
      return values
        ? `object of any names, each ${kindText(values)}${range(schema['minProperties'], schema['maxProperties'], 'member')}`
        : 'object';
    }
    case undefined:
      return 'any';
    default:
      return String(schema['type']);
  }
}

/** The type of what is inside of another type: bounds need parentheses there. */
function inner(schema: TSchema): string {
  const text = kindText(schema);
  return /^[\w ]+$/.test(text) ? text : `(${text})`;
}

/** What a text must look like, in the words of the error that refuses another one. */
function patternText(schema: TSchema): string {
  const { pattern, errorMessage } = schema;
  if (typeof pattern !== 'string' || typeof errorMessage !== 'string') return '';
  return schema['maxLength'] !== undefined && /\d+ characters$/.test(errorMessage)
    ? ''
    : `; ${errorMessage.replace(/\|/g, '\\|')}`;
}

function range(least: unknown, most: unknown, what: string): string {
  if (typeof most === 'number') {
    const low = typeof least === 'number' ? least : 0;
    const many = `${number(most)} ${what}${most === 1 ? '' : 's'}`;
    if (low === most) return `, ${many}`;
    return low === 0 ? `, at most ${many}` : `, ${number(low)} to ${many}`;
  }
  if (typeof least !== 'number' || least === 0) return '';
  return `, at least ${number(least)} ${what}${least === 1 ? '' : 's'}`;
}

function limits({ minimum, exclusiveMinimum, maximum }: TSchema): string {
  const low = typeof minimum === 'number' ? minimum : undefined;
  const high = typeof maximum === 'number' ? maximum : undefined;
  if (typeof exclusiveMinimum === 'number') {
    const above = `, above ${number(exclusiveMinimum)}`;
    return high === undefined ? above : `${above}, at most ${number(high)}`;
  }
  if (low !== undefined && high !== undefined) return `, ${number(low)} to ${number(high)}`;
  if (low !== undefined) return `, at least ${number(low)}`;
  return high === undefined ? '' : `, at most ${number(high)}`;
}

/** A number with groups of three digits: 1,000,000. */
const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 9 });

const code = (value: unknown) => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
