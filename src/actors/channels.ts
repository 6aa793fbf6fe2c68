import type { ChannelConfig } from '../upstreams/contract.ts';
import { ChannelActor, type ChannelTransition, type OnOutcome } from './channel.ts';
import type { Clock } from './clock.ts';

/** The channel actors of this replica. */
export class Channels {
  private readonly byModel = new Map<string, ChannelActor[]>();
  readonly all: readonly ChannelActor[];

  constructor(
    configs: readonly ChannelConfig[],
    clock: Clock,
    onTransition?: (transition: ChannelTransition) => void,
    onOutcome?: OnOutcome,
  ) {
    this.all = configs.map((config) => new ChannelActor(config, clock, onTransition, onOutcome));
    for (const channel of this.all) {
      for (const model of Object.keys(channel.config.models)) {
        const serving = this.byModel.get(model) ?? [];
        serving.push(channel);
        this.byModel.set(model, serving);
      }
    }
  }

  /** Every channel that serves a public model, whatever its state. */
  serving(modelId: string): readonly ChannelActor[] {
    return this.byModel.get(modelId) ?? [];
  }

  /** True if a call of the model would find a channel now (P13). */
  canServe(modelId: string): boolean {
    return this.serving(modelId).some((channel) => channel.canTake());
  }
}
