import type { ChannelConfig } from '../../upstreams/contract.ts';
import type { Clock } from '../clock.ts';
import { ChannelAccount } from './account.ts';
import { ChannelActor } from './channel.ts';

/** How an organization uses its own keys: alone, or before the platform's channels. */
export type OwnKeysMode = 'only' | 'first';

/** An own key that is not revoked. Its channel is configured when a call needs it. */
export interface OwnKey {
  readonly channel_id: string;
  /** Public model id → physical model id. */
  readonly models: Readonly<Record<string, string>>;
  /** True if another account or secret is behind the same id when this text differs. */
  readonly version: string;
  /** Undefined if this version of Weir does not know the key's protocol. */
  readonly configure: () => ChannelConfig | undefined;
}

/** The own keys of an organization. */
export interface OwnKeySet {
  readonly mode: OwnKeysMode;
  readonly keys: readonly OwnKey[];
}

/** The own keys that serve a model for an organization. */
export interface OwnServing {
  readonly mode: OwnKeysMode;
  /** The actors of the model, in any state. */
  readonly channels: readonly ChannelActor[];
  /** What a call costs, in millionths of the list price. */
  readonly fee_ppm: number;
}

/** Why a provider refused an own key. */
export interface OwnKeyRefusal {
  readonly channel_id: string;
  readonly model: string;
  readonly message: string;
}

/** Dependencies of `OwnKeys`. */
export interface OwnKeysDeps {
  readonly clock: Clock;
  /** What calls on own keys cost now, in millionths of the list price. */
  readonly fee_ppm: () => number;
  /** Called when a provider refused an own key. Must not throw. */
  readonly onRefused: (refusal: OwnKeyRefusal) => void;
  /** The most health actors; default: `MAX_OWN_ACTORS`. */
  readonly max_actors?: number;
}

/** The most health actors of own keys. Above it, those of the keys that were used longest ago are dropped. */
const MAX_OWN_ACTORS = 10_000;
/** A key without calls for this time is forgotten: its next call starts with a healthy channel. */
const OWN_IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;
/** Each actor keeps this many events. Nobody inspects them, so they are few. */
const OWN_RING_EVENTS = 8;

/** A key with its health on this replica. */
interface Resident {
  readonly version: string;
  readonly account: ChannelAccount<ChannelActor>;
  used_ms: number;
}

/**
 * The own keys of all organizations, and the health of those in use on this replica. This health is
 * apart from that of the platform's channels: it is in no ranking, history or hint for other replicas.
 * Most organizations have no own keys. For them every method costs one look-up.
 */
export class OwnKeys {
  private sets: ReadonlyMap<string, OwnKeySet> = new Map();
  /** By channel id, the longest unused first. */
  private readonly residents = new Map<string, Resident>();
  private actors = 0;
  private stopClock: () => void = () => undefined;

  constructor(private readonly deps: OwnKeysDeps) {}

  /** Starts to forget keys that are not used. */
  start(): void {
    this.stopClock = this.deps.clock.after(SWEEP_MS, () => {
      this.sweep();
      this.start();
    });
  }

  stop(): void {
    this.stopClock();
  }

  /** The number of health actors. */
  get size(): number {
    return this.actors;
  }

  /** Replaces the keys of all organizations. */
  replaceAll(sets: ReadonlyMap<string, OwnKeySet>): void {
    this.sets = sets;
    const versions = new Map<string, string>();
    for (const { keys } of sets.values()) {
      for (const { channel_id, version } of keys) versions.set(channel_id, version);
    }
    for (const [id, { version }] of this.residents) {
      if (versions.get(id) !== version) this.forget(id);
    }
  }

  /** Replaces the keys of one organization. Undefined: it has none. */
  replace(organization_id: string, set: OwnKeySet | undefined): void {
    const sets = new Map(this.sets);
    if (set) sets.set(organization_id, set);
    else sets.delete(organization_id);
    this.replaceAll(sets);
  }

  /** Forgets the health of all keys. Called when the fee may have changed. */
  forgetAll(): void {
    for (const id of [...this.residents.keys()]) this.forget(id);
  }

