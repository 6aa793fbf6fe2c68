import type { RankingSnapshot } from '../../actors/channels/ranking.ts';
import type { Abilities } from '../../catalogue/abilities.ts';
import type {
  CatalogueModel,
  ChatModel,
  DirectModel,
  GenerationModel,
} from '../../catalogue/catalogue.ts';
import { RANKED_SCENES } from '../../catalogue/ranking.ts';
import { CAPABILITIES } from '../../catalogue/schema.ts';

/**
 * Where the success rate comes from: outcomes of Weir's calls in 24 hours (spec: Model object,
 * `basis`).
 */
const SCORE_SOURCE = 'gateway_outcomes_24h';

/** The public metadata of a model (spec: Model object). */
export function metadata(model: CatalogueModel, snapshot: RankingSnapshot | undefined): object {
  return {
    category: model.category,
    pricing_unit: pricingUnit(model),
    public_contract_summary: contractSummary(model),
    agent_preferences: agentPreferences(model, snapshot),
  };
}

const DIRECT_UNITS: Record<DirectModel['price'][0]['unit'], string> = {
  input_tokens: 'token',
  output_tokens: 'token',
  seconds: 'second',
  characters: 'character',
  requests: 'request',
};

/** Returns the unit of the model's price (spec: `pricing_unit`). */
export function pricingUnit(model: CatalogueModel): string {
  if (model.kind === 'chat') return 'token';
  return model.kind === 'direct' ? DIRECT_UNITS[model.price[0].unit] : model.price.unit;
}

/**
 * Returns the place of a model in the ranking of its scene (what the model makes, e.g. `image`), from
 * 1, and the outcomes behind it. Returns undefined for a model without a rank.
 */
export function rankOf({ id, category }: CatalogueModel, snapshot: RankingSnapshot | undefined) {
  const scene = RANKED_SCENES.find((each) => each === category);
  const ranked = (scene && snapshot?.ranking[scene]) ?? [];
  const index = ranked.findIndex(({ model }) => model === id);
  const entry = ranked[index];
  if (!snapshot || !entry || !scene) return undefined;
  return {
    scene,
    place: index + 1,
    of: ranked.length,
    success_rate_24h: entry.success_rate,
    sample_count_24h: entry.samples,
    status: entry.ready ? ('ready' as const) : ('insufficient_samples' as const),
    updated_at: snapshot.updated_at.toISOString(),
  };
}

/**
 * Returns the rank of a model by its scene (spec: `agent_preferences`). Returns an empty object for a
 * model without a rank. Channel and physical model are null, because they are secret (P5).
 */
function agentPreferences(model: CatalogueModel, snapshot: RankingSnapshot | undefined) {
  const rank = rankOf(model, snapshot);
  if (!rank) return {};
  const { scene, place, of: _, updated_at, ...outcomes } = rank;
  return {
    [scene]: {
      preferred_rank: place,
      ...outcomes,
      updated_at,
      basis: { score_source: SCORE_SOURCE, channel_id: null, physical_model: null },
    },
  };
}

/**
 * Returns the summary of a model's contract: how the model answers, its operations and its
 * parameters. Returns null for chat models, because their protocol is their contract (spec: Model
 * object).
 */
function contractSummary(model: CatalogueModel): object | null {
  if (model.kind === 'chat') return null;
  const { category, family } = model;
  const common = { category, family };
  if (model.kind === 'direct') {
    const { schema, operations } = model.contract;
    const parameters = Object.keys(schema.properties);
    return { ...common, answers: ['inline'], supported_operations: operations, parameters };
  }
  const { scene, by_task, offers } = model;
  return {
    ...common,
    scene,
    answers: by_task ? ['task'] : offers.async ? ['inline', 'task'] : ['inline'],
    supported_operations: generationOperations(model),
    parameters: Object.keys(generationProperties(model)),
  };
}

/** Returns the operations of a model: only those that the model accepts. */
function generationOperations({ scene, contract, offers }: GenerationModel): readonly string[] {
  const takesImages = 'image' in contract.schema.properties;
  switch (scene) {
    case 'video':
      return contract.operations;
    case 'image':
      return takesImages ? ['text-to-image', 'image-to-image'] : ['text-to-image'];
    case 'music':
      return (offers.actions ?? ['MUSIC']).map((each) =>
        each === 'LYRICS' ? 'text-to-lyrics' : 'text-to-music',
      );
    case '3d':
      return offers.prompt_optional ? ['image-to-3d'] : ['text-to-3d', 'image-to-3d'];
    case 'audio':
      return ['text-to-audio'];
    default:
      return scene satisfies never;
  }
}

