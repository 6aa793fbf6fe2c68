import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { ConfiguredItem } from '../../db/configuration/items.ts';
import { BUILT_IN_DEFAULTS, builtInModels } from '../catalogue/built-in.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { FAMILY_PROTOCOLS } from '../catalogue/families.ts';
import { GENERATION_SCENES, type GenerationScene } from '../catalogue/inputs.ts';
import { WHOLE_PPM } from '../catalogue/own-key-fee.ts';
import { type ModelDeclaration, type ModelOverride, ModelSchema } from '../catalogue/schema.ts';
import type { ChannelConfig, TransportName } from '../upstreams/contract.ts';
import { withFixedAudio } from './fixed-audio.ts';
import { overridden, type RowProblem, rowKeyOf, rowLayerOf } from './model-layers.ts';
import type { WeirYaml } from './schema.ts';

/** The roles that exist without `weir.yaml`, each with its limit of requests per minute. */
export const BUILT_IN_ROLES = { trial: 60, standard: 3_000, enterprise: 30_000 };

/**
 * Where a channel was declared: in `weir.yaml`, in a row that an operator made, or by Weir itself for
 * the simulator of the demo.
 */
export type ChannelSource = 'file' | 'row' | 'simulator';

/**
 * What this installation serves. An installation is immutable. When `weir.yaml` or a channel of an
 * operator changes, Weir creates a new installation.
 */
export interface Installation {
  readonly catalogue: Catalogue;
  /** Returns every public model, also those that no channel serves. */
  readonly offered: () => Catalogue;
  readonly channels: readonly ChannelConfig[];
  /** The source of each channel, by its id. */
  readonly sources: ReadonlyMap<string, ChannelSource>;
  /** The HTTP client of channels that name none. */
  readonly transport: TransportName;
  readonly roles: Readonly<Record<string, number>>;
  /** How many outcomes a model needs before the ranking uses its success rate. */
  readonly min_samples: number;
  /** How answers are sent again to identical calls. */
  readonly cache: WeirYaml['cache'];
  /** What a call on an own key of its organization costs, in millionths of the list price. */
  readonly own_key_fee_ppm: number;
  /** What it was made of. */
  readonly layers: Layers;
}

/** What an installation is made of. */
interface Layers extends Required<Added> {
  readonly yaml: WeirYaml;
  /** The models of the catalogue. */
  readonly built_in: readonly ModelDeclaration[];
  /** The rows about models that are used, in the order in which they apply. */
  readonly overrides: readonly ModelOverride[];
  /** Why rows of operators are not used, by `rowKeyOf`. */
  readonly problems: ReadonlyMap<string, RowProblem>;
}

/** The parts of an installation that are not in the file. */
export interface Added {
  /** Who declared the channels of the configuration; `file` by default. */
  readonly source?: Exclude<ChannelSource, 'row'>;
  /** The channels that operators made. */
  readonly rows?: readonly ChannelConfig[];
  /** The models, prices, routing and presets that operators set. */
  readonly items?: readonly ConfiguredItem[];
  /** Which values of the file are variables of the environment: their names, by JSON pointer. */
  readonly references?: ReadonlyMap<string, string>;
}

/**
 * Returns the built-in catalogue and roles with what operators set and with `weir.yaml`, and the
 * channels of the file and of operators. Of two channels with the same id, that of the file counts. Of
 * two values of a member, that of the file counts, and then that of operators.
 * The simulator's channels count only while operators made none. A model without a channel is not
 * public, so clients cannot see that model (spec: Errors). Channels that name no transport get
 * `transport`.
 */
