import type { SnapshotFrom } from 'xstate';
import type { Fault } from '../../errors/fault.ts';
import type { channelMachine } from '../../machines/channel.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';

/** The states of the channel machine. */
export type ChannelState = SnapshotFrom<typeof channelMachine>['value'];

/** An operator's switch. It overrides the configuration of the channel. */
export interface ChannelSwitch {
  readonly state: 'disabled' | 'draining';
  /** Why the operator switched the channel. Shown to operators only. */
  readonly reason: string;
}

/**
 * The state of a channel, as shown to the operator. A `draining` channel gets no new calls, and
 * some of its calls have not ended.
 */
export type ChannelVerdict = ChannelState | 'draining';

/** Why a call failed, or why a good answer's usage was rejected. Never sent to a client (P5). */
export interface LastFailure {
  readonly failure: string;
  /** Whose fault it is; absent if that is not known. */
  readonly fault?: Fault | undefined;
  readonly message: string;
  readonly at_ms: number;
}

/** The methods of a channel actor that its `ChannelAccount` calls. */
interface AccountControls {
  readonly state: ChannelState;
  enable(): void;
  disable(reason: string): void;
  reset(): void;
  onCredentialsRefused(): void;
}

/**
 * What all models of one channel share: the configuration, the credentials, the slots (how many
 * calls may run at once) and the operator's switch.
 */
export class ChannelAccount<Actor extends AccountControls> {
  /** The number of calls in flight of all models. */
  inFlight = 0;
  /**
   * How often the upstream account (address, API key or protocol) has changed. Outcomes of calls
   * with an earlier account are ignored.
   */
  generation = 0;
  /** The actors of the configured models. */
  actors: Actor[] = [];
  /** The actors of removed models, whose calls may still be running. */
  formerActors: Actor[] = [];
  private operatorSwitch: ChannelSwitch | undefined;

  constructor(private current: ChannelConfig) {}

  get config(): ChannelConfig {
    return this.current;
  }

  /**
   * Applies a configuration. If the address, the API key or the protocol changed, the health of all
   * models is reset.
   */
  reconfigure(config: ChannelConfig): void {
    const previous = this.current;
    this.current = config;
    const isOtherAccount =
      previous.base_url !== config.base_url ||
      previous.api_key !== config.api_key ||
      previous.protocol !== config.protocol;
    if (isOtherAccount) this.generation += 1;
    if (isOtherAccount && this.isOn) for (const actor of this.actors) actor.reset();
    else this.applySettings();
  }

  /** Applies the operator's switch; undefined = no switch. */
  applySwitch(operatorSwitch: ChannelSwitch | undefined): void {
    this.operatorSwitch = operatorSwitch;
    this.applySettings();
  }

  /** Enables every model if the configuration and the switch allow it; otherwise disables it. */
  applySettings(): void {
    for (const actor of this.actors) {
      if (this.isOn) actor.enable();
      else actor.disable(this.operatorSwitch?.reason ?? 'configuration');
    }
  }

  private get isOn(): boolean {
    return this.current.enabled && this.operatorSwitch === undefined;
  }

  /**
   * Called when the upstream refused the credentials in a call of the actor `except`. Disables the
   * actors of the other models too, because they use the same credentials.
   */
  onCredentialsRefused(except: Actor): void {
    for (const actor of this.actors) if (actor !== except) actor.onCredentialsRefused();
  }

  /** The state of the channel, derived from its models. */
  get state(): ChannelVerdict {
    if (this.operatorSwitch?.state === 'draining' && this.inFlight > 0) return 'draining';
    const states = this.actors.map(({ state }) => state);
    const [first = 'healthy'] = states;
    // If the models differ in their states, the channel counts as degraded.
    return states.every((state) => state === first) ? first : 'degraded';
  }
}
