import type { Catalogue } from '../../catalogue/catalogue.ts';
import { FAMILY_PROTOCOLS } from '../../catalogue/families.ts';
import { matchProviderModels, type ProvidedModel } from '../../catalogue/provider-models.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import {
  listProviderModels,
  type ProviderAccount,
  probeChatKey,
} from '../../upstreams/direct/model-lists.ts';
import { ProviderRefusal } from '../../upstreams/direct/provider-refusal.ts';

/** The protocols of channels that operators can make, each with the vendor's address. */
export const VENDOR_ADDRESSES = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  'openai-images': 'https://api.openai.com/v1',
  veo: 'https://generativelanguage.googleapis.com/v1beta',
} as const satisfies Partial<Record<ChannelProtocol, string>>;

/** The name in the probe of a provider whose models are not known. */
const NO_MODEL = 'weir-key-test';

/** A protocol of channels that operators can make. */
export type OperatedProtocol = keyof typeof VENDOR_ADDRESSES;
export const OPERATED_PROTOCOLS = Object.keys(VENDOR_ADDRESSES) as OperatedProtocol[];

/** The protocols that one address and key may serve. */
const SIBLINGS: readonly (readonly OperatedProtocol[])[] = [
  ['openai', 'openai-images'],
  ['gemini', 'veo'],
  ['anthropic'],
];

/** A model that an account brings. */
export interface AccountModel extends ProvidedModel {
  /**
   * The protocol of the channel that can serve the model: the one that was asked for, if it can. Null
   * if operators can make no channel for this model at this address.
   */
  readonly protocol: OperatedProtocol | null;
}

/** What is known of an account at a provider. */
export interface InspectedAccount {
  /** False if the provider has no list of models. Then `models` is empty. */
  readonly lists_models: boolean;
  /** False if the provider answered without looking at the key, as far as Weir can tell. */
  readonly is_key_tested: boolean;
  readonly models: readonly AccountModel[];
  /** The provider's names that fit no model of the catalogue. */
  readonly unknown_models: readonly string[];
}

/**
 * Tests the key of an account, and finds the models of `catalogue` that it brings. Sends at most twelve
 * requests, which cost nothing. Throws ProviderRefusal if the key is refused, or if no provider of this
 * protocol answers at the address.
 */
export async function inspectAccount(
  account: ProviderAccount & { readonly protocol: OperatedProtocol },
  catalogue: Catalogue,
): Promise<InspectedAccount> {
  const listed = await listProviderModels(account);
  const { provided, unknown } = matchProviderModels(listed ?? [], catalogue);
  const models = provided.map((each) => ({
    ...each,
    protocol: protocolOf(each.model.family, account.protocol),
  }));
  const model = models.find(({ protocol }) => protocol === account.protocol)?.upstream_model;
  return {
    lists_models: listed !== undefined,
    is_key_tested: await isKeyTested(account, listed, model ?? listed?.[0] ?? NO_MODEL),
    ...{ models, unknown_models: unknown },
  };
}

function protocolOf(
  family: keyof typeof FAMILY_PROTOCOLS,
  asked: OperatedProtocol,
): OperatedProtocol | null {
  const siblings = SIBLINGS.find((protocols) => protocols.includes(asked)) ?? [];
  return (
    [asked, ...siblings].find((protocol) => FAMILY_PROTOCOLS[family].includes(protocol)) ?? null
  );
}

/** Tests the key with a call, unless the list of models already proves it. Throws ProviderRefusal. */
async function isKeyTested(
  account: ProviderAccount & { readonly protocol: OperatedProtocol },
  listed: readonly string[] | undefined,
  model: string,
): Promise<boolean> {
  // The vendors' own lists need a key.
  if (listed && account.base_url === VENDOR_ADDRESSES[account.protocol]) return true;
  try {
    const isTested = await probeChatKey(account, model);
    if (listed) return isTested ?? true;
    if (isTested) return true;
  } catch (error) {
    if (!listed || !(error instanceof ProviderRefusal) || error.fault === 'account') throw error;
    // The list works, so the provider's failure proves nothing about the key.
    return false;
  }
  throw new ProviderRefusal('broken', 'The address has no list of models and no chat route.', 404);
}
