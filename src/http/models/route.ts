import type { Catalogue, CatalogueModel } from '../../catalogue/catalogue.ts';
import { CATEGORIES } from '../../catalogue/schema.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** A model for clients of both vendors' SDKs at once (spec: Model object; contracts 1.6, Models). */
function modelObject(model: CatalogueModel): object {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.owned_by,
    type: 'model',
    display_name: model.id,
    created_at: new Date(model.created * 1000).toISOString(),
    max_input_tokens: model.context_window,
    max_tokens: model.max_output_tokens,
    lifecycle: 'active',
    weir: {
      category: model.category,
      pricing_unit: 'token',
      public_contract_summary: null,
      agent_preferences: {},
    },
  };
}

function modelDetail(model: CatalogueModel): object {
  return { ...modelObject(model), weir: { ...detailOf(model) } };
}

function detailOf(model: CatalogueModel): object {
  const { price, pricing_provenance } = model.declaration;
  return {
    category: model.category,
    pricing_unit: 'token',
    pricing: price,
    pricing_provenance: pricing_provenance ?? null,
    public_contract_summary: null,
    agent_preferences: {},
  };
}

/** `GET /v1/models` (spec: Model catalogue). */
export function listModels(deps: InferenceRouteDeps): Handler {
  return async ({ request }) => {
    const key = await deps.keys.authenticate(request, true);
    await deps.rateLimit.consume(key);
    const category = new URL(request.url).searchParams.get('category');
    if (category !== null && !CATEGORIES.some((each) => each === category)) {
      throw new WeirError('invalid_request', `category must be one of ${CATEGORIES.join(', ')}.`, {
        param: 'category',
      });
    }
    const data = deps
      .catalogue()
      .all()
      .filter((model) => category === null || model.category === category)
      .map(modelObject) as { id: string }[];
    return json({
      object: 'list',
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  };
}

/** `GET /v1/models/{model}`; ids may have slashes. */
export function getModel(deps: InferenceRouteDeps): Handler {
  return async ({ request, params }) => {
    const key = await deps.keys.authenticate(request, true);
    await deps.rateLimit.consume(key);
    const name = decode(params['*'] ?? '');
    const catalogue: Catalogue = deps.catalogue();
    const model = catalogue.find(name);
    if (model) return json(modelDetail(model));
    const inference = deps.inference();
    const callable = catalogue.all().filter((each) => inference.isCallable(each, key));
    throw new WeirError('model_detail_not_found', 'The model does not exist.', {
      param: 'model',
      ...suggestModels(name, callable),
      hint: 'GET /v1/models lists the models.',
    });
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
