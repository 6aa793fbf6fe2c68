/** A parameter of a model, read from its contract (JSON Schema). */
export interface Parameter {
  readonly name: string;
  readonly isRequired: boolean;
  readonly kind: 'choice' | 'integer' | 'number' | 'boolean' | 'text' | 'list' | 'other';
  /** The values of a choice. */
  readonly choices: readonly (string | number)[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  /** The longest text, characters. */
  readonly max_chars: number | undefined;
  readonly standard: string | number | boolean | undefined;
  /** What the contract says of it, in words. */
  readonly says: string | undefined;
}

/** The part of JSON Schema that contracts use. */
interface Schema {
  readonly type?: string;
  readonly const?: string | number | boolean;
  readonly anyOf?: readonly Schema[];
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly description?: string;
  readonly errorMessage?: string;
  readonly items?: Schema;
}

/** A contract as the API shows it. */
export interface Contract {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[] | undefined;
}

/** Returns the parameters of a contract in its order, without `model`. */
export function parametersOf({ properties, required = [] }: Contract): Parameter[] {
  return Object.entries(properties)
    .filter(([name]) => name !== 'model')
    .map(([name, schema]) => parameterOf(name, schema as Schema, required.includes(name)));
}

function parameterOf(name: string, schema: Schema, isRequired: boolean): Parameter {
  const choices = choicesOf(schema);
  // `null` counts as left out, so it is no choice of its own.
  const forms = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null');
  const form = forms.find(({ type }) => type === 'string') ?? forms[0] ?? schema;
  return {
    name,
    isRequired,
    kind: choices.length > 0 ? 'choice' : kindOf(form),
    choices,
    minimum: form.minimum,
    maximum: form.maximum,
    max_chars: form.maxLength,
    standard: schema.default,
    says: schema.description ?? form.items?.description ?? schema.errorMessage,
  };
}

function choicesOf({ anyOf, const: only }: Schema): (string | number)[] {
  const values = anyOf
    ? anyOf.filter(({ type }) => type !== 'null').map((each) => each.const)
    : [only];
  return values.every((value) => typeof value === 'string' || typeof value === 'number')
    ? (values as (string | number)[])
    : [];
}

function kindOf({ type }: Schema): Parameter['kind'] {
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  if (type === 'string') return 'text';
  return type === 'array' ? 'list' : 'other';
}

/** Returns what a parameter takes, in words: `1 to 10`, `16:9, 9:16 or 1:1`. */
export function takenBy({ kind, choices, minimum, maximum, max_chars }: Parameter): string {
  switch (kind) {
    case 'choice':
      return choices.length === 1
        ? `only ${choices[0]}`
        : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number': {
      const what = kind === 'integer' ? 'a whole number' : 'a number';
      if (minimum === undefined && maximum === undefined) return what;
      if (maximum === undefined) return `${what} from ${minimum}`;
      return minimum === undefined ? `${what} up to ${maximum}` : `${minimum} to ${maximum}`;
    }
    case 'text':
      return max_chars === undefined ? 'a text' : `a text of up to ${max_chars} characters`;
    case 'list':
      return 'a list';
    default:
      return 'an object';
  }
}
