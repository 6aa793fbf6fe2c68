import { Type } from '@sinclair/typebox';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { CacheChanges } from '../../inference/cache/cache-changes.ts';
import { uuidOfEntry } from '../cache/entry-id.ts';
import { entryNotFound } from '../cache/feedback.ts';
import { type Handler, json } from '../endpoint.ts';
import { changeOnce } from './change-once.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import { readQuery } from './list-query.ts';

/** `DELETE /v1/management/cache` */
export const PurgeCacheSchema = Type.Object(
  { model: Type.Optional(Type.String()), cache_entry_id: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
const validate = validator(PurgeCacheSchema);

/** Dependencies of the purge. */
export interface CachePurgeDeps extends ManagementDeps {
  cacheChanges: () => CacheChanges;
}

/**
 * `DELETE /v1/management/cache`: removes all stored answers of the organization, those of one model, or
 * one entry. No public route does this (spec: Cache controls and feedback).
 */
export function purgeCache(deps: CachePurgeDeps): Handler {
  return async (context) => {
    const manager = await admitManager(deps, context);
    const { model, cache_entry_id } = readQuery(context.request, validate);
    if (model !== undefined && cache_entry_id !== undefined) {
      throw new WeirError('invalid_request', 'model and cache_entry_id exclude each other.', {
        param: 'cache_entry_id',
        hint: 'Send only one of them.',
      });
    }
    const model_id = model === undefined ? undefined : idOfModel(deps.catalogue(), model);
    const request_id = cache_entry_id === undefined ? undefined : uuidOfEntry(cache_entry_id);
    if (cache_entry_id !== undefined && request_id === undefined) {
      throw entryNotFound('cache_entry_id');
    }
    const changes = deps.cacheChanges();
    const { organization_id, actor } = manager;
    const { search: body } = new URL(context.request.url);
    const request = { organization_id, actor_id: actor.id, route: 'cache.purge', body };
    const answer = await changeOnce(deps, context, request, async (tx) => {
      if (!(await changes.purge(tx, manager, { model_id, request_id }))) {
        throw entryNotFound('cache_entry_id');
      }
      return json({
        object: 'cache.purged',
        model: model_id ?? null,
        cache_entry_id: cache_entry_id ?? null,
        purged: true,
      });
    });
    await changes.spread(organization_id, { model_id, request_id });
    return answer;
  };
}

/** Returns the id of a model that may be named by an alias. Throws WeirError `model_not_found`. */
function idOfModel(catalogue: Catalogue, name: string): string {
  const model = catalogue.find(name);
  if (model) return model.id;
  throw new WeirError('model_not_found', 'The model does not exist.', {
    param: 'model',
    ...suggestModels(name, catalogue.all()),
    hint: 'GET /v1/management/models lists the models.',
  });
}
