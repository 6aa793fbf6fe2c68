import type {
  ActorFilter,
  ActorPlace,
  ListedActor,
  StateCount,
} from '../../../db/actors/inspection.ts';
import { comparePlaces } from '../../../db/actors/inspection.ts';
import type { ChannelActor } from '../../actors/channels/channel.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { QuotaActor } from '../../actors/money/quota.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import type { EventRing, RingEvent, RingState } from '../../replay/event-ring.ts';
import { statePath, topState } from '../../replay/step.ts';

const US_PER_MS = 1_000;

/** An actor of one replica's memory, in a list. */
export interface ListedMemoryActor extends ListedActor {
  readonly context: object;
}

/** An actor of one replica's memory with its last events. */
export interface MemoryActor extends ListedMemoryActor {
  readonly value: unknown;
  /** State and context before the oldest kept event. */
  readonly base: RingState;
  readonly events: readonly RingEvent[];
}

/** What one replica has of a list. */
export interface MemoryPage {
  readonly rows: readonly ListedMemoryActor[];
  readonly counts: readonly StateCount[];
}

export interface MemoryDeps {
  readonly quotas: Pick<Quotas, 'all' | 'find'>;
  readonly channels: Pick<Channels, 'all' | 'find'>;
  readonly replica_id: () => string;
}

/** An actor and what a list needs of it. Nothing is copied before the actor is on the page. */
interface Found {
  readonly kind: string;
  readonly id: string;
  readonly organization_id: string | null;
  readonly state: string;
  readonly ring: EventRing;
  readonly snapshot: { readonly value: unknown; readonly context: object };
}

/** Shows the quota and channel actors of this replica. */
export class MemoryActors {
  constructor(private readonly deps: MemoryDeps) {}

  /** Lists at most `limit` actors after a place, and counts all that fit the filter but for its state. */
  list(filter: ActorFilter, limit: number, after?: ActorPlace): MemoryPage {
    const replica = this.deps.replica_id();
    const now = Date.now();
    if (!filter.live || (filter.replica !== undefined && filter.replica !== replica)) {
      return { rows: [], counts: [] };
    }
    const counts = new Map<string, StateCount>();
    const rows: (ActorPlace & { readonly found: Found })[] = [];
    for (const found of this.all(filter)) {
      const { kind, id, state, ring } = found;
      if (filter.id !== undefined && !isNamed(found, filter.id)) continue;
      const { organization_id } = filter;
      if (organization_id !== undefined && found.organization_id !== organization_id) continue;
      const top = topState(state);
      const longest =
        filter.longer_than_ms && (filter.longer_than_ms[kind]?.[top] ?? Number.POSITIVE_INFINITY);
      if (longest !== undefined && now - ring.since_ms <= longest) continue;
      const counted = counts.get(`${kind} ${top}`);
      counts.set(`${kind} ${top}`, { kind, state: top, actors: (counted?.actors ?? 0) + 1 });
      if (filter.state !== undefined && !isIn(state, filter.state)) continue;
      const row = { kind, id, replica, since_us: Math.floor(ring.since_ms * US_PER_MS), found };
      if (!after || comparePlaces(row, after, true) > 0) rows.push(row);
    }
    rows.sort((a, b) => comparePlaces(a, b, true));
    const page = rows.slice(0, limit);
    return { rows: page.map(({ found }) => this.viewOf(found)), counts: [...counts.values()] };
  }

  /** Returns an actor with its last events; undefined if this replica has none. */
  read(kind: string, id: string): MemoryActor | undefined {
    const found = this.find(kind, id);
    if (!found) return undefined;
    const { ring, snapshot } = found;
    const { value } = snapshot;
    return { ...this.viewOf(found), value, base: ring.base, events: ring.events };
  }

  private find(kind: string, id: string): Found | undefined {
    if (kind === 'quota') {
      const quota = this.deps.quotas.find(id);
      // The calls since the last event are counted, so that the context is the present one.
      quota?.sendCalls();
      return quota && ofQuota(quota);
    }
    if (kind !== 'channel') return undefined;
    // The id of a channel has no slash, but the name of a model may have one.
    const slash = id.indexOf('/');
    const channel = this.deps.channels.find(id.slice(0, slash), id.slice(slash + 1));
    return channel && ofChannel(channel);
  }

  private *all({ kinds }: ActorFilter): Iterable<Found> {
    if (kinds.includes('quota')) {
      for (const quota of this.deps.quotas.all()) yield ofQuota(quota);
    }
    if (!kinds.includes('channel')) return;
    for (const { actors } of this.deps.channels.all) {
      for (const channel of actors) yield ofChannel(channel);
    }
  }

  private viewOf({ kind, id, organization_id, state, ring, snapshot }: Found): ListedMemoryActor {
    return {
      ...{ kind, id, organization_id, state, seq: ring.seq, machine_version: 1, live: true },
      ...{ replica: this.deps.replica_id(), since_us: Math.floor(ring.since_ms * US_PER_MS) },
      context: snapshot.context,
    };
  }
}

function ofQuota({ name: id, organization_id, machine }: QuotaActor): Found {
  const snapshot = machine.last;
  const { ring } = machine;
  return { kind: 'quota', id, organization_id, state: statePath(snapshot), ring, snapshot };
}

function ofChannel({ config, model, ring, snapshot }: ChannelActor): Found {
  const id = `${config.id}/${model}`;
  return { kind: 'channel', id, organization_id: null, state: snapshot.value, ring, snapshot };
}

/** True if `id` is the actor's, or the channel of the actor. */
function isNamed(found: Found, id: string): boolean {
  return found.id === id || (found.kind === 'channel' && found.id.startsWith(`${id}/`));
}

function isIn(state: string, wanted: string): boolean {
  return state === wanted || state.startsWith(`${wanted}.`);
}
