import type { RankingSnapshot } from '../../actors/channels/ranking.ts';
import type { Catalogue, CatalogueModel } from '../../catalogue/catalogue.ts';
import { SCENES, type Scene } from '../../catalogue/ranking.ts';
import { CATEGORIES } from '../../catalogue/schema.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { readApiKey } from '../auth/credentials.ts';
import { decodePath, type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { metadata, modelDetail, modelObject } from './view.ts';

export interface ModelRouteDeps extends InferenceRouteDeps {
  /** The latest ranking, from memory; absent where none is made. */
  ranking?: () => RankingSnapshot;
}

/** `GET /v1/models` (spec: Model catalogue). */
export function listModels(deps: ModelRouteDeps): Handler {
  return async ({ request }) => {
    const key = await deps.keys.authenticate(readApiKey(request, true));
    await deps.rateLimit.consume(key);
    const query = new URL(request.url).searchParams;
    const category = oneOf(query, 'category', CATEGORIES);
    const scene = oneOf(query, 'recommended_for', SCENES);
    const snapshot = deps.ranking?.();
    const models = deps
      .catalogue()
      .all()
      .filter((model) => category === null || model.category === category);
    const data = (scene === null ? models : recommended(models, scene, snapshot)).map((model) =>
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

/** The models of a scene, the best first. */
function recommended(
  models: readonly CatalogueModel[],
  scene: Scene,
  snapshot: RankingSnapshot | undefined,
): CatalogueModel[] {
  const ranked = snapshot?.ranking[scene] ?? [];
  const place = new Map(ranked.map(({ model }, at) => [model, at]));
  // A model that was added since the ranking was made comes last.
  const of = ({ id }: CatalogueModel) => place.get(id) ?? ranked.length;
  return models.filter(({ category }) => category === scene).sort((a, b) => of(a) - of(b));
}

/** A query parameter with a fixed set of values; null = not given. */
function oneOf<Value extends string>(
  query: URLSearchParams,
  name: string,
  values: readonly Value[],
): Value | null {
  const value = query.get(name);
  if (value === null) return null;
  const known = values.find((each) => each === value);
  if (known !== undefined) return known;
  throw new WeirError('invalid_request', `${name} must be one of ${values.join(', ')}.`, {
    param: name,
  });
}

/** `GET /v1/models/{model}`; ids may have slashes. */
export function getModel(deps: ModelRouteDeps): Handler {
  return async ({ request, params }) => {
    const key = await deps.keys.authenticate(readApiKey(request, true));
    await deps.rateLimit.consume(key);
    const name = decodePath(params['*'] ?? '');
    const catalogue: Catalogue = deps.catalogue();
    const model = catalogue.find(name);
    if (model) return json(modelDetail(model, deps.ranking?.()));
    const inference = deps.inference();
    const callable = catalogue.all().filter((each) => inference.isCallable(each, key));
    throw new WeirError('model_detail_not_found', 'The model does not exist.', {
      param: 'model',
      ...suggestModels(name, callable),
      hint: 'GET /v1/models lists the models.',
    });
  };
}
