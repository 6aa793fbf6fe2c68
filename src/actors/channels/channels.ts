import { RING_EVENTS } from '../../replay/event-ring.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';
import type { Clock } from '../clock.ts';
import { ChannelAccount, type ChannelSwitch, type ChannelVerdict } from './account.ts';
import type { Availability } from './availability.ts';
import { ChannelActor, type OnChannelEvent, type OnOutcome } from './channel.ts';
import type { ChannelTransition, PeerHint } from './transition.ts';

/**
 * The most removed channels that are kept in memory. Above this number, the channel that was
 * removed first is dropped. No configuration has this many channels.
 */
const MAX_RETIRED = 1_000;

/** The channel actors of this replica. Each model of each channel has one actor. */
export class Channels {
  private byModel = new Map<string, ChannelActor[]>();
  private readonly accounts = new Map<string, ChannelAccount<ChannelActor>>();
  /** Channels that were removed from the configuration, whose calls may still be running. */
  private readonly retired = new Map<string, ChannelAccount<ChannelActor>>();
  private switches: ReadonlyMap<string, ChannelSwitch> = new Map();

  constructor(
    configs: readonly ChannelConfig[],
    private readonly clock: Clock,
    private readonly onTransition?: (transition: ChannelTransition) => void,
    private readonly onOutcome?: OnOutcome,
    private readonly onEvent?: OnChannelEvent,
    /** The most events that each actor keeps. */
    private readonly ring_events = RING_EVENTS,
  ) {
    this.configure(configs);
  }

  /**
   * Applies a configuration. If the account of a channel (address, API key or protocol) changed,
   * the health of the channel is reset; otherwise it is kept. Calls in flight continue on their
   * channel.
   */
  configure(configs: readonly ChannelConfig[]): void {
    const configured = new Set(configs.map(({ id }) => id));
    for (const [id, account] of this.accounts) {
      if (configured.has(id)) continue;
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
    // The entry is deleted and set again, so that the map has the order of the configuration.
    this.accounts.delete(config.id);
    this.accounts.set(config.id, account);
    const known = new Map(
      [...account.formerActors, ...account.actors].map((actor) => [actor.model, actor]),
    );
    account.actors = [];
    account.formerActors = [...known.values()].filter(
      ({ model }) => !Object.hasOwn(config.models, model),
    );
    for (const model of Object.keys(config.models)) {
      const actor = known.get(model);
      if (actor) account.actors.push(actor);
      // The constructor adds the actor to its account.
      else
        new ChannelActor(
          model,
          account,
          this.clock,
          this.onTransition,
          this.onOutcome,
          this.onEvent,
          this.ring_events,
        );
    }
    account.applySwitch(this.switches.get(config.id));
    return account;
  }

  /**
   * Applies the operator's switches, by channel id. A channel without a switch follows the
   * configuration.
   */
  applySwitches(switches: ReadonlyMap<string, ChannelSwitch>): void {
    this.switches = switches;
    for (const [id, account] of this.accounts) account.applySwitch(switches.get(id));
  }

  /** Applies a hint of another replica about a model on a channel. */
  onPeerHint(channel_id: string, model_id: string, hint: PeerHint): void {
    this.serving(model_id)
      .find(({ config }) => config.id === channel_id)
      ?.onPeerHint(hint);
  }

  /** The actors of a model on all channels that serve it, in any state. */
  serving(model_id: string): readonly ChannelActor[] {
    return this.byModel.get(model_id) ?? [];
  }

  /**
   * The actor of a model on a channel, which may be a removed channel. Undefined if there is none.
   */
  find(channel_id: string | null, model_id: string): ChannelActor | undefined {
    if (channel_id === null) return undefined;
    const account = this.accounts.get(channel_id) ?? this.retired.get(channel_id);
    const found = (actors: readonly ChannelActor[]) =>
      actors.find(({ model }) => model === model_id);
    return account && (found(account.actors) ?? found(account.formerActors));
  }

  /** All configured channels, in the order of the configuration. */
  get all(): readonly ChannelAccount<ChannelActor>[] {
    return [...this.accounts.values()];
  }

  account(channel_id: string): ChannelAccount<ChannelActor> | undefined {
    return this.accounts.get(channel_id);
  }

  /** The state of each channel, derived from its models and shown to the operator. */
  verdicts(): ReadonlyMap<string, ChannelVerdict> {
    return new Map([...this.accounts].map(([id, account]) => [id, account.state]));
  }

  /** True if at least one channel would accept a call of the model now (P13). */
  canServe(model_id: string): boolean {
    return this.serving(model_id).some((channel) => channel.canAcquire());
  }

  /**
   * Returns since when no channel of a model is healthy or degraded, ms since the epoch. Returns undefined
   * if one is, or if no channel serves the model. Free slots do not count.
   */
  downSince(model_id: string): number | undefined {
    const times = this.serving(model_id).map((channel) => channel.down_since_ms);
    const isUp = times.some((time) => time === undefined);
    return isUp || times.length === 0 ? undefined : Math.max(...(times as number[]));
  }

  /** What a caller may expect of a model now. */
  availability(model_id: string): Availability {
    const ready = this.serving(model_id).filter((channel) => channel.canAcquire());
    if (ready.length === 0) return 'unavailable';
    return ready.some(({ state }) => state === 'healthy') ? 'available' : 'degraded';
  }
}
