import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { BUILT_IN_DEFAULTS, builtInModels } from '../catalogue/built-in.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { FAMILY_PROTOCOLS } from '../catalogue/families.ts';
import { GENERATION_SCENES, type GenerationScene } from '../catalogue/inputs.ts';
import { WHOLE_PPM } from '../catalogue/own-key-fee.ts';
import { type ModelDeclaration, type ModelOverride, ModelSchema } from '../catalogue/schema.ts';
import type { ChannelConfig, TransportName } from '../upstreams/contract.ts';
import { withFixedAudio } from './fixed-audio.ts';
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
}

/** The channels of an installation that are not in the file. */
export interface AddedChannels {
  /** Who declared the channels of the configuration; `file` by default. */
  readonly source?: Exclude<ChannelSource, 'row'>;
  /** The channels that operators made. */
  readonly rows?: readonly ChannelConfig[];
}

/**
 * Returns the built-in catalogue and roles with the additions and overrides of `weir.yaml`, and the
 * channels of the file and of operators. Of two channels with the same id, that of the file counts.
 * The simulator's channels count only while operators made none. A model without a channel is not
 * public, so clients cannot see that model (spec: Errors). Channels that name no transport get
 * `transport`.
 */
export function installationOf(
  yaml: WeirYaml,
  transport: TransportName = 'own',
  { source = 'file', rows = [] }: AddedChannels = {},
): Installation {
  const declared = mergeModels(builtInModels(), yaml.models).filter(
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
  return {
    catalogue: new Catalogue(models, defaultModels(models, yaml.default_models)),
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
    const { pricing_provenance, ...declared } = by_id.get(override.id) ?? { id: override.id };
    // `pricing_provenance` is the source of the catalogue's price. It does not apply to a price
    // that `weir.yaml` sets.
    const provenance = override.price || !pricing_provenance ? {} : { pricing_provenance };
    by_id.set(override.id, { ...declared, ...provenance, ...override });
  }
  return Value.Decode(Type.Array(ModelSchema), [...by_id.values()]);
}