  /** Forgets the health of a key, so that its next call finds a healthy channel. */
  forget(channel_id: string): void {
    const resident = this.residents.get(channel_id);
    if (!resident) return;
    this.residents.delete(channel_id);
    this.actors -= resident.account.actors.length;
  }

  /** Returns the own keys that serve a model; undefined if the organization has none for it. */
  serving(organization_id: string, model: string): OwnServing | undefined {
    const set = this.sets.get(organization_id);
    if (!set) return undefined;
    const keys = set.keys.filter(({ models }) => Object.hasOwn(models, model));
    if (keys.length === 0) return undefined;
    const channels = keys.flatMap((key) => this.actorOf(key, model) ?? []);
    return { mode: set.mode, channels, fee_ppm: this.deps.fee_ppm() };
  }

  /** Returns the actor of a model on an own key; undefined if the organization has no such key (P6). */
  find(organization_id: string, channel_id: string, model: string): ChannelActor | undefined {
    const key = this.sets
      .get(organization_id)
      ?.keys.find((each) => each.channel_id === channel_id && Object.hasOwn(each.models, model));
    return key && this.actorOf(key, model);
  }

  /**
   * Returns whether an own key would take a call of the model now; undefined if the organization has
   * none for it. Makes no actors.
   */
  canServe(organization_id: string, model: string): boolean | undefined {
    const set = this.sets.get(organization_id);
    if (!set) return undefined;
    const keys = set.keys.filter(({ models }) => Object.hasOwn(models, model));
    if (keys.length === 0) return undefined;
    return keys.some(({ channel_id }) => {
      const actor = this.residents
        .get(channel_id)
        ?.account.actors.find((each) => each.model === model);
      return actor?.canAcquire() ?? true;
    });
  }

  /** Returns the own keys of an organization; undefined if it has none. */
  of(organization_id: string): OwnKeySet | undefined {
    return this.sets.get(organization_id);
  }

  /** How an organization uses its own keys; undefined if it has none. */
  modeOf(organization_id: string): OwnKeysMode | undefined {
    return this.sets.get(organization_id)?.mode;
  }

  private actorOf(key: OwnKey, model: string): ChannelActor | undefined {
    const resident = this.residentOf(key);
    if (!resident) return undefined;
    const { account } = resident;
    const known = account.actors.find((actor) => actor.model === model);
    if (known) return known;
    const actor: ChannelActor = new ChannelActor(
      ...([model, account, this.deps.clock] as const),
      ({ to, reason }) => {
        if (to !== 'disabled' || reason !== 'auth') return;
        // A refusal also disables the key's other models, which have no failure of their own.
        const { message } = actor.lastFailure ?? {};
        const { channel_id } = key;
        if (message !== undefined) this.deps.onRefused({ channel_id, model, message });
      },
      ...([undefined, undefined, OWN_RING_EVENTS] as const),
    );
    this.actors += 1;
    this.makeRoom(key.channel_id);
    return actor;
  }

  /** Returns the key's account, as the one that was used last. */
  private residentOf(key: OwnKey): Resident | undefined {
    const used_ms = this.deps.clock.now();
    let resident = this.residents.get(key.channel_id);
    if (resident) this.residents.delete(key.channel_id);
    else {
      const config = key.configure();
      if (!config) return undefined;
      const account = new ChannelAccount<ChannelActor>(config);
      resident = { version: key.version, account, used_ms };
    }
    resident.used_ms = used_ms;
    this.residents.set(key.channel_id, resident);
    return resident;
  }

  /** Drops the health of the keys that were used longest ago, until there are few enough actors. */
  private makeRoom(except: string): void {
    const { max_actors = MAX_OWN_ACTORS } = this.deps;
    for (const id of this.residents.keys()) {
      if (this.actors <= max_actors) return;
      if (id !== except) this.forget(id);
    }
  }

  private sweep(): void {
    const unused_since = this.deps.clock.now() - OWN_IDLE_MS;
    for (const [id, { used_ms, account }] of this.residents) {
      if (used_ms > unused_since) return;
      if (account.inFlight === 0) this.forget(id);
    }
  }
}
