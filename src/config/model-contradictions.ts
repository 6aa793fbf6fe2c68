import { OPTIONAL_PARAMETERS } from '../catalogue/contracts/video-schema.ts';
import { DIRECT_PRICES } from '../catalogue/direct-price.ts';
import {
  categoryOf,
  DIRECT_OPERATIONS,
  type DirectOperation,
  type Family,
  isDirectFamily,
  sceneOf,
} from '../catalogue/families.ts';
import { declaredUnits } from '../catalogue/generation-price.ts';
import { type ModelDeclaration, type ModelOverride, ModelSchema } from '../catalogue/schema.ts';
import { closestName } from '../errors/closest-name.ts';

type Add = (pointer: string, message: string) => void;

const CHAT_PRICES = [
  'input_usd_per_mtok',
  'cached_input_usd_per_mtok',
  'cache_write_usd_per_mtok',
  'cache_write_1h_usd_per_mtok',
  'audio_input_usd_per_mtok',
  'cached_audio_input_usd_per_mtok',
  'usd_per_web_search',
  'output_usd_per_mtok',
  'long_context',
  'cached_answer_share',
];

/**
 * The units in which models of each scene (what a model makes) may be priced. A price of a model of
 * the family `token-priced-image` may also be in tokens.
 */
const SCENE_UNITS = {
  image: ['image', 'request'],
  video: ['second', 'request'],
  music: ['song', 'request'],
  '3d': ['request'],
  audio: ['second', 'request'],
} as const;

/**
 * Reports models of the file that are incomplete or contradict themselves. Returns every model of
 * the catalogue and of the file by its id, with overrides merged. Incomplete models are returned
 * too.
 */
export function findModelContradictions(
  models: readonly ModelOverride[],
  known: readonly ModelDeclaration[],
  add: Add,
): Map<string, ModelOverride> {
  const declared = new Map(known.map((model): [string, ModelOverride] => [model.id, model]));
  for (const [index, override] of models.entries()) {
    const pointer = `/models/${index}`;
    const model = { ...declared.get(override.id), ...override };
    const missing = (ModelSchema.required ?? []).filter((name) => !Object.hasOwn(model, name));
    for (const field of missing) {
      const why = `is required, because the catalogue has no model ${model.id}`;
      add(`${pointer}/${field}`, why);
    }
    if (model.family) checkModel(model, model.family, pointer, add);
    declared.set(model.id, model);
  }
  return declared;
}

function checkModel(model: ModelOverride, family: Family, pointer: string, add: Add): void {
  const scene = sceneOf(family);
  const category = categoryOf(family);
  if (model.category && model.category !== category) {
    add(`${pointer}/category`, `must be ${category}, the category of ${family}`);
    return;
  }
  if (model.price && isDirectFamily(family)) {
    checkDirectPrice(model.price, DIRECT_OPERATIONS[family], `${pointer}/price`, add);
  } else if (model.price && scene === undefined)
    checkChatPrice(model.price, `${pointer}/price`, add);
  else if (model.price && scene) {
    checkGenerationPrice(model.price, family, SCENE_UNITS[scene], `${pointer}/price`, add);
  }
  if (model.offers && scene === undefined) {
    add(`${pointer}/offers`, 'is allowed only for image, video, music, 3d and audio models');
  }
  for (const [index, name] of (model.offers?.parameters ?? []).entries()) {
    if (OPTIONAL_PARAMETERS.some((parameter) => parameter === name)) continue;
    const meant = closestName(name, OPTIONAL_PARAMETERS);
    const problem = 'is not a parameter of videos';
    const message = meant ? `${problem}; did you mean ${meant}?` : problem;
    add(`${pointer}/offers/parameters/${index}`, message);
  }
}

type Price = ModelDeclaration['price'];

function checkDirectPrice(
  price: Price,
  operation: DirectOperation,
  pointer: string,
  add: Add,
): void {
  const schemes = DIRECT_PRICES[operation].map((scheme) => scheme.map(({ member }) => member));
  const used =
    schemes.find((scheme) => scheme.some((name) => price[name] !== undefined)) ?? schemes[0] ?? [];
  for (const name of used) {
    if (price[name] === undefined) add(`${pointer}/${name}`, 'is required');
  }
  const priced = Object.keys(price).filter((key) => key !== 'cached_answer_share');
  for (const name of priced.filter((key) => !used.some((member) => member === key))) {
    add(`${pointer}/${name}`, `is not a price of ${operation}`);
  }
}

function checkChatPrice(price: Price, pointer: string, add: Add): void {
  for (const name of ['input_usd_per_mtok', 'output_usd_per_mtok'] as const) {
    if (price[name] === undefined) add(`${pointer}/${name}`, 'is required');
  }
  for (const name of Object.keys(price).filter((key) => !CHAT_PRICES.includes(key))) {
    add(`${pointer}/${name}`, 'is not a price of a chat model');
  }
  // If the input of a call may be a long context, the call reserves money at the price of long
  // contexts. So this price must also cover a shorter context.
  for (const name of ['input_usd_per_mtok', 'output_usd_per_mtok'] as const) {
    const [usual = 0, long = usual] = [price[name], price.long_context?.[name]];
    if (long < usual)
      add(`${pointer}/long_context/${name}`, 'must be at least the price of shorter contexts');
  }
}

function checkGenerationPrice(
  price: Price,
  family: Family,
  units: readonly string[],
  pointer: string,
  add: Add,
): void {
  const declared = declaredUnits(price);
  if (family === 'token-priced-image' && declared.length === 1 && declared[0] === 'token') {
    if (price.input_usd_per_mtok === undefined) {
      add(`${pointer}/input_usd_per_mtok`, 'is required');
    }
    return;
  }
  const names = units.map((unit) => `usd_per_${unit}`);
  if (declared.length > 1) add(pointer, `needs only one of ${joinNames(names, 'and')}`);
  else if (!units.some((unit) => unit === declared[0]))
    add(pointer, `needs ${joinNames(names, 'or')}`);
}

/** Returns the names as a list: `a, b or c`. */
export function joinNames(names: readonly string[], word: 'and' | 'or'): string {
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${word} ${last}`;
}
