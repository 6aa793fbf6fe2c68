import type { ClientProtocol } from '../protocols/names.ts';
import type { GenerationContract } from './contracts/contract.ts';
import { type DirectContract, directContract } from './contracts/direct.ts';
import { contractOf, offersOf } from './contracts/families.ts';
import { type DirectPrice, directPrice } from './direct-price.ts';
import {
  type ChatFamily,
  DIRECT_OPERATIONS,
  type DirectFamily,
  type DirectOperation,
  type GenerationFamily,
  isChatFamily,
  isDirectFamily,
  PROVIDER_PROTOCOLS,
  sceneOf,
} from './families.ts';
import { type GenerationPrice, generationPrice } from './generation-price.ts';
import type { GenerationScene } from './inputs.ts';
import { type TokenPrice, tokenPrice } from './price.ts';
import type { Category, ModelDeclaration, Offers } from './schema.ts';

interface PublicModel {
  readonly id: string;
  readonly category: Category;
  readonly owned_by: string;
  /** When the provider published the model, or when it entered the catalogue; Unix seconds. */
  readonly created: number;
  readonly aliases: readonly string[];
  readonly declaration: ModelDeclaration;
}

/** A chat model. */
export interface ChatModel extends PublicModel {
  readonly kind: 'chat';
  readonly family: ChatFamily;
  /** Size of the context window, tokens. */
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly price: TokenPrice;
  /** The protocol that the model's provider uses. */
  readonly protocol: ClientProtocol;
}

/** A model that makes images, videos, music, 3D objects or sounds. */
export interface GenerationModel extends PublicModel {
  readonly kind: 'generation';
  readonly family: GenerationFamily;
  readonly scene: GenerationScene;
  readonly price: GenerationPrice;
  /**
   * What the model accepts and produces, e.g. sizes and durations. If the model's declaration
   * leaves out a member, the member has the family's value.
   */
  readonly offers: Offers;
  readonly contract: GenerationContract;
  /** True if every call returns a pending task at once, even without `async`. */
  readonly by_task: boolean;
  /** A generation fails if it takes longer than this. */
  readonly deadline_ms: number;
}

/** A model for embeddings, speech, transcription, rerank or translation. */
export interface DirectModel extends PublicModel {
  readonly kind: 'direct';
  readonly family: DirectFamily;
  readonly operation: DirectOperation;
  readonly contract: DirectContract;
  /** The most output tokens. Only used if the model is priced by tokens. */
  readonly max_output_tokens: number;
  readonly price: DirectPrice;
}

/** A public model: its names, limits, contract and price. */
export type CatalogueModel = ChatModel | DirectModel | GenerationModel;

/** This and the next two values apply if a declaration has no value of its own. */
const DEFAULT_CONTEXT_WINDOW = 128_000;
const DEFAULT_MAX_OUTPUT_TOKENS = 16_384;
const DEFAULT_DEADLINE_S: Record<GenerationScene, number> = {
  image: 10 * 60,
  video: 30 * 60,
  music: 15 * 60,
  '3d': 15 * 60,
  audio: 10 * 60,
};

function modelOf(declaration: ModelDeclaration): CatalogueModel {
  const { family } = declaration;
  const common = {
    id: declaration.id,
    category: declaration.category,
    owned_by: declaration.owned_by,
    created: declaration.created ?? 0,
    aliases: declaration.aliases ?? [],
    declaration,
  };
  if (isDirectFamily(family)) {
    const operation = DIRECT_OPERATIONS[family];
    const price = directPrice(operation, declaration.price);
    const max_output_tokens = declaration.max_output_tokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
    const contract = directContract(family, declaration);
    return { ...common, kind: 'direct', family, operation, contract, price, max_output_tokens };
  }
  if (!isChatFamily(family)) return { ...common, ...generationModel(family, declaration) };
  return {
    ...common,
    kind: 'chat',
    family,
    context_window: declaration.context_window ?? DEFAULT_CONTEXT_WINDOW,
    max_output_tokens: declaration.max_output_tokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
    price: tokenPrice(declaration.price),
    protocol: PROVIDER_PROTOCOLS[family],
  };
}

function generationModel(family: GenerationFamily, declaration: ModelDeclaration) {
  const scene = sceneOf(family) ?? 'image';
  const offers = offersOf(family, declaration.offers);
  return {
    kind: 'generation' as const,
    family,
    scene,
    offers,
    price: generationPrice(declaration.price),
    contract: contractOf(family, declaration.id, offers),
    by_task: offers.by_task ?? scene !== 'image',
    deadline_ms: (offers.deadline_s ?? DEFAULT_DEADLINE_S[scene]) * 1_000,
  };
}

/**
 * True if the allow-list `names` has the model's id or one of its aliases. An empty list allows
 * every model.
 */
export function isAllowed(
  names: readonly string[],
  model: Pick<CatalogueModel, 'id' | 'aliases'>,
): boolean {
  if (names.length === 0 || names.includes(model.id)) return true;
  return model.aliases.some((alias) => names.includes(alias));
}

/**
 * Returns the public models, with those that only own keys of the organization serve. Without an
 * organization, only the public ones.
 */
export type CatalogueFor = (organization_id?: string) => Catalogue;

/**
 * The models of this installation. A catalogue never changes: a changed configuration creates a new
 * catalogue.
 */
export class Catalogue {
  private models: readonly CatalogueModel[];
  private readonly byName = new Map<string, CatalogueModel>();

  /**
   * If an id is declared twice, the later declaration overrides the earlier one. For each scene,
   * `defaults` holds the model that a create call without `model` gets.
   */
  constructor(
    declarations: readonly ModelDeclaration[],
    readonly defaults: Readonly<Partial<Record<GenerationScene, string>>> = {},
  ) {
    const by_id = new Map(
      declarations.map((declaration) => [declaration.id, modelOf(declaration)]),
    );
    this.models = [...by_id.values()];
    for (const model of this.models) {
      for (const alias of model.aliases) this.byName.set(alias, model);
    }
    for (const model of this.models) this.byName.set(model.id, model);
  }

  /** Returns a catalogue that has these models, too. A name of this catalogue keeps its model. */
  with(more: readonly CatalogueModel[]): Catalogue {
    const extended = new Catalogue([], this.defaults);
    extended.models = [...this.models, ...more];
    for (const model of more) {
      for (const alias of model.aliases) extended.byName.set(alias, model);
    }
    for (const model of more) extended.byName.set(model.id, model);
    for (const [name, model] of this.byName) extended.byName.set(name, model);
    return extended;
  }

  /** The model with this id or alias; undefined if there is none. */
  find(name: string): CatalogueModel | undefined {
    return this.byName.get(name);
  }

  /** Every model once, in the order of their declarations. */
  all(): readonly CatalogueModel[] {
    return this.models;
  }
}
