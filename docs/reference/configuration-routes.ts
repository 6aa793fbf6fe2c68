import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { ListChangesSchema } from '../../src/http/operator/configuration-changes.ts';
import {
  CreateModelSchema,
  ITEM_BODIES,
  ListItemsSchema,
} from '../../src/http/operator/item-bodies.ts';
import type { HeaderName, ReferenceRoute } from './route.ts';

const ONCE: readonly HeaderName[] = ['Idempotency-Key'];
const CHANGE: readonly HeaderName[] = ['Idempotency-Key', 'If-Match'];

const route = (method: ReferenceRoute['method'], path: string, says: string): ReferenceRoute => ({
  ...{ method, path: `/v1/operator${path}`, says, caller: 'operator' },
});

/** What the members of models, prices and routing are; they are those of `weir.yaml`. */
const ITEM_WORDS = {
  category: 'What the model makes.',
  owned_by: 'The vendor of the model.',
  family: 'The family, which chooses the contract and the price’s units.',
  created: 'The day of the model, Unix seconds.',
  context_window: 'The size of the context, tokens.',
  max_output_tokens: 'The most output tokens of an answer.',
  dimensions: 'The length of an embedding’s vector.',
  fixed_dimensions: 'True if a request cannot change the number of dimensions.',
  aliases: 'Other names of the model.',
  capabilities: 'What a chat model takes beside text and tools.',
  visibility: 'Clients see only `public` models.',
  abilities: 'What a chat model takes of the parameters that differ between models.',
  offers: 'What the model offers of the contract of its family.',
  price: 'The price, in the units of the family; it replaces the whole price.',
  routing: '`policy` and `hedge`.',
  pricing_provenance: 'Where the price comes from: `source`, `date` and `note`.',
  model: 'The model of calls that name none.',
};

/** Returns a body without the members of its objects, which `weir.schema.json` has. */
function flat(body: TObject): TObject {
  const members = Object.entries(body.properties).map(([name, schema]): [string, TSchema] => {
    const isObject = schema['type'] === 'object';
    const isRequired = body.required?.includes(name) === true;
    const shown = isObject ? Type.Object({}, { additionalProperties: true }) : schema;
    return [name, isRequired ? shown : Type.Optional(shown)];
  });
  return Type.Object(Object.fromEntries(members), { additionalProperties: false });
}

/** The routes of one kind of item: `says` is what an item is. */
const itemRoutes = (
  collection: string,
  body: TObject,
  { all, one }: { readonly all: string; readonly one: string },
): ReferenceRoute[] => [
  {
    ...route('GET', `/${collection}`, `Lists ${all}, each with where it comes from.`),
    ...{ query: ListItemsSchema, words: { source: 'Only what comes from here.' } },
    more: 'Which value wins: [rows](../operations.md#models-prices-routing-and-presets-as-rows).',
  },
  route('GET', `/${collection}/{id}`, `Shows ${one}.`),
  {
    ...route('PATCH', `/${collection}/{id}`, `Sets members of ${one}; null removes a member.`),
    ...{ body: flat(body), headers: CHANGE, words: ITEM_WORDS },
  },
  {
    ...route('DELETE', `/${collection}/{id}`, `Removes what operators set of ${one}.`),
    headers: CHANGE,
  },
];

/** The routes of models, prices, routing and presets, of changes, and of the export. */
export const CONFIGURATION_ROUTES: readonly ReferenceRoute[] = [
  ...itemRoutes('models', ITEM_BODIES.model, { all: 'all models', one: 'a model' }),
  {
    ...route('POST', '/models', 'Makes a model that the catalogue does not have.'),
    ...{ body: flat(CreateModelSchema), headers: ONCE },
    words: { ...ITEM_WORDS, id: 'The public id of the model.' },
  },
  ...itemRoutes('prices', ITEM_BODIES.price, { all: 'the prices of all models', one: 'a price' }),
  ...itemRoutes('routing', ITEM_BODIES.routing, {
    ...{ all: 'how the channels of each model are ordered', one: 'the routing of a model' },
  }),
  ...itemRoutes('presets', ITEM_BODIES.preset, {
    ...{ all: 'the models of calls that name none', one: 'the model of a scene' },
  }),
  {
    ...route(
      'GET',
      '/configuration/export',
      'Exports the configuration as a file that does the same without rows.',
    ),
    answer: 'application/yaml',
    more: 'Keys are variables of the environment: [export](../operations.md#exporting-weiryaml).',
  },
  {
    ...route(
      'GET',
      '/configuration/changes',
      'Lists the changes of the configuration by operators.',
    ),
    query: ListChangesSchema,
    words: { kind: 'Only changes of this kind of object.', id: 'Only changes of this object.' },
    more: 'What can be taken back: [changes](../operations.md#taking-a-change-back).',
  },
  {
    ...route('POST', '/configuration/changes/{seq}/take-back', 'Takes a change back.'),
    headers: CHANGE,
  },
];