/**
 * Returns the model object, with the members that the SDKs of OpenAI and Anthropic read (spec:
 * Model object). `weir` holds Weir's own members. Limits are in tokens. A limit is null if the
 * model has none.
 */
export function modelObject(model: CatalogueModel, weir: object) {
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

/** Returns the operations of any model, e.g. `text-to-video`. */
export function operationsOf(model: CatalogueModel): readonly string[] {
  if (model.kind === 'chat') return ['chat'];
  return model.kind === 'direct' ? model.contract.operations : generationOperations(model);
}

/** Returns the parameters of a model as JSON Schema, with its rules; null for a chat model. */
export function publicContract(model: CatalogueModel): PublicContract | null {
  if (model.kind === 'chat') return null;
  return model.kind === 'direct' ? directContract(model) : generationContract(model);
}

/** The parameters of a model as JSON Schema, and the rules that a schema cannot express. */
interface PublicContract {
  readonly title: string;
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[] | undefined;
  readonly rules: readonly string[];
}

/** The model object with price, contract and capabilities (spec: Model object). */
export function modelDetail(model: CatalogueModel, snapshot: RankingSnapshot | undefined): object {
  return modelObject(model, {
    ...metadata(model, snapshot),
    ...pricesOf(model),
    ...DETAILS[model.kind](model as never),
  });
}

/** Returns the price of a model, its unit, and where the price comes from. */
export function pricesOf(model: CatalogueModel) {
  const { price, pricing_provenance } = model.declaration;
  return {
    pricing_unit: pricingUnit(model),
    pricing: price,
    pricing_provenance: pricing_provenance ? provenance(pricing_provenance) : null,
  };
}

/** The public part of a price's source. Its note is for operators only. */
export function provenance({ source, date }: { source: string; date: string }) {
  return { source, date };
}

/** The parameter `webhook_url`, which every generation route has. */
const WEBHOOK_URL = {
  type: 'string',
  format: 'uri',
  description: 'Weir sends a webhook to this URL when the task has ended.',
};

/** The members that only the detail of a model has, by kind of model. */
const DETAILS: {
  [Kind in CatalogueModel['kind']]: (model: Extract<CatalogueModel, { kind: Kind }>) => object;
} = { chat: chatDetail, direct: directDetail, generation: generationDetail };

function chatDetail({ declaration }: ChatModel): object {
  const has = (capability: (typeof CAPABILITIES)[number]) =>
    declaration.capabilities?.includes(capability) === true;
  return {
    supported_operations: ['chat'],
    capability_flags: {
      ...{ streaming: true, tools: true },
      ...Object.fromEntries(CAPABILITIES.map((each) => [each, has(each)])),
    },
    abilities: publicAbilities(declaration.abilities),
  };
}

/**
 * What a model takes of a translated request. The source, and what differs on the protocols of
 * channels, are for operators only.
 */
export function publicAbilities(abilities: Abilities | undefined) {
  if (!abilities) return null;
  const { provenance: _, on: __, ...taken } = abilities;
  return taken;
}

function directDetail(model: DirectModel): object {
  const { operations, batch, streams } = model.contract;
  return {
    supported_operations: operations,
    capability_flags: { inline: true, async: false, streaming: streams, batch_input: batch },
    public_contract: directContract(model),
  };
}

function directContract({ id, contract: { schema, rules } }: DirectModel): PublicContract {
  return {
    title: id,
    ...schema,
    properties: { ...schema.properties, model: { type: 'string', const: id } },
    rules,
  };
}

function generationDetail(model: GenerationModel): object {
  const { by_task, offers } = model;
  return {
    supported_operations: generationOperations(model),
    capability_flags: {
      inline: !by_task,
      async: by_task || offers.async === true,
      inline_inputs: offers.inline_inputs === true,
    },
    public_contract: generationContract(model),
  };
}

function generationContract(model: GenerationModel): PublicContract {
  const { id, contract } = model;
  return {
    title: id,
    ...contract.schema,
    properties: generationProperties(model),
    rules: contract.rules,
  };
}

function generationProperties({ id, contract }: GenerationModel): Readonly<Record<string, object>> {
  return {
    model: { type: 'string', const: id },
    ...contract.schema.properties,
    webhook_url: WEBHOOK_URL,
  };
}
