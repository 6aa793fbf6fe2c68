import type { Catalogue, CatalogueModel, GenerationModel } from '../../catalogue/catalogue.ts';
import { CATEGORIES } from '../../catalogue/schema.ts';
import { suggestModels } from '../../catalogue/suggest.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';

/** Scenes that can be asked for with `recommended_for` (spec: Model catalogue). */
const SCENES = CATEGORIES.filter((category) => category !== 'chat' && category !== 'audio');

/** The public metadata of a model (spec: Model object). */
function metadata(model: CatalogueModel): object {
  return {
    category: model.category,
    pricing_unit: model.kind === 'chat' ? 'token' : model.price.unit,
    public_contract_summary: model.kind === 'generation' ? contractSummary(model) : null,
    agent_preferences: {},
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

function modelDetail(model: CatalogueModel): object {
  const { price, pricing_provenance } = model.declaration;
  return modelObject(model, {
    ...metadata(model),
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
export function listModels(deps: InferenceRouteDeps): Handler {
  return async ({ request }) => {
    const key = await deps.keys.authenticate(request, true);
    await deps.rateLimit.consume(key);
    const query = new URL(request.url).searchParams;
    const category = oneOf(query, 'category', CATEGORIES);
    oneOf(query, 'recommended_for', SCENES);
    const data = deps
      .catalogue()
      .all()
      .filter((model) => category === null || model.category === category)
      .map((model) => modelObject(model, metadata(model)));
    return json({
      object: 'list',
      data,
      has_more: false,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  };
}

/** A query parameter with a fixed set of values; null = not given. */
function oneOf(query: URLSearchParams, name: string, values: readonly string[]): string | null {
  const value = query.get(name);
  if (value === null || values.includes(value)) return value;
  throw new WeirError('invalid_request', `${name} must be one of ${values.join(', ')}.`, {
    param: name,
  });
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
