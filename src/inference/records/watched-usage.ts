import type { Sql } from 'postgres';
import { type AsOf, readAsOf } from '../../../db/usage/as-of.ts';
import { readChange, type TaskChange } from '../../../db/usage/changes.ts';
import { type MoneyState, readMoneyState } from '../../../db/usage/state.ts';
import type { Clock } from '../../actors/clock.ts';
import type { FedChange, FeedStream, InFlight } from './feed-stream.ts';
import type { RunningCalls } from './running-calls.ts';

/** How often the changes of an organization are read while somebody watches. */
const READ_EVERY_MS = 500;
/** The same after a change of many calls: nobody sees them singly. */
const READ_MANY_EVERY_MS = 1_000;
const MANY_CALLS = 100;
/** The balance and the keys are read with the changes: a stream shows theirs about once a second. */
const STATE_EVERY_MS = 900;
/** How often running calls are counted. The other replicas are asked for theirs. */
const COUNT_EVERY_MS = 3_000;
/** Tasks whose last change is remembered. */
const MAX_TASKS = 1_000;

export interface WatchedDeps {
  readonly sql: Sql;
  readonly running: Pick<RunningCalls, 'list'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** One organization that somebody watches. Each change is read once, and made for all streams together. */
export class WatchedUsage {
  readonly streams = new Set<FeedStream>();
  private cancelTimer: () => void = () => undefined;
  private isStopped = false;
  private pause_ms = READ_EVERY_MS;
  private stateReadAt_ms = 0;
  private countedAt_ms = 0;
  private in_flight: InFlight | undefined;
  private in_flight_shown: InFlight | undefined;
  private readonly money = new ShownMoney();
  private readonly tasks = new ShownTasks();

  constructor(
    private readonly deps: WatchedDeps,
    private readonly organization_id: string,
    /** The state of the last read. */
    private known: AsOf,
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
    this.cancelTimer = this.deps.clock.after(this.pause_ms, () => {
      this.read()
        .catch(this.deps.onError)
        .finally(() => this.schedule());
    });
  }

  private async read(): Promise<void> {
    const { sql } = this.deps;
    const { organization_id, known } = this;
    // A stream that opens from here on has its first change from the next read.
    const streams = [...this.streams];
    this.count();
    const now = await readAsOf(sql);
    const isStateDue = this.deps.clock.now() - this.stateReadAt_ms >= STATE_EVERY_MS;
    if (isStateDue) this.stateReadAt_ms = this.deps.clock.now();
    const [change, money] = await Promise.all([
      readChange(sql, organization_id, known, now),
      isStateDue ? readMoneyState(sql, organization_id) : undefined,
    ]);
    const calls = change.counts.reduce((sum, count) => sum + count.calls, 0);
    this.pause_ms = calls >= MANY_CALLS ? READ_MANY_EVERY_MS : READ_EVERY_MS;
    // One count for all streams: a later one is news for all at the next read.
    const { in_flight } = this;
    // New streams know other states than the older ones, so their first change is their own: no call is missing,
    // and none comes twice. Streams that opened together know the same state.
    const own = new Map<AsOf, FedChange>();
    for (const { knows } of streams) {
      if (knows === known || own.has(knows)) continue;
      const first = await readChange(sql, organization_id, knows, now);
      own.set(knows, { ...first, as_of: now, money, in_flight });
    }
    this.known = now;
    const tasks = this.tasks.newsOf(change.tasks);
    const next: FedChange = { ...change, tasks, as_of: now };
    const withNews = {
      ...next,
      money: money && this.money.newsOf(money),
      in_flight: in_flight === this.in_flight_shown ? undefined : in_flight,
    };
    this.in_flight_shown = in_flight;
    const withAll = { ...next, money, in_flight };
    for (const stream of streams) {
      stream.push(own.get(stream.knows) ?? (stream.hasMoney ? withNews : withAll));
    }
  }

  /** Counts the running calls from time to time. No event waits for replicas that are slow to answer. */
  private count(): void {
    const now_ms = this.deps.clock.now();
    if (now_ms - this.countedAt_ms < COUNT_EVERY_MS) return;
    this.countedAt_ms = now_ms;
    this.deps.running
      .list(this.organization_id)
      .then(({ total, held_nano_usd, silent_replicas }) => {
        const known = this.in_flight;
        const isNews =
          known?.total !== total ||
          known.held_nano_usd !== held_nano_usd ||
          known.silent_replicas !== silent_replicas;
        if (isNews) this.in_flight = { total, held_nano_usd, silent_replicas };
      })
      .catch(this.deps.onError);
  }
}

/** What the streams know of their organization's money. */
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

/** What the streams know of tasks. A change of one is read twice, because its transaction may commit late. */
class ShownTasks {
  private readonly statuses = new Map<string, string>();

  newsOf(tasks: readonly TaskChange[]): TaskChange[] {
    return tasks.filter(({ id, status }) => {
      if (this.statuses.get(id) === status) return false;
      this.statuses.set(id, status);
      if (this.statuses.size > MAX_TASKS) {
        this.statuses.delete(this.statuses.keys().next().value ?? '');
      }
      return true;
    });
  }
}
