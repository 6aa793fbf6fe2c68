import type { ChannelActor } from '../../actors/channels/channel.ts';
import { abilitiesOn } from '../../catalogue/abilities.ts';
import type { WeirError } from '../../errors/weir-error.ts';
import { isChatProtocol } from '../../protocols/names.ts';
import { bedrockRefusal } from '../../upstreams/chat/bedrock-limits.ts';
import { requestProtocolOf } from '../../upstreams/chat/protocols.ts';
import { beyondModel } from '../../upstreams/translation/abilities.ts';
import type { ReadRequest } from '../../upstreams/translation/neutral.ts';
import { readRequest, untranslatableError } from '../../upstreams/translation/translate.ts';
import type { InferenceCall } from '../call.ts';

/**
 * Returns those of a model's channels that can express every parameter of the call. If the model has
 * chat channels, but none of them can, throws WeirError (400) that names the parameter.
 */
export function channelsFor(
  serving: readonly ChannelActor[],
  call: InferenceCall,
): readonly ChannelActor[] {
  for (const channel of serving) {
    const { protocol } = channel.config;
    // Bedrock speaks the client's own protocol, but not all of it.
    if (protocol === 'bedrock' || !isNative(channel, call))
      return channelsThatExpress(serving, call);
  }
  return serving;
}

/**
 * Returns the channels that cannot express a parameter of the call, each with the error that names the
 * parameter; null for a channel whose protocol is not for chat.
 */
export function unableChannels(
  serving: readonly ChannelActor[],
  call: InferenceCall,
): ReadonlyMap<ChannelActor, WeirError | null> {
  const refusalOf = refusals(call);
  const unable = new Map<ChannelActor, WeirError | null>();
  for (const channel of serving) {
    const refusal = refusalOf(channel);
    if (refusal !== undefined) unable.set(channel, refusal);
  }
  return unable;
}

/** True if the channel's upstream reads the body in the client's own protocol. */
function isNative({ config }: ChannelActor, call: InferenceCall): boolean {
  return isChatProtocol(config.protocol) && requestProtocolOf(config.protocol) === call.protocol;
}

/**
 * Returns the channels whose protocol can express every parameter of the call. If there is no such
 * channel, throws the error of the first channel, which names the parameter.
 */
function channelsThatExpress(
  serving: readonly ChannelActor[],
  call: InferenceCall,
): readonly ChannelActor[] {
  const refusalOf = refusals(call);
  let refusal: WeirError | undefined;
  const able = serving.filter((channel) => {
    const error = refusalOf(channel);
    refusal ??= error ?? undefined;
    return error === undefined;
  });
  if (able.length === 0 && refusal) throw refusal;
  return able;
}

/**
 * Returns the function that tells why a channel cannot express a call: the error that names the
 * parameter, null if its protocol is not for chat, and undefined if it can.
 */
function refusals(call: InferenceCall): (channel: ChannelActor) => WeirError | null | undefined {
  let read: ReadRequest | undefined;
  const readCall = () => {
    read ??= readRequest(call.protocol, call.body);
    return read;
  };
  const uses = () => readCall().uses;
  return (channel) => {
    const { protocol, models } = channel.config;
    if (!isChatProtocol(protocol)) return null;
    const abilities = abilitiesOn(call.model.declaration.abilities, protocol);
    let error = isNative(channel, call)
      ? undefined
      : (untranslatableError(uses(), requestProtocolOf(protocol)) ??
        beyondModel(readCall(), abilities));
    if (protocol === 'bedrock') {
      const physical_model = models[call.model.id] ?? call.model.id;
      const model = { physical_model, public_model: call.model.id, abilities };
      error ??= bedrockRefusal({ client: call.protocol, body: call.body }, model, uses);
    }
    return error;
  };
}
