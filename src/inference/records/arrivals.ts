import type { Bus } from '../../actors/bus/bus.ts';
import type { Clock } from '../../actors/clock.ts';
import type { ArrivalRing, ArrivalSlot } from './arrival-ring.ts';
import { type Arrival, arrivalOf, keyOf, progressOf, type ShownKey } from './arrival-view.ts';

/** How often the ring is looked through while somebody listens. */
const LOOK_EVERY_MS = 200;
/** How often a replica with listeners tells the others so. */
const ASK_EVERY_MS = 3_000;
/** A replica that was not asked for this long stops sending. */
const ASKED_FOR_MS = 10_000;
/** Older calls are not shown to a page that opens. */
const MAX_AGE_MS = 10 * 60 * 1_000;
/** The most listeners of this replica. */
const MAX_LISTENERS = 200;
/** A listener that is this many changes behind is closed; its client resumes. */
const MAX_BEHIND = 2_000;
/** Keys whose names are remembered. */
const MAX_KEYS = 1_000;

/** News of the calls of all replicas. */
export interface ArrivalNews {
  /** Milliseconds since the Unix epoch. */
  readonly changed_at_ms: number;
  /** The call as it is now. Undefined if only `skipped` is news. */
  readonly call?: Arrival | undefined;
  /** How many calls of `replica` came too fast to be shown. */
  readonly skipped?: { readonly replica: string; readonly calls: number } | undefined;
}

/** The news for one listener. */
export interface ArrivalStream {
  /** Returns all waiting news; [] if none came within `wait_ms`, null if the stream ended. */
  next(wait_ms: number): Promise<ArrivalNews[] | null>;
  close(): void;
}

interface ArrivalsDeps {
  readonly ring: ArrivalRing;
  readonly bus: Pick<Bus, 'publish' | 'subscribe' | 'peerCount'>;
  readonly replica_id: () => string;
  readonly clock: Clock;
  /** Returns the names of API keys, by their ids. */
  readonly readKeys: (ids: readonly string[]) => Promise<ReadonlyMap<string, ShownKey>>;
  readonly onError: (error: unknown) => void;
}

/**
 * Shows operators each call that reaches any replica, also refused ones. The ring notes the calls. While
 * nobody listens, nothing reads it, and nothing is sent. A replica with listeners asks the others
 * over the bus; each sends what is new in its ring until it is no longer asked.
 */
export class Arrivals {
  private readonly listeners = new Set<QueuedArrivals>();
  private readonly keys = new Map<string, ShownKey>();
  private readonly unsubscribe: readonly (() => void)[];
  private cancelLook: (() => void) | undefined;
  private cancelAsk: (() => void) | undefined;
  /** Until when another replica has listeners. */
  private asked_until_ms = 0;
  /** True if a new listener must get the whole ring. */
  private mustSendAll = false;
  /** How many calls of the ring had been noted at the last look. */
  private looked_at = 0;

  constructor(private readonly deps: ArrivalsDeps) {
    const { bus } = deps;
    const onGap = () => undefined;
    this.unsubscribe = [
      bus.subscribe('arrivals_asked', { onMessage: (ask) => this.onAsked(ask), onGap }),
      bus.subscribe('arrivals', { onMessage: (message) => this.onNews(message), onGap }),
    ];
  }

  /**
   * Opens a stream of the calls that changed after `since_ms`, and of all later ones. Without it, the
   * stream begins with the latest calls. Returns undefined if there are too many listeners.
   */
  open(since_ms: number | undefined): ArrivalStream | undefined {
    if (this.listeners.size >= MAX_LISTENERS) return undefined;
    const { clock } = this.deps;
    const listener = new QueuedArrivals(since_ms ?? clock.now() - MAX_AGE_MS, () => {
      this.listeners.delete(listener);
    });
    this.listeners.add(listener);
    this.ask(true);
    this.lookSoon(true);
    return listener;
  }

  /** Ends all streams. Their clients resume, e.g. on another replica. */
  stop(): void {
    for (const end of this.unsubscribe) end();
    this.cancelLook?.();
    this.cancelAsk?.();
    for (const listener of [...this.listeners]) listener.close();
  }

  /** Asks the other replicas for their calls, again and again while somebody listens. */
  private ask(is_first: boolean): void {
    const { bus, clock, replica_id } = this.deps;
    this.cancelAsk?.();
    this.cancelAsk = undefined;
    if (this.listeners.size === 0) return;
    bus.publish('arrivals_asked', { replica: replica_id(), is_first });
    this.cancelAsk = clock.after(ASK_EVERY_MS, () => this.ask(false));
  }

