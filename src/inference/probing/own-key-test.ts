import { ChannelAccount } from '../../actors/channels/account.ts';
import { ChannelActor } from '../../actors/channels/channel.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
import { ProviderRefusal } from '../../upstreams/direct/provider-refusal.ts';
import { type InspectedAccount, inspectAccount, OPERATED_PROTOCOLS } from './account.ts';
import { probe } from './probe.ts';

/** What a test of an own key found. */
export interface TestedOwnKey {
  /** False if the provider answered without looking at the key, as far as Weir can tell. */
  readonly key_tested: boolean;
  /** The models that the account lists. Undefined if the protocol has no list that Weir reads. */
  readonly listed?: InspectedAccount;
}

/** The same text for each reason, so that a test tells nothing about hosts inside of a network. */
const NO_CONNECTION = 'Weir cannot connect to the address.';

/**
 * Tests an own key at its provider. Without a list of models, it sends the cheapest call of the first
 * model, which the account pays; if the model has none, it only checks that the address answers. Throws
 * ProviderRefusal if the key is refused, or if no provider answers.
 */
export async function testOwnKey(
  channel: ChannelConfig,
  catalogue: Catalogue,
  clock: Clock,
): Promise<TestedOwnKey> {
  const protocol = OPERATED_PROTOCOLS.find((name) => name === channel.protocol);
  try {
    if (protocol === undefined) return { key_tested: await callOnce(channel, catalogue, clock) };
    const { base_url, api_key } = channel;
    const account = { protocol, base_url, api_key, transport: 'guarded' as const };
    const listed = await inspectAccount(account, catalogue);
    return { key_tested: listed.is_key_tested, listed };
  } catch (error) {
    if (!(error instanceof ProviderRefusal) || error.failure !== 'connection') throw error;
    throw new ProviderRefusal(error.fault, NO_CONNECTION, error.status, error.failure);
  }
}

/** Returns true if a call proved the key. */
async function callOnce(
  channel: ChannelConfig,
  catalogue: Catalogue,
  clock: Clock,
): Promise<boolean> {
  const [model = ''] = Object.keys(channel.models);
  const actor = new ChannelActor(model, new ChannelAccount<ChannelActor>(channel), clock);
  const result = await probe(actor, catalogue.find(model), clock.now);
  if (result.ok) return result.kind === 'call';
  const { fault = 'broken', message = '', failure } = result;
  const isLost = failure === 'connection' || failure === 'timeout';
  throw new ProviderRefusal(
    ...([fault === 'caller' ? 'unclear' : fault, message, 0] as const),
    isLost ? failure : undefined,
  );
}
