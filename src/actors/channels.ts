import type { ChannelConfig } from '../upstreams/contract.ts';
import {
  ChannelAccount,
  ChannelActor,
  type ChannelState,
  type ChannelTransition,
  type OnOutcome,
} from './channel.ts';
import type { Clock } from './clock.ts';

/** The channel actors of this replica: one for each model of each channel. */
export class Channels {
  private readonly byModel = new Map<string, ChannelActor[]>();
  private readonly accounts = new Map<string, ChannelAccount>();
  readonly all: readonly ChannelActor[];

  constructor(
    configs: readonly ChannelConfig[],
    clock: Clock,
    onTransition?: (transition: ChannelTransition) => void,
    onOutcome?: OnOutcome,
  ) {
    this.all = configs.flatMap((config) => {
      const account = new ChannelAccount();
      this.accounts.set(config.id, account);
      return Object.keys(config.models).map((model) => {
        const actor = new ChannelActor(config, clock, onTransition, onOutcome, model, account);
        this.byModel.set(model, [...(this.byModel.get(model) ?? []), actor]);
        return actor;
      });
    });
  }

  /** A model on every channel that serves it, whatever its state. */
  serving(modelId: string): readonly ChannelActor[] {
    return this.byModel.get(modelId) ?? [];
  }

  /** A model on one channel; undefined if that does not serve it, or not any more. */
  find(channelId: string | null, modelId: string): ChannelActor | undefined {
    return this.serving(modelId).find(({ config }) => config.id === channelId);
  }

  /** The verdict on each channel, derived from its models; for the operator. */
  verdicts(): ReadonlyMap<string, ChannelState> {
    return new Map([...this.accounts].map(([id, account]) => [id, account.state]));
  }

  /** True if a call of the model would find a channel now (P13). */
  canServe(modelId: string): boolean {
    return this.serving(modelId).some((channel) => channel.canTake());
  }
}
