import type { Availability } from '../../actors/channels/availability.ts';
import type { RankingSnapshot } from '../../actors/channels/ranking.ts';
import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import {
  operationsOf,
  pricingUnit,
  provenance,
  publicAbilities,
  publicContract,
  rankOf,
} from '../models/view.ts';

/** A model of a list. Prices are in USD, limits in tokens; null means that there is none. */
export function modelSummary(
  model: CatalogueModel,
  status: Availability,
  snapshot: RankingSnapshot | undefined,
) {
  const { price, pricing_provenance, capabilities = [] } = model.declaration;
  return {
    object: 'model' as const,
    id: model.id,
    category: model.category,
    owned_by: model.owned_by,
    aliases: model.aliases,
    created_at: new Date(model.created * 1_000).toISOString(),
    status,
    operations: operationsOf(model),
    capabilities: model.kind === 'chat' ? ['tools', ...capabilities] : [],
    max_input_tokens: model.kind === 'chat' ? model.context_window : null,
    max_output_tokens: model.kind === 'chat' ? model.max_output_tokens : null,
    pricing_unit: pricingUnit(model),
    pricing: price,
    pricing_provenance: pricing_provenance ? provenance(pricing_provenance) : null,
    rank: rankOf(model, snapshot) ?? null,
  };
}

/** A model with its contract: the parameters as JSON Schema, or what a chat model takes. */
export function modelRecord(model: CatalogueModel, summary: ReturnType<typeof modelSummary>) {
  return {
    ...summary,
    contract: publicContract(model),
    abilities: publicAbilities(model.declaration.abilities),
    answers: answersOf(model),
  };
}

/** Returns how a model answers: at once (`inline`), or with a task that the client follows. */
function answersOf(model: CatalogueModel): readonly ('inline' | 'task')[] {
  if (model.kind !== 'generation') return ['inline'];
  if (model.by_task) return ['task'];
  return model.offers.async ? ['inline', 'task'] : ['inline'];
}