export function installationOf(
  yaml: WeirYaml,
  transport: TransportName = 'own',
  { source = 'file', rows = [], items = [], references = new Map() }: Added = {},
): Installation {
  const built_in = builtInModels();
  const { overrides, problems: found } = rowLayerOf(items, yaml.models, built_in);
  const declared = mergeModels(built_in, [...overrides, ...yaml.models]).filter(
    ({ visibility = 'public' }) => visibility === 'public',
  );
  const configured = source === 'simulator' && rows.length > 0 ? [] : yaml.channels;
  const taken = new Set(configured.map(({ id }) => id));
  const added = rows.filter(({ id }) => !taken.has(id)).map((row) => withServable(row, declared));
  const channels = [...configured, ...added];
  const served = new Set(channels.flatMap((channel) => Object.keys(channel.models)));
  const models = declared
    .filter(({ id }) => served.has(id))
    .map((model) => withFixedAudio(model, channels));
  let offered: Catalogue | undefined;
  const presets = presetsOf(items, models);
  const problems = new Map([...found, ...presets.problems]);
  const defaults = { ...presets.models, ...yaml.default_models };
  return {
    catalogue: new Catalogue(models, defaultModels(models, defaults)),
    layers: { yaml, built_in, source, rows, items, references, overrides, problems },
    offered: () => {
      offered ??= new Catalogue(declared);
      return offered;
    },
    channels: channels.map((channel) => ({ transport, ...channel })),
    sources: new Map([
      ...configured.map(({ id }): [string, ChannelSource] => [id, source]),
      ...added.map(({ id }): [string, ChannelSource] => [id, 'row']),
    ]),
    transport,
    roles: { ...BUILT_IN_ROLES, ...yaml.roles },
    min_samples: yaml.ranking.min_samples,
    cache: yaml.cache,
    own_key_fee_ppm: Math.round(yaml.own_keys.fee_share * WHOLE_PPM),
  };
}

/** Returns an installation with other items of operators. */
export function withItems(
  { layers, transport }: Installation,
  items: readonly ConfiguredItem[],
): Installation {
  const { yaml, source, rows, references } = layers;
  return installationOf(yaml, transport, { source, rows, items, references });
}

/** Returns the default models that operators set, without those that no channel serves. */
function presetsOf(items: readonly ConfiguredItem[], served: readonly ModelDeclaration[]) {
  const models: Record<string, string> = {};
  const problems = new Map<string, RowProblem>();
  for (const item of items.filter(({ kind }) => kind === 'preset')) {
    const name = String(item.value['model']);
    const model = served.find(({ id, aliases }) => id === name || aliases?.includes(name));
    const message = model ? `does not make ${item.id}` : 'is not a model that a channel serves';
    if (model?.category === item.id) models[item.id] = name;
    else problems.set(rowKeyOf(item), { param: 'model', message });
  }
  return { models, problems };
}

/**
 * Returns a channel without the models that it cannot serve. A row may name a model that a later
 * `weir.yaml` or version no longer has, or has with another family.
 */
function withServable(
  channel: ChannelConfig,
  declared: readonly ModelDeclaration[],
): ChannelConfig {
  const families = new Map(declared.map(({ id, family }) => [id, family]));
  const models = Object.entries(channel.models).filter(([id]) => {
    const family = families.get(id);
    return family !== undefined && FAMILY_PROTOCOLS[family].includes(channel.protocol);
  });
  return { ...channel, models: Object.fromEntries(models) };
}

/**
 * Returns the default model of each scene (what a model makes, e.g. `image`). If `weir.yaml` sets a
 * default, that model is returned. Otherwise it is the default of the catalogue. If no channel
 * serves this model, it is the first model of the scene that a channel serves.
 */
function defaultModels(
  served: readonly ModelDeclaration[],
  configured: WeirYaml['default_models'],
): Partial<Record<GenerationScene, string>> {
  const defaults: Partial<Record<GenerationScene, string>> = {};
  for (const scene of GENERATION_SCENES) {
    const candidates = served.filter(({ category }) => category === scene);
    const usual = candidates.find(({ id }) => id === BUILT_IN_DEFAULTS[scene]) ?? candidates[0];
    const name = configured[scene] ?? usual?.id;
    if (name !== undefined) defaults[scene] = name;
  }
  return defaults;
}

/**
 * Merges each override into the declaration with the same id. An override with an unknown id is a
 * new model. Throws if a model is incomplete.
 */
export function mergeModels(
  builtIn: readonly ModelDeclaration[],
  overrides: readonly ModelOverride[],
): ModelDeclaration[] {
  const by_id = new Map(builtIn.map((model): [string, ModelOverride] => [model.id, model]));
  for (const override of overrides) {
    by_id.set(override.id, overridden(by_id.get(override.id) ?? { id: override.id }, override));
  }
  return Value.Decode(Type.Array(ModelSchema), [...by_id.values()]);
}
