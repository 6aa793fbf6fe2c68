import type { ChannelConfig } from '../../upstreams/contract.ts';
import type { Clock } from '../clock.ts';
import { ChannelAccount, type ChannelSwitch, type ChannelVerdict } from './account.ts';
import { ChannelActor, type ChannelTransition, type OnOutcome, type PeerHint } from './channel.ts';

/** More channels than a file has; the oldest is forgotten first. */
const MAX_RETIRED = 1_000;

/** The channel actors of this replica: one for each model of each channel. */
export class Channels {
  private byModel = new Map<string, ChannelActor[]>();
  private readonly accounts = new Map<string, ChannelAccount<ChannelActor>>();
  /** Channels that are in the file no more: what they began may still end. */
  private readonly retired = new Map<string, ChannelAccount<ChannelActor>>();
  private switches: ReadonlyMap<string, ChannelSwitch> = new Map();

  constructor(
    configs: readonly ChannelConfig[],
    private readonly clock: Clock,
    private readonly onTransition?: (transition: ChannelTransition) => void,
    private readonly onOutcome?: OnOutcome,
  ) {
    this.configure(configs);
  }

  /**
   * What the file says now. What is known of a channel stays known unless it is another account; calls
   * under way end as they began.
   */
  configure(configs: readonly ChannelConfig[]): void {
    const named = new Set(configs.map(({ id }) => id));
    for (const [id, account] of this.accounts) {
      if (named.has(id)) continue;
      this.accounts.delete(id);
      this.retired.set(id, account);
      const [oldest = ''] = this.retired.keys();
      if (this.retired.size > MAX_RETIRED) this.retired.delete(oldest);
    }
    const byModel = new Map<string, ChannelActor[]>();
    for (const config of configs) {
      for (const actor of this.accountOf(config).actors) {
        byModel.set(actor.model, [...(byModel.get(actor.model) ?? []), actor]);
      }
    }
    this.byModel = byModel;
  }

  private accountOf(config: ChannelConfig): ChannelAccount<ChannelActor> {
    let account = this.accounts.get(config.id) ?? this.retired.get(config.id);
    this.retired.delete(config.id);
    if (account) account.reconfigure(config);
    else account = new ChannelAccount<ChannelActor>(config);
    // In the order of the file, which is the order of the configuration.
    this.accounts.delete(config.id);
    this.accounts.set(config.id, account);
    const known = new Map(
      [...account.former, ...account.actors].map((actor) => [actor.model, actor]),
    );
    account.actors = [];
    account.former = [...known.values()].filter(
      ({ model }) => !Object.hasOwn(config.models, model),
    );
    for (const model of Object.keys(config.models)) {
      const actor = known.get(model);
      if (actor) account.actors.push(actor);
      // Adds itself to its account.
      else new ChannelActor(model, account, this.clock, this.onTransition, this.onOutcome);
    }
    account.applySwitch(this.switches.get(config.id));
    return account;
  }

  /** What the operator switched by hand, by channel; what is not named is as the file has it. */
  applySwitches(switches: ReadonlyMap<string, ChannelSwitch>): void {
    this.switches = switches;
    for (const [id, account] of this.accounts) account.applySwitch(switches.get(id));
  }

  /** What another replica saw of a model on a channel. */
  onPeerHint(channel_id: string, model_id: string, hint: PeerHint): void {
    this.serving(model_id)
      .find(({ config }) => config.id === channel_id)
      ?.onPeerHint(hint);
  }

  /** A model on every channel that serves it, whatever its state. */
  serving(model_id: string): readonly ChannelActor[] {
    return this.byModel.get(model_id) ?? [];
  }

  /** A model on one channel, or on one that was; undefined if neither serves it. */
  find(channel_id: string | null, model_id: string): ChannelActor | undefined {
    if (channel_id === null) return undefined;
    const account = this.accounts.get(channel_id) ?? this.retired.get(channel_id);
    const found = (actors: readonly ChannelActor[]) =>
      actors.find(({ model }) => model === model_id);
    return account && (found(account.actors) ?? found(account.former));
  }

  /** In the order of the configuration. */
  get all(): readonly ChannelAccount<ChannelActor>[] {
    return [...this.accounts.values()];
  }

  account(channel_id: string): ChannelAccount<ChannelActor> | undefined {
    return this.accounts.get(channel_id);
  }

  /** The verdict on each channel, derived from its models; for the operator. */
  verdicts(): ReadonlyMap<string, ChannelVerdict> {
    return new Map([...this.accounts].map(([id, account]) => [id, account.state]));
  }

  /** True if a call of the model would find a channel now (P13). */
  canServe(model_id: string): boolean {
    return this.serving(model_id).some((channel) => channel.canTake());
  }
}
