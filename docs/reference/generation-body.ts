import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { BUILT_IN_DEFAULTS, builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue, type GenerationModel } from '../../src/catalogue/catalogue.ts';
import type { GenerationScene } from '../../src/catalogue/inputs.ts';
import { publicContract } from '../../src/http/models/view.ts';

const MODELS: readonly GenerationModel[] = new Catalogue(builtInModels(), BUILT_IN_DEFAULTS)
  .all()
  .filter((model) => model.kind === 'generation');

/**
 * The body of a route that creates generations: each parameter that some model of the scene takes, with
 * the widest bounds. The contract of each model narrows it (docs/catalogue.md).
 */
export function generationBody(
  scene: GenerationScene,
  suits: (model: GenerationModel) => boolean = () => true,
): TObject {
  const contracts = MODELS.filter((model) => model.scene === scene && suits(model)).map(
    (model) => ({
      properties: (publicContract(model)?.properties ?? {}) as Record<string, TSchema>,
      required: model.contract.schema.required ?? [],
    }),
  );
  const names = new Set(contracts.flatMap(({ properties }) => Object.keys(properties)));
  const properties: Record<string, TSchema> = {};
  for (const name of names) {
    const found = contracts.flatMap(({ properties }) => properties[name] ?? []);
    const schema = name === 'model' ? Type.String() : widest(found);
    const isRequired = contracts.every(({ required }) => required.includes(name));
    properties[name] = isRequired ? schema : Type.Optional(schema);
  }
  return Type.Object(properties);
}

/** True if an image model takes input images. */
export const takesImages = ({ contract }: GenerationModel): boolean =>
  'image' in contract.schema.properties;

/** Returns a schema for every value that one of the schemas takes. */
function widest(schemas: readonly TSchema[]): TSchema {
  const [first] = schemas;
  if (!first) throw new Error('a parameter without a schema');
  if (schemas.every((schema) => Bun.deepEquals(schema, first))) return first;
  const values = schemas.flatMap((schema) => literalsOf(schema) ?? []);
  const others = schemas.filter((schema) => literalsOf(schema) === undefined);
  const kinds: TSchema[] = [];
  for (const variant of others.flatMap(variantsOf)) {
    const index = kinds.findIndex((kind) => both(kind, variant) !== undefined);
    const kind = kinds[index];
    if (kind) kinds[index] = both(kind, variant) ?? kind;
    else kinds.push(variant);
  }
  // A pattern such as WIDTHxHEIGHT takes the values that other models name.
  const named = [...new Set(values)].filter(
    (value) => !kinds.some((kind) => Value.Check(kind, value)),
  );
  const all = [...(named.length > 0 ? choicesOf(named) : []), ...kinds];
  return all.length === 1 && all[0] ? all[0] : Type.Union(all);
}

const variantsOf = (schema: TSchema): TSchema[] =>
  (schema['anyOf'] as TSchema[] | undefined) ?? [schema];

/** The values of a schema that names them; undefined for any other schema. */
function literalsOf(schema: TSchema): (string | number | boolean)[] | undefined {
  const values = variantsOf(schema).map((variant) => variant['const'] as unknown);
  return values.every((value) => value !== undefined)
    ? (values as (string | number | boolean)[])
    : undefined;
}

function choicesOf(values: readonly (string | number | boolean)[]): TSchema[] {
  const sorted = values.every((value) => typeof value === 'number')
    ? [...values].sort((a, b) => Number(a) - Number(b))
    : values;
  return sorted.map((value) => Type.Literal(value));
}

const LOWER = ['minLength', 'minItems', 'minimum'];
const UPPER = ['maxLength', 'maxItems', 'maximum'];

/** Two schemas of one type with the wider bounds; undefined if they differ in more than bounds. */
function both(a: TSchema, b: TSchema): TSchema | undefined {
  const { default: _a, ...one } = a;
  const { default: _b, ...other } = b;
  const wide: Record<string, unknown> = { ...one };
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const [x, y] = [one[name], other[name]] as unknown[];
    if (Bun.deepEquals(x, y)) continue;
    if (typeof x !== 'number' || typeof y !== 'number') return undefined;
    if (LOWER.includes(name)) wide[name] = Math.min(x, y);
    else if (UPPER.includes(name)) wide[name] = Math.max(x, y);
    else return undefined;
  }
  return Type.Unsafe(wide);
}
