import type { OrganizationStatus } from '../../../db/accounts/organizations.ts';
import { hasTag, type Tags } from '../../../db/budgets/tags.ts';
import type { RecallScope } from '../../../db/ledger/replicas.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { RING_EVENTS } from '../../replay/event-ring.ts';
import type { HeldGrant } from './grant.ts';
import { QuotaActor } from './quota.ts';
import type { QuotaDeps } from './quota-deps.ts';
import type { RecentSpend } from './recent-spend.ts';

/** The most keys that have an actor on this replica. Idle actors without money are removed. */
const MAX_QUOTA_ACTORS = 100_000;
/** The most sets of budgeted tags that calls of one key have at a time on this replica. */
const MAX_TAG_SETS_OF_KEY = 2_000;
/**
 * How often the actors are swept. An actor without calls returns its grant after one or two sweeps.
 */
const QUOTA_SWEEP_MS = 5_000;
/** The most events that the actors of this replica keep together; each actor keeps a few anyway. */
const MAX_RING_EVENTS = 200_000;
const MIN_RING_EVENTS = 8;

/** What a quota actor is for: a key, and the budgeted tags of its calls. */
interface QuotaScope {
  readonly id: string;
  readonly organization_id: string;
  readonly tags?: Tags | undefined;
}

/**
 * The quota actors of this replica. Each API key in recent use has one actor for its calls without budgeted tags, and
 * one for each set of budgeted tags that its calls have: a grant counts in the budgets of its tags, so calls with
 * other tags need another grant.
 */
export class Quotas {
  /** By `placeOf`. */
  private readonly actors = new Map<string, QuotaActor>();
  /** Actors whose day has ended, until their calls have ended. */
  private readonly retired = new Set<QuotaActor>();
  /** How many actors with tags each key has. */
  private readonly tagged = new Map<string, number>();
  private stopClock: () => void = () => undefined;
  private sweptAt: number;
  /** The highest number of a recall that this replica knows. */
  private lastRecall = 0;

  constructor(private readonly deps: QuotaDeps) {
    this.sweptAt = deps.clock.now();
    this.schedule();
  }

  /** How many events each actor keeps: the more actors, the fewer. */
  private readonly ringLimit = (): number => {
    const share = Math.floor(MAX_RING_EVENTS / this.actors.size);
    return Math.max(MIN_RING_EVENTS, Math.min(this.deps.ring_events ?? RING_EVENTS, share));
  };

  get size(): number {
    return this.actors.size;
  }

  /**
   * Returns the actor for a call with a key and all of its tags, and creates the actor if needed. Throws
   * `service_unavailable` if there are too many actors.
   */
  getOrCreate(key: { id: string; organization_id: string }, tags?: Tags): QuotaActor {
    const { id, organization_id } = key;
    return this.open({
      id,
      organization_id,
      tags: tags && this.deps.budgeted?.of(organization_id, tags),
    });
  }

  private open({ id, organization_id, tags }: QuotaScope): QuotaActor {
    const existing = this.actors.get(placeOf(id, tags));
    if (existing) return existing;
    if (this.actors.size >= MAX_QUOTA_ACTORS) throw tooManyInUse('API keys');
    if (tags && (this.tagged.get(id) ?? 0) >= MAX_TAG_SETS_OF_KEY) {
      throw tooManyInUse('sets of tags with budgets');
    }
    return this.create({ id, organization_id, tags });
  }

  private create({ id, organization_id, tags }: QuotaScope, spend?: RecentSpend): QuotaActor {
    const { deps, replace, ringLimit } = this;
    const actor = new QuotaActor(id, organization_id, deps, replace, ringLimit, spend, tags);
    this.actors.set(placeOf(id, tags), actor);
    if (tags) this.tagged.set(id, (this.tagged.get(id) ?? 0) + 1);
    return actor;
  }

  private remove(place: string, { key_id, tags }: QuotaActor): void {
    this.actors.delete(place);
    if (!tags) return;
    const others = (this.tagged.get(key_id) ?? 0) - 1;
    if (others > 0) this.tagged.set(key_id, others);
    else this.tagged.delete(key_id);
  }

  /** Retires an actor whose day has ended. Returns the present actor for the same calls. */
  private readonly replace = (actor: QuotaActor): QuotaActor => {
    const { key_id: id, organization_id, tags } = actor;
    const place = placeOf(id, tags);
    if (this.actors.get(place) !== actor) return this.open({ id, organization_id, tags });
    this.retired.add(actor);
    this.remove(place, actor);
    const present = this.create({ id, organization_id, tags }, actor.spend);
    actor.retire();
    return present;
  };

