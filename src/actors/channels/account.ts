import type { SnapshotFrom } from 'xstate';
import type { channelMachine } from '../../machines/channel.ts';
import type { ChannelConfig } from '../../upstreams/contract.ts';

export type ChannelState = SnapshotFrom<typeof channelMachine>['value'];

/** What the operator switched by hand, over what the configuration says. */
export interface ChannelSwitch {
  readonly state: 'disabled' | 'draining';
  /** For the operator's own eyes. */
  readonly reason: string;
}

/** What an operator is told of a channel. `draining`: takes nothing new, and something still runs. */
export type ChannelVerdict = ChannelState | 'draining';

/** What an account asks of the actors of its models. */
interface AccountControls {
  readonly state: ChannelState;
  enable(): void;
  disable(reason: string): void;
  reset(): void;
  credentialsFailed(): void;
}

/** What the models of one channel share: its account, so its credentials, its slots, its switch. */
export class ChannelAccount<Actor extends AccountControls> {
  inFlight = 0;
  /** Counts the upstream accounts that it was: what ran with an earlier one says nothing of this one. */
  identity = 0;
  /** Of the models that it serves. */
  actors: Actor[] = [];
  /** Of models that it served before: what they began may still end. */
  former: Actor[] = [];
  private switched: ChannelSwitch | undefined;

  constructor(private latest: ChannelConfig) {}

  get config(): ChannelConfig {
    return this.latest;
  }

  /** A changed configuration. Another account, or new credentials, start without a past. */
  reconfigure(config: ChannelConfig): void {
    const before = this.latest;
    this.latest = config;
    const isOther =
      before.base_url !== config.base_url ||
      before.api_key !== config.api_key ||
      before.protocol !== config.protocol;
    if (isOther) this.identity += 1;
    if (isOther && this.mayTake) for (const actor of this.actors) actor.reset();
    else this.obey();
  }

  /** What the operator switched; undefined = nothing any more. */
  applySwitch(to: ChannelSwitch | undefined): void {
    this.switched = to;
    this.obey();
  }

  /** Brings every model in line with configuration and switch. */
  obey(): void {
    for (const actor of this.actors) {
      if (this.mayTake) actor.enable();
      else actor.disable(this.switched?.reason ?? 'configuration');
    }
  }

  private get mayTake(): boolean {
    return this.latest.enabled && this.switched === undefined;
  }

  /** A refused credential is refused for every model. */
  credentialsFailed(except: Actor): void {
    for (const actor of this.actors) if (actor !== except) actor.credentialsFailed();
  }

  /** The verdict on the channel, derived from its models. */
  get state(): ChannelVerdict {
    if (this.switched?.state === 'draining' && this.inFlight > 0) return 'draining';
    const states = this.actors.map(({ state }) => state);
    const [first = 'healthy'] = states;
    // One model that is sick says little of the account; all of them say it.
    return states.every((state) => state === first) ? first : 'degraded';
  }
}
