/** The models that an error suggests, because they can serve now. */
import type { CatalogueFor, CatalogueModel } from '../catalogue/catalogue.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Caller } from './call.ts';

const MAX_ALTERNATIVES = 3;

interface AlternativesDeps {
  readonly catalogue: CatalogueFor;
  /** Returns the place of a model in the ranking of its scene. */
  readonly rankOf: (model: CatalogueModel) => number;
  /** True if the key of the call may call the model, and a channel would take the call now (P13). */
  readonly isCallable: (model: CatalogueModel) => boolean;
}

/**
 * If the error is `all_channels_failed`, adds models of the same scene that can serve now (spec:
 * Errors). Returns any other error unchanged. `accepts` tells whether another model could serve
 * the same request. Without `accepts`, all models of the scene that can serve now are added.
 */
export function withAlternatives(
  { catalogue, rankOf, isCallable }: AlternativesDeps,
  error: unknown,
  call: { readonly key: Caller; readonly model: CatalogueModel },
  accepts: (model: CatalogueModel) => boolean = () => true,
): unknown {
  if (!(error instanceof WeirError) || error.id !== 'all_channels_failed') return error;
  const alternatives = catalogue(call.key.organization_id)
    .all()
    .filter(
      (model) =>
        model.kind === call.model.kind &&
        model.id !== call.model.id &&
        model.category === call.model.category &&
        isCallable(model) &&
        accepts(model),
    )
    .sort((a, b) => rankOf(a) - rankOf(b))
    .slice(0, MAX_ALTERNATIVES)
    .map(({ id, category, owned_by }) => ({
      id,
      status: 'available',
      tags: [category, owned_by],
    }));
  return new WeirError(error.id, error.message, { ...error.details, alternatives }, error.cause);
}

/** True if a model for direct calls can serve a body that its route has accepted (P13). */
export function takesBody(model: CatalogueModel, body: Readonly<Record<string, unknown>>): boolean {
  if (model.kind !== 'direct') return false;
  try {
    model.contract.check(body);
    return true;
  } catch {
    return false;
  }
}
