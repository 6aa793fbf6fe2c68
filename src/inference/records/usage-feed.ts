import type { Sql } from 'postgres';
import { type AsOf, readAsOf } from '../../../db/usage/as-of.ts';
import { readChange, type TaskChange, type UsageChange } from '../../../db/usage/changes.ts';
import { type MoneyState, readMoneyState } from '../../../db/usage/state.ts';
import type { Clock } from '../../actors/clock.ts';

/** How often the changes of an organization are read while somebody watches. */
const READ_EVERY_MS = 500;
/** Each such read also reads the balance and the keys: a stream shows their changes once a second. */
const READS_PER_STATE = 2;
/** A stream whose client is this many changes behind is closed; the client resumes by id. */
const MAX_BEHIND = 20;
/** The most streams of this replica. */
const MAX_STREAMS = 2_000;

/** A change with the state after it, by which a client resumes. */
export interface FedChange extends UsageChange {
  readonly as_of: AsOf;
  /** The balance and the keys that changed. A stream begins with the balance and all keys. */
  readonly money?: MoneyState | undefined;
}

/** The changes for one stream. */
export interface FeedStream {
  /** Returns the next change; undefined if none came within `wait_ms`, null if the stream ended. */
  next(wait_ms: number): Promise<FedChange | undefined | null>;
  close(): void;
}

/**
 * Reads what happens in an organization, once for all its streams on this replica. All replicas
 * write to the same tables, so every stream sees the calls of all. Nothing is read while nobody
 * watches.
 */
export class UsageFeed {
  private readonly watched = new Map<string, Watched>();
  private streams = 0;

  constructor(
    private readonly deps: {
      readonly sql: Sql;
      readonly clock: Clock;
      readonly onError: (error: unknown) => void;
    },
  ) {}

  /** Opens a stream of changes after `since`. Returns undefined if there are too many streams. */
  async open(organization_id: string, since: AsOf | undefined): Promise<FeedStream | undefined> {
    if (this.streams >= MAX_STREAMS) return undefined;
    this.streams += 1;
    try {
      const now = await readAsOf(this.deps.sql);
      const missed = since && {
        ...(await readChange(this.deps.sql, organization_id, since, now)),
        as_of: now,
      };
      return this.add(organization_id, now, missed);
    } catch (error) {
      this.streams -= 1;
      throw error;
    }
  }

  /** Ends all streams. Their clients resume, e.g. on another replica. */
  stop(): void {
    for (const each of this.watched.values()) each.stop();
    this.watched.clear();
  }

  private add(organization_id: string, now: AsOf, missed: FedChange | undefined): FeedStream {
    let watched = this.watched.get(organization_id);
    if (!watched) {
      const { sql } = this.deps;
      const read = (since: AsOf, until: AsOf) => readChange(sql, organization_id, since, until);
      const readMoney = () => readMoneyState(sql, organization_id);
      watched = new Watched({ ...this.deps, read, readMoney }, now);
      this.watched.set(organization_id, watched);
    }
    const owner = watched;
    const stream = new QueuedStream(now, missed, () => {
      this.streams -= 1;
      owner.streams.delete(stream);
      if (owner.streams.size > 0) return;
      owner.stop();
      this.watched.delete(organization_id);
    });
    owner.streams.add(stream);
    return stream;
  }
}

/** One organization that somebody watches. */
class Watched {
  readonly streams = new Set<QueuedStream>();
  private cancelTimer: () => void = () => undefined;
  private isStopped = false;
  private reads = 0;

  constructor(
    private readonly deps: {
      readonly sql: Sql;
      readonly clock: Clock;
      readonly onError: (error: unknown) => void;
      readonly read: (since: AsOf, until: AsOf) => Promise<UsageChange>;
      readonly readMoney: () => Promise<MoneyState>;
    },
    private since: AsOf,
  ) {
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    this.cancelTimer();
    for (const stream of [...this.streams]) stream.end();
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.cancelTimer = this.deps.clock.after(READ_EVERY_MS, () => {
      this.read()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }

  private async read(): Promise<void> {
    const now = await readAsOf(this.deps.sql);
    const change = await this.deps.read(this.since, now);
    this.since = now;
    this.reads += 1;
    const money = this.reads % READS_PER_STATE === 0 ? await this.deps.readMoney() : undefined;
    if (change.counts.length === 0 && change.tasks.length === 0 && !money) return;
    for (const stream of [...this.streams]) stream.push({ ...change, as_of: now, money });
  }
}

/** The changes that wait for one client. */
class QueuedStream implements FeedStream {
  private readonly waiting: FedChange[] = [];
  private readonly shown = new Map<string, string>();
  private readonly money = new ShownMoney();
  private wake: () => void = () => undefined;
  private hasEnded = false;

  constructor(
    /** The stream knows everything up to here. */
    private readonly from: AsOf,
    missed: FedChange | undefined,
    private readonly onClosed: () => void,
  ) {
    if (missed) this.push(missed);
  }

  push(change: FedChange): void {
    // The feed may have read before this stream began.
    if (change.as_of.at < this.from.at) return;
    if (this.waiting.length >= MAX_BEHIND) {
      this.end();
      return;
    }
    const tasks = change.tasks.filter((task) => this.isNews(task));
    const money = change.money && this.money.newsOf(change.money);
    if (change.counts.length === 0 && tasks.length === 0 && !money) return;
    this.waiting.push({ ...change, tasks, money });
    this.wake();
  }

  async next(wait_ms: number): Promise<FedChange | undefined | null> {
    if (this.waiting.length === 0 && !this.hasEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.wake = resolve;
      const timer = setTimeout(resolve, wait_ms);
      await promise;
      clearTimeout(timer);
    }
    return this.waiting.shift() ?? (this.hasEnded ? null : undefined);
  }

  end(): void {
    this.hasEnded = true;
    this.wake();
  }

  close(): void {
    this.end();
    this.onClosed();
  }

  /** A change of a task is read twice, because its transaction may commit late. */
  private isNews({ id, status }: TaskChange): boolean {
    if (this.shown.get(id) === status) return false;
    this.shown.set(id, status);
    if (this.shown.size > 1_000) this.shown.delete(this.shown.keys().next().value ?? '');
    return true;
  }
}

/** What a client knows of its organization's money. */
class ShownMoney {
  private balance = '';
  private keys = new Map<string, string>();

  /** Returns what changed since the last call; undefined if nothing did. */
  newsOf({ balance, keys }: MoneyState): MoneyState | undefined {
    const text = JSON.stringify(balance);
    const isNewBalance = text !== this.balance;
    this.balance = text;
    const now = new Map(keys.map((key) => [key.key_id, JSON.stringify(key)]));
    const changed = keys.filter(({ key_id }) => now.get(key_id) !== this.keys.get(key_id));
    this.keys = now;
    if (!isNewBalance && changed.length === 0) return undefined;
    return { balance: isNewBalance ? balance : undefined, keys: changed };
  }
}
