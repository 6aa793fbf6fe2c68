import type { RankingSnapshot } from '../../actors/channels/ranking.ts';
import type { Catalogue, CatalogueModel } from '../../catalogue/catalogue.ts';
import { RANKED_SCENES, type RankedScene } from '../../catalogue/ranking.ts';
import { CATEGORIES } from '../../catalogue/schema.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { familyOfClient } from '../client-family.ts';
import { decodePath, type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { geminiModel, geminiPage } from './gemini.ts';
import { metadata, modelDetail, modelObject } from './view.ts';

/** Dependencies of the model routes. */
export interface ModelRouteDeps extends InferenceRouteDeps {
  /** Returns the latest ranking in memory. Missing if this process has no ranking. */
  ranking?: () => RankingSnapshot;
}

/**
 * `GET /v1/models` (spec: Model catalogue), and `GET /v1beta/models`. A client of Google gets
 * Google's form on both paths, because its SDK may use either (@google/genai: `apiVersion`).
 * With `callable=true`, only the models that the key may call and a channel takes calls of now.
 */
export function listModels(deps: ModelRouteDeps): Handler {
  return async (context) => {
    const key = await deps.authentication.requireKey(context, 'gemini');
    await deps.rateLimit.consume(key, context);
    const query = new URL(context.request.url).searchParams;
    const category = oneOf(query, 'category', CATEGORIES);
    const scene = oneOf(query, 'recommended_for', RANKED_SCENES);
    const callable = oneOf(query, 'callable', ['true', 'false']);
    const snapshot = deps.ranking?.();
    const inference = deps.inference();
    const models = deps
      .catalogue(key.organization_id)
      .all()
      .filter((model) => category === null || model.category === category)
      .filter((model) => callable !== 'true' || inference.isCallable(model, key));
    if (familyOfClient(context.request) === 'gemini') return json(geminiPage(models, query));
    const data = (scene === null ? models : modelsByRank(models, scene, snapshot)).map((model) =>
      modelObject(model, metadata(model, snapshot)),
    );
    return json({
      object: 'list',
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  };
}

/** Returns the models of a scene (what a model makes, e.g. `image`), best model first. */
function modelsByRank(
  models: readonly CatalogueModel[],
  scene: RankedScene,
  snapshot: RankingSnapshot | undefined,
): CatalogueModel[] {
  const ranked = snapshot?.ranking[scene] ?? [];
  const ranks = new Map(ranked.map(({ model }, index) => [model, index]));
  // A model that was added after the ranking was built comes last.
  const rankOf = ({ id }: CatalogueModel) => ranks.get(id) ?? ranked.length;
  return models.filter(({ category }) => category === scene).sort((a, b) => rankOf(a) - rankOf(b));
}

/**
 * Returns a query parameter that has a fixed set of values; null if the parameter is missing.
 * Throws WeirError.
 */
function oneOf<Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
): Value | null {
  const value = query.get(name);
  if (value === null) return null;
  const allowed = values.find((candidate) => candidate === value);
  if (allowed !== undefined) return allowed;
  throw new WeirError('invalid_request', `${name} must be one of ${values.join(', ')}.`, {
    param: name,
  });
}

/** `GET /v1/models/{model}`, and `GET /v1beta/models/{model}`. Ids may contain slashes. */
export function getModel(deps: ModelRouteDeps): Handler {
  return async (context) => {
    const key = await deps.authentication.requireKey(context, 'gemini');
    await deps.rateLimit.consume(key, context);
    const name = decodePath(context.params['*'] ?? '');
    const catalogue: Catalogue = deps.catalogue(key.organization_id);
    const model = catalogue.find(name);
    if (model) {
      const isGoogle = familyOfClient(context.request) === 'gemini';
      return json(isGoogle ? geminiModel(model) : modelDetail(model, deps.ranking?.()));
    }
    const inference = deps.inference();
    const callable = catalogue.all().filter((candidate) => inference.isCallable(candidate, key));
    throw new WeirError('model_detail_not_found', 'The model does not exist.', {
      param: 'model',
      ...suggestModels(name, callable),
      hint: 'GET /v1/models lists the models.',
    });
  };
}
