import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { builtInModels } from '../catalogue/built-in.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { type ModelDeclaration, type ModelOverride, ModelSchema } from '../catalogue/schema.ts';
import type { ChannelConfig } from '../upstreams/contract.ts';
import type { WeirYaml } from './schema.ts';

/** Requests per minute of the built-in roles (design 8). */
export const BUILT_IN_ROLES = { trial: 60, standard: 3_000, enterprise: 30_000 };

/** What this installation serves. Immutable: a changed file makes a new one. */
export interface Installation {
  readonly catalogue: Catalogue;
  readonly channels: readonly ChannelConfig[];
  readonly roles: Readonly<Record<string, number>>;
}

/**
 * The built-in catalogue and roles with what `weir.yaml` adds or overrides. A model that no channel
 * serves is not public: for clients it does not exist (spec: Errors).
 */
export function installationOf(yaml: WeirYaml): Installation {
  const served = new Set(yaml.channels.flatMap((channel) => Object.keys(channel.models)));
  const models = mergeModels(builtInModels(), yaml.models);
  return {
    catalogue: new Catalogue(models.filter(({ id }) => served.has(id))),
    channels: yaml.channels,
    roles: { ...BUILT_IN_ROLES, ...yaml.roles },
  };
}

/** Lays overrides over declarations of the same id; the rest is new. Throws on an incomplete model. */
export function mergeModels(
  builtIn: readonly ModelDeclaration[],
  overrides: readonly ModelOverride[],
): ModelDeclaration[] {
  const byId = new Map(builtIn.map((model): [string, ModelOverride] => [model.id, model]));
  for (const override of overrides) {
    const { pricing_provenance, ...known } = byId.get(override.id) ?? { id: override.id };
    // A price of one's own does not come from the catalogue's source.
    const provenance = override.price || !pricing_provenance ? {} : { pricing_provenance };
    byId.set(override.id, { ...known, ...provenance, ...override });
  }
  return Value.Decode(Type.Array(ModelSchema), [...byId.values()]);
}

/** Without a configuration: every model of the catalogue, served by the simulator (design 8). */
export function demoInstallation(simulatorUrl: string): Installation {
  const models = builtInModels();
  const served = (family: string) =>
    Object.fromEntries(
      models.filter((model) => model.family === family).map(({ id }) => [id, `${id}-sim`]),
    );
  const shared = {
    priority: 0,
    weight: 1,
    max_concurrency: 1_000,
    timeout_ms: 120_000,
    enabled: true,
  };
  return installationOf({
    models: [],
    roles: {},
    channels: [
      {
        ...shared,
        id: 'demo-openai',
        protocol: 'openai',
        base_url: `${simulatorUrl}/openai/v1`,
        api_key: 'sim-demo-openai',
        models: served('openai-chat'),
      },
      {
        ...shared,
        id: 'demo-anthropic',
        protocol: 'anthropic',
        base_url: `${simulatorUrl}/anthropic`,
        api_key: 'sim-demo-anthropic',
        models: served('anthropic-messages'),
      },
    ],
  });
}
