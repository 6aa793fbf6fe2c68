import type { Catalogue } from '../../catalogue/catalogue.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';

const MAX_QUOTED_CHARS = 100;

/**
 * Returns the index of the first name that is neither a model or alias of the catalogue nor in
 * `allowed`. Returns undefined if there is none.
 */
function findUnknownModel(
  catalogue: Catalogue,
  models: readonly string[] = [],
  allowed: readonly string[] = [],
): number | undefined {
  const index = models.findIndex((name) => !catalogue.find(name) && !allowed.includes(name));
  return index < 0 ? undefined : index;
}

/**
 * Throws WeirError `model_not_found` for the first unknown name of a key's allow-list (see
 * `findUnknownModel`). A key with a misspelled name could not call the model that was meant.
 */
export function refuseUnknownModel(
  catalogue: Catalogue,
  models: readonly string[] | undefined,
  allowed?: readonly string[],
): void {
  const index = findUnknownModel(catalogue, models, allowed);
  if (index === undefined) return;
  const name = models?.[index] ?? '';
  const message = `The model '${name.slice(0, MAX_QUOTED_CHARS)}' does not exist.`;
  throw new WeirError('model_not_found', message, {
    param: `models.${index}`,
    ...suggestModels(name, catalogue.all()),
    hint: 'GET /v1/models lists the models.',
  });
}
