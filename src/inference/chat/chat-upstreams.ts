import type { ChannelActor, ChannelPermit } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import { isChatProtocol } from '../../protocols/names.ts';
import { protocolFor } from '../../upstreams/chat/protocols.ts';
import type { UpstreamAnswer, UpstreamProtocol } from '../../upstreams/contract.ts';
import { type InferenceCall, upstreamCall } from '../call.ts';
import { channelsFor } from '../routing/able-channels.ts';
import { withHedge } from '../routing/hedge.ts';
import { unableError } from '../routing/own-first.ts';
import { type Attempt, type Served, withFailover } from '../routing/route.ts';
import { openStream } from '../streaming/open-stream.ts';
import { StopSignal } from '../streaming/stop-signal.ts';
import type { OpenStream } from '../streaming/stream-parts.ts';
import type { AdmittedChat } from './admitted-chat.ts';

/** What routing needs. */
export interface ChatUpstreamsDeps {
  readonly channels: Channels;
  readonly now: () => number;
  readonly random: () => number;
}

/** Asks the channels of a model, or own keys, for the answers of chat calls. */
export class ChatUpstreams {
  constructor(private readonly deps: ChatUpstreamsDeps) {}

  /** Gets a whole answer from the first channel that serves the call. */
  complete(admitted: AdmittedChat): Promise<Served<UpstreamAnswer>> {
    const { call, signal: call_signal, max_output_tokens } = admitted;
    return this.callChannels(
      admitted,
      (permit, protocol, hedge_signal) => {
        const signal = hedge_signal ? new StopSignal(call_signal, hedge_signal) : call_signal;
        return protocol.complete(upstreamCall(call, permit.channel, signal, max_output_tokens));
      },
      (loser) => loser.permit.succeeded(),
    );
  }

  /** Opens a stream on the first channel that serves the call, up to its first tokens. */
  startStream(admitted: AdmittedChat): Promise<Served<OpenStream>> {
    const { call, signal, max_output_tokens } = admitted;
    return this.callChannels(
      admitted,
      (permit, protocol, hedge_signal) =>
        openStream(call, permit, protocol, max_output_tokens, signal, hedge_signal),
      (loser) => {
        loser.result.stop.abort();
        loser.permit.succeeded();
      },
    );
  }

  /**
   * Runs `attempt` on the model's channels, with failover. If the model declares `hedge`, a slow
   * attempt gets a second attempt beside it (see `withHedge`). `discard` receives the result of a
   * canceled attempt that succeeded too late.
   */
  private callChannels<Result>(
    { call, signal }: AdmittedChat,
    attempt: (
      permit: ChannelPermit,
      protocol: UpstreamProtocol,
      hedge_signal?: AbortSignal,
    ) => Promise<Result>,
    discard: (served: Served<Result>) => void,
  ): Promise<Served<Result>> {
    const { policy, hedge } = call.model.declaration.routing ?? {};
    const { now, random } = this.deps;
    const options = { now, random, policy, signal, record: call.record };
    const onChannel: Attempt<Result> = (permit, hedge_signal) => {
      const { protocol } = permit.channel.config;
      if (!isChatProtocol(protocol)) throw new Error(`${protocol} is not a chat protocol`);
      return attempt(permit, protocolFor(call.protocol, protocol), hedge_signal);
    };
    const channels = this.channelsOf(call);
    // The organization would pay its provider for both attempts.
    if (hedge && !call.own) return withHedge(channels, options, onChannel, discard);
    return withFailover(channels, options, onChannel);
  }

  /** Returns the channels that can express the call: those of own keys, or the platform's. */
  private channelsOf(call: InferenceCall): readonly ChannelActor[] {
    if (!call.own) return channelsFor(this.deps.channels.serving(call.model.id), call);
    try {
      return channelsFor(call.own.channels, call);
    } catch (error) {
      throw unableError(error);
    }
  }
}
