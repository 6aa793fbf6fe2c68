import type { OwnKeySet, OwnKeys } from '../actors/channels/own-keys.ts';
import type { Catalogue, CatalogueFor } from '../catalogue/catalogue.ts';
import type { CurrentInstallation } from '../config/current-installation.ts';

/**
 * Returns a function that returns the models of an organization: the public ones, and those of the
 * installation that only its own keys serve. For an organization without own keys it costs one look-up.
 */
export function catalogueWithOwn(
  live: Pick<CurrentInstallation, 'now'>,
  keys: Pick<OwnKeys, 'of'>,
): CatalogueFor {
  /** A changed set of keys is another object. */
  const known = new WeakMap<OwnKeySet, { readonly of: Catalogue; readonly made: Catalogue }>();
  return (organization_id) => {
    const { catalogue } = live.now;
    const set = organization_id === undefined ? undefined : keys.of(organization_id);
    if (!set) return catalogue;
    const last = known.get(set);
    if (last?.of === catalogue) return last.made;
    const made = extended(catalogue, live.now.offered(), set);
    known.set(set, { of: catalogue, made });
    return made;
  };
}

function extended(catalogue: Catalogue, offered: Catalogue, { keys }: OwnKeySet): Catalogue {
  const ids = new Set(keys.flatMap(({ models }) => Object.keys(models)));
  const more = [...ids].flatMap((id) => (catalogue.find(id) ? [] : (offered.find(id) ?? [])));
  return more.length === 0 ? catalogue : catalogue.with(more);
}
