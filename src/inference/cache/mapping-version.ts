import type { OwnServing } from '../../actors/channels/own-keys.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';

/** A catalogue makes new models when the configuration changes, so the models are the keys. */
const versions = new WeakMap<CatalogueModel, string>();

/**
 * Returns a text that changes when other upstreams serve the model, or the same ones with another model
 * of theirs. `own` has the own keys that serve the call. Answers of an earlier version are never sent again. Keys, prices and weights of channels
 * are not part of it.
 */
export function mappingVersion(
  model: CatalogueModel,
  channels: readonly ChannelConfig[],
  own?: OwnServing,
): string {
  const version = platformVersion(model, channels);
  if (!own) return version;
  const keys = own.channels.map(({ config }) => upstreamOf(model, config));
  return `${version} ${Bun.hash(JSON.stringify(keys.sort())).toString(36)}`;
}

/** Returns what an answer depends on: the upstream, and the name that the model has there. */
function upstreamOf(
  { id: model_id }: CatalogueModel,
  { id, protocol, base_url, dialect, api_version, models }: ChannelConfig,
): string {
  return JSON.stringify([id, protocol, base_url, dialect, api_version, models[model_id]]);
}

function platformVersion(model: CatalogueModel, channels: readonly ChannelConfig[]): string {
  let version = versions.get(model);
  if (version === undefined) {
    const serving = channels
      .filter(({ models }) => models[model.id] !== undefined)
      .map((channel) => upstreamOf(model, channel));
    const { price: _, pricing_provenance: __, routing: ___, ...declared } = model.declaration;
    version = Bun.hash(JSON.stringify([declared, serving.sort()])).toString(36);
    versions.set(model, version);
  }
  return version;
}
