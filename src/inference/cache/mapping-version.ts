import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';

/** A catalogue makes new models when the configuration changes, so the models are the keys. */
const versions = new WeakMap<CatalogueModel, string>();

/**
 * Returns a text that changes when other upstreams serve the model, or the same ones with another model
 * of theirs. Answers of an earlier version are never sent again. Keys, prices and weights of channels
 * are not part of it.
 */
export function mappingVersion(model: CatalogueModel, channels: readonly ChannelConfig[]): string {
  let version = versions.get(model);
  if (version === undefined) {
    const serving = channels
      .filter(({ models }) => models[model.id] !== undefined)
      .map(({ id, protocol, base_url, dialect, api_version, models }) =>
        JSON.stringify([id, protocol, base_url, dialect, api_version, models[model.id]]),
      );
    const { price: _, pricing_provenance: __, routing: ___, ...declared } = model.declaration;
    version = Bun.hash(JSON.stringify([declared, serving.sort()])).toString(36);
    versions.set(model, version);
  }
  return version;
}
