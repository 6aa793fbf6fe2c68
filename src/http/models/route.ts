import type { RankingSnapshot } from '../../actors/ranking.ts';
import type {
  Catalogue,
  CatalogueModel,
  DirectModel,
  GenerationModel,
} from '../../catalogue/catalogue.ts';
import { SCENES, type Scene } from '../../catalogue/ranking.ts';
import { CATEGORIES } from '../../catalogue/schema.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** What makes the score (spec: Model object, `basis`). */
const SCORE_SOURCE = 'gateway_outcomes_24h';

export interface ModelRouteDeps extends InferenceRouteDeps {
  /** The latest ranking, from memory; absent where none is made. */
  ranking?: () => RankingSnapshot;
}

/** The public metadata of a model (spec: Model object). */
function metadata(model: CatalogueModel, snapshot: RankingSnapshot | undefined): object {
  return {
    category: model.category,
    pricing_unit: pricingUnit(model),
    public_contract_summary: model.kind === 'generation' ? contractSummary(model) : null,
    agent_preferences: preferences(model, snapshot),
  };
}

const DIRECT_UNITS: Record<DirectModel['price'][0]['unit'], string> = {
  input_tokens: 'token',
  output_tokens: 'token',
  seconds: 'second',
  characters: 'character',
  requests: 'request',
};

/** What a price is for (spec: `pricing_unit`). */
function pricingUnit(model: CatalogueModel): string {
  if (model.kind === 'chat') return 'token';
  return model.kind === 'direct' ? DIRECT_UNITS[model.price[0].unit] : model.price.unit;
}

/** A model's place among those of its scene; where it runs is nobody's business (P5). */
function preferences({ id, category }: CatalogueModel, snapshot: RankingSnapshot | undefined) {
  const scene = SCENES.find((each) => each === category);
  const ranked = (scene && snapshot?.ranking[scene]) ?? [];
  const at = ranked.findIndex(({ model }) => model === id);
  const place = ranked[at];
  if (!snapshot || !place || !scene) return {};
  return {
    [scene]: {
      preferred_rank: at + 1,
      success_rate_24h: place.success_rate,
      sample_count_24h: place.samples,
      status: place.ready ? 'ready' : 'insufficient_samples',
      updated_at: snapshot.updated_at.toISOString(),
      basis: { score_source: SCORE_SOURCE, channel_id: null, physical_model: null },
    },
  };
}

/** What a client needs for choosing: how a model answers, what it does and which parameters it takes. */
function contractSummary({ scene, family, contract, by_task, offers }: GenerationModel): object {
  return {
    scene,
    family,
    answers: by_task ? ['task'] : offers.async ? ['inline', 'task'] : ['inline'],
    supported_operations: operationsOf(scene, contract.operations),
    parameters: ['model', ...Object.keys(contract.schema.properties), 'webhook_url'],
  };
}

function operationsOf(scene: GenerationModel['scene'], operations: readonly string[]) {
  if (scene === 'video') return operations;
  return [scene === 'image' ? 'text-to-image' : 'text-to-music'];
}

/**
 * A model for clients of both vendors' SDKs at once (spec: Model object; contracts 1.6, Models).
 * Limits are in tokens; null where a model has none.
 */
function modelObject(model: CatalogueModel, weir: object) {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.owned_by,
    type: 'model',
    display_name: model.id,
    created_at: new Date(model.created * 1000).toISOString(),
    capabilities: null,
    max_input_tokens: model.kind === 'chat' ? model.context_window : null,
    max_tokens: model.kind === 'chat' ? model.max_output_tokens : null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    weir,
  };
}

function modelDetail(model: CatalogueModel, snapshot: RankingSnapshot | undefined): object {
  const { price, pricing_provenance } = model.declaration;
  return modelObject(model, {
    ...metadata(model, snapshot),
    pricing: price,
    pricing_provenance: pricing_provenance ?? null,
    ...(model.kind === 'generation' ? generationDetail(model) : {}),
  });
}

/** Taken with every create. */
const WEBHOOK_URL = {
  type: 'string',
  format: 'uri',
  description: 'Told when the task has ended.',
};

function generationDetail({ id, scene, contract, by_task, offers }: GenerationModel): object {
  return {
    supported_operations: operationsOf(scene, contract.operations),
    capability_flags: {
      inline: !by_task,
      async: by_task || offers.async === true,
      inline_inputs: offers.inline_inputs === true,
    },
    public_contract: {
      title: id,
      ...contract.schema,
      properties: {
        model: { type: 'string', const: id },
        ...contract.schema.properties,
        webhook_url: WEBHOOK_URL,
      },
      rules: contract.rules,
    },
  };
}

/** `GET /v1/models` (spec: Model catalogue). */
export function listModels(deps: ModelRouteDeps): Handler {
  return async ({ request }) => {
    const key = await deps.keys.authenticate(request, true);
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
    const key = await deps.keys.authenticate(request, true);
    await deps.rateLimit.consume(key);
    const name = decode(params['*'] ?? '');
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

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