  private onAsked({ replica, is_first }: { replica: string; is_first: boolean }): void {
    if (replica === this.deps.replica_id()) return;
    const now = this.deps.clock.now();
    const isNew = now >= this.asked_until_ms;
    this.asked_until_ms = now + ASKED_FOR_MS;
    this.lookSoon(is_first || isNew);
  }

  private lookSoon(sendAll: boolean): void {
    this.mustSendAll ||= sendAll;
    this.cancelLook ??= this.deps.clock.after(LOOK_EVERY_MS, () => {
      this.look()
        .catch(this.deps.onError)
        .finally(() => {
          this.cancelLook = undefined;
          if (this.listeners.size > 0 || this.deps.clock.now() < this.asked_until_ms) {
            this.lookSoon(false);
          }
        });
    });
  }

  /** Sends what is new in the ring to the listeners of all replicas. */
  private async look(): Promise<void> {
    const { ring, replica_id, clock } = this.deps;
    const sendsAll = this.mustSendAll;
    this.mustSendAll = false;
    const lost = sendsAll ? 0 : ring.lostSince(this.looked_at);
    this.looked_at = ring.noted;
    const changed = ring.all().filter((slot) => this.isNews(slot) || sendsAll);
    await this.learnKeys(changed);
    if (lost > 0) {
      const skipped = { replica: replica_id(), calls: lost };
      this.send({ changed_at_ms: clock.now(), skipped });
    }
    for (const slot of changed) {
      const key = this.keys.get(keyOf(slot) ?? '');
      const call = arrivalOf(slot, replica_id(), key);
      this.send({ changed_at_ms: slot.changed_at_ms, call });
    }
  }

  /** True if something is new about a call since the last look. */
  private isNews(slot: ArrivalSlot): boolean {
    const progress = progressOf(slot);
    if (progress === slot.sent) return false;
    // Nobody looked when an old call changed.
    const at = performance.timeOrigin + (slot.ended_ms ?? slot.arrived_ms);
    slot.changed_at_ms = slot.sent === '' ? at : this.deps.clock.now();
    slot.sent = progress;
    return true;
  }

  private async learnKeys(slots: readonly ArrivalSlot[]): Promise<void> {
    const unknown = new Set(slots.flatMap((slot) => keyOf(slot) ?? []));
    for (const id of this.keys.keys()) unknown.delete(id);
    if (unknown.size === 0) return;
    try {
      if (this.keys.size > MAX_KEYS) this.keys.clear();
      for (const [id, key] of await this.deps.readKeys([...unknown])) this.keys.set(id, key);
    } catch (error) {
      // A call is worth showing without the name of its key.
      this.deps.onError(error);
    }
  }

  private send(news: ArrivalNews): void {
    this.deliver(news);
    const { bus, clock, replica_id } = this.deps;
    if (bus.peerCount === 0 || clock.now() >= this.asked_until_ms) return;
    const { call, skipped } = news;
    bus.publish('arrivals', {
      ...{ replica: replica_id(), changed_at_ms: news.changed_at_ms },
      ...(call ? { call: { ...call } } : {}),
      ...(skipped ? { skipped: skipped.calls } : {}),
    });
  }

  private onNews(message: {
    replica: string;
    changed_at_ms: number;
    call?: Record<string, unknown>;
    skipped?: number;
  }): void {
    const { replica, changed_at_ms, call, skipped } = message;
    if (replica === this.deps.replica_id()) return;
    this.deliver({
      changed_at_ms,
      // The sender is a replica of this installation.
      ...(call ? { call: call as unknown as Arrival } : {}),
      ...(skipped === undefined ? {} : { skipped: { replica, calls: skipped } }),
    });
  }

  private deliver(news: ArrivalNews): void {
    for (const listener of [...this.listeners]) listener.push(news);
  }
}

/** The news that wait for one listener. */
class QueuedArrivals implements ArrivalStream {
  private waiting: ArrivalNews[] = [];
  private wake: () => void = () => undefined;
  private hasEnded = false;

  constructor(
    private readonly since_ms: number,
    private readonly onClosed: () => void,
  ) {}

  push(news: ArrivalNews): void {
    if (news.changed_at_ms < this.since_ms) return;
    if (this.waiting.length >= MAX_BEHIND) {
      this.close();
      return;
    }
    this.waiting.push(news);
    this.wake();
  }

  async next(wait_ms: number): Promise<ArrivalNews[] | null> {
    if (this.waiting.length === 0 && !this.hasEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      const timer = setTimeout(resolve, wait_ms);
      await promise;
      clearTimeout(timer);
    }
    const news = this.waiting;
    this.waiting = [];
    return news.length === 0 && this.hasEnded ? null : news;
  }

  close(): void {
    this.hasEnded = true;
    this.onClosed();
    this.wake();
  }
}
