import type { ProtocolName } from '../upstreams/contract.ts';
import { type TokenPrice, tokenPrice } from './price.ts';
import type { Category, ModelDeclaration } from './schema.ts';

/** A public model: what clients name, what it costs and which protocol its family speaks. */
export interface CatalogueModel {
  readonly id: string;
  readonly category: Category;
  readonly owned_by: string;
  readonly family: ModelDeclaration['family'];
  readonly created: number;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly aliases: readonly string[];
  readonly price: TokenPrice;
  readonly declaration: ModelDeclaration;
  readonly protocol: ProtocolName;
}

/** Where a declaration says nothing. */
const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;

const PROTOCOLS: Record<ModelDeclaration['family'], ProtocolName> = {
  'openai-chat': 'openai',
  'anthropic-messages': 'anthropic',
};

function modelOf(declaration: ModelDeclaration): CatalogueModel {
  return {
    id: declaration.id,
    category: declaration.category,
    owned_by: declaration.owned_by,
    family: declaration.family,
    created: declaration.created ?? 0,
    context_window: declaration.context_window ?? DEFAULT_CONTEXT_WINDOW,
    max_output_tokens: declaration.max_output_tokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    aliases: declaration.aliases ?? [],
    price: tokenPrice(declaration.price),
    declaration,
    protocol: PROTOCOLS[declaration.family],
  };
}

/** True if an allow-list of public names (empty = every model) has the model, by its id or an alias. */
export function isAllowed(
  names: readonly string[],
  model: Pick<CatalogueModel, 'id' | 'aliases'>,
): boolean {
  if (names.length === 0 || names.includes(model.id)) return true;
  return model.aliases.some((alias) => names.includes(alias));
}

/** The models of this installation. Immutable: a changed configuration is a new catalogue. */
export class Catalogue {
  private readonly models: readonly CatalogueModel[];
  private readonly byName = new Map<string, CatalogueModel>();

  /** Later declarations override earlier ones of the same id. */
  constructor(declarations: readonly ModelDeclaration[]) {
    const byId = new Map(declarations.map((each) => [each.id, modelOf(each)]));
    this.models = [...byId.values()];
    for (const model of this.models) {
      for (const alias of model.aliases) this.byName.set(alias, model);
    }
    for (const model of this.models) this.byName.set(model.id, model);
  }

  /** By id or alias. */
  find(name: string): CatalogueModel | undefined {
    return this.byName.get(name);
  }

  all(): readonly CatalogueModel[] {
    return this.models;
  }
}