  /** Returns an actor by its `name`: the id of its key, for the one without tags. */
  find(name: string): QuotaActor | undefined {
    const actor = this.actors.get(name);
    if (actor || !name.includes(':')) return actor;
    return this.actors.values().find((each) => each.name === name);
  }

  /** Makes each actor send its machine one event: the sum of the calls since the last event. */
  sendCalls(): void {
    for (const actor of this.actors.values()) actor.sendCalls();
  }

  all(): IterableIterator<QuotaActor> {
    return this.actors.values();
  }

  /** Returns the grants that the actors have in memory. Does not read the database. */
  heldByMemory(): HeldGrant[] {
    return Array.from(this.withRetired(), (actor) => actor.heldGrant);
  }

  private *withRetired(): Iterable<QuotaActor> {
    yield* this.actors.values();
    yield* this.retired;
  }

  /**
   * Called on recall number `seq`. Every quota actor of the key or organization in `scope` returns
   * its unused money.
   */
  onRecall(seq: number, scope: RecallScope): void {
    this.lastRecall = Math.max(this.lastRecall, seq);
    for (const actor of this.withRetired()) {
      if (isRecalled(actor, scope)) actor.onRecall(seq);
    }
  }

  /**
   * Called when recalls may be missing. `last_seq` is the number of the latest recall of any
   * organization. If it is new here, its scope is not known, so every quota actor returns its unused
   * money.
   */
  onRecallsMissed(last_seq: number): void {
    if (last_seq <= this.lastRecall) return;
    this.lastRecall = last_seq;
    for (const actor of this.withRetired()) {
      if (!actor.isEmpty) actor.onRecall(last_seq);
    }
  }

  /** Called when the status, cap or expiry of a key changed. */
  onKeyChanged(key_id: string, ...change: Parameters<QuotaActor['onKeyChanged']>): void {
    this.actors.get(key_id)?.onKeyChanged(...change);
    if (!this.tagged.has(key_id)) return;
    for (const actor of this.actors.values()) {
      if (actor.key_id === key_id && actor.tags) actor.onKeyChanged(...change);
    }
  }

  /** Called when the status of an organization changed. */
  onOrganizationChanged(organization_id: string, status: OrganizationStatus): void {
    for (const actor of this.actors.values()) {
      if (actor.organization_id === organization_id) actor.onOrganizationChanged(status);
    }
  }

  /** Called on a hint that money of an organization was returned, released or added. */
  onMoneyReturned(organization_id: string): void {
    for (const actor of this.withRetired()) {
      if (actor.organization_id === organization_id) actor.onMoneyReturned();
    }
  }

  /** Called when this replica was declared dead, so that all its grants are closed. */
  fence(): void {
    for (const actor of this.withRetired()) actor.fence();
  }

  /** Returns all grants. Call it at shutdown, after the last call ended. */
  async close(): Promise<void> {
    this.stopClock();
    await Promise.all(Array.from(this.withRetired(), (actor) => actor.close()));
  }

  private schedule(): void {
    this.stopClock = this.deps.clock.after(QUOTA_SWEEP_MS, () => {
      this.sweep();
      this.schedule();
    });
  }

  private sweep(): void {
    const now = this.deps.clock.now();
    for (const [place, actor] of this.actors) {
      actor.sweep(now - this.sweptAt);
      if (actor.isEmpty) this.remove(place, actor);
    }
    for (const actor of this.retired) {
      actor.sweep(now - this.sweptAt);
      if (actor.isEmpty) this.retired.delete(actor);
    }
    this.sweptAt = now;
  }
}

/** The texts of tags. Most calls with tags share their object (`BudgetedTags.of`). */
const texts = new WeakMap<Tags, string>();

/** The place of an actor in the map: its key, and the budgeted tags of its calls. No id of a key has a space. */
function placeOf(key_id: string, tags: Tags | undefined): string {
  if (!tags) return key_id;
  let text = texts.get(tags);
  if (text === undefined) {
    text = JSON.stringify(tags);
    texts.set(tags, text);
  }
  return `${key_id} ${text}`;
}

function isRecalled(
  { key_id, organization_id, tags }: QuotaActor,
  { tag, ...scope }: RecallScope,
): boolean {
  if (scope.key_id !== null) return scope.key_id === key_id;
  if (scope.organization_id !== organization_id) return false;
  return tag === undefined || hasTag(tags ?? null, tag.name, tag.value);
}

function tooManyInUse(what: string): WeirError {
  return new WeirError('service_unavailable', `Too many ${what} are in use.`, { retry_after: 5 });
}
