import type { Sql } from 'postgres';
import type { AnyEventObject } from 'xstate';
import {
  type ActorPosition,
  findMovedActors,
  type LiveActorRow,
  listOwnedActors,
  type OwnedActor,
  readActors,
  readEventsAfter,
} from '../../../db/actors/live.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import type { LiveActor } from './live-actor.ts';
import { actorName, type Residents, TIMER_SOON_MS } from './residents.ts';

/** The most actors that one query reads. */
const MAX_ACTORS_PER_QUERY = 1_000;
/** The most events that one query reads. */
const MAX_EVENTS_PER_QUERY = 5_000;
/** Pause after a failed query. */
const RETRY_MS = 500;
/**
 * If this many actors are in memory, `restoreOwned` reads only actors with a timer that fires soon.
 * The remaining actors are read at their next event. So a replica that adopts 100,000 tasks does
 * not need memory for all of them at once.
 */
export const MAX_IDLE_RESTORED = 10_000;

/** Sorts before every actor. */
const FIRST: ActorAddress = { kind: '', id: '' };

/** An actor whose row is read into memory. */
interface Restoration {
  readonly address: ActorAddress;
  /** The largest event number of this actor that was reported while its row was read. */
  known_seq: number;
  readonly restored: PromiseWithResolvers<LiveActor | undefined>;
}

/** The progress of reading all actors of one replica, page by page. */
interface OwnedActors {
  readonly owner: string;
  /** The last actor that was read. */
  after: ActorAddress;
  /** True if the replica adopted more actors during the reading. Then all actors are read again. */
  again: boolean;
  readonly end: PromiseWithResolvers<void>;
}

export interface CatchUpDeps {
  readonly sql: Sql;
  readonly residents: Residents;
  readonly replica_id: () => string;
  /** Calls `callback` once after `delay_ms`. */
  readonly after: (delay_ms: number, callback: () => void) => () => void;
  /** Creates a live actor from a row. */
  readonly create: (row: LiveActorRow) => LiveActor;
  /** Sends a committed event to a live actor. Must not throw. */
  readonly apply: (actor: LiveActor, event: AnyEventObject, seq: number, taken: boolean) => void;
  /** Called after an actor was created again from its row, because it could not take its events. */
  readonly onReplaced: (actor: LiveActor) => void;
  /** Removes a live actor that has no row any more. */
  readonly remove: (actor: LiveActor) => void;
  /** The version of the current machine of a kind. */
  readonly versionOf: (kind: string) => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads what live actors need from the database: the rows of actors that are not in memory, and
 * the events that other replicas committed. One loop runs one query at a time, and each query reads
 * many actors. So a few queries suffice, and no result is older than an earlier result.
 */
export class CatchUp {
  private readonly waiting = new Map<string, Restoration>();
  /** The restorations that the running query reads. */
  private reading: ReadonlyMap<string, Restoration> = new Map();
  /** Live actors that did not get all their committed events. */
  private readonly behind = new Set<LiveActor>();
  /** Actors that may have missed an event of another replica. */
  private readonly doubtful = new Set<LiveActor>();
  private owned: OwnedActors | undefined;
  private gaps = 0;
  private running: Promise<void> | undefined;
  private stopped = false;
  private stopClock: () => void = () => undefined;

  constructor(private readonly deps: CatchUpDeps) {}

  /** Ends the reading. The promises of waiting `restore` calls reject. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    await this.idle();
    for (const { restored } of this.waiting.values()) restored.reject(stoppedError());
    this.waiting.clear();
    this.owned?.end.resolve();
  }

  /** Resolves when no query runs. After a failed query, work may remain for the next attempt. */
  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  /**
   * Reads an actor into memory. Resolves with the live actor, or undefined if there is no such
   * actor. Rejects if the database cannot be read. An actor that has ended is returned, but does
   * not stay in memory. The query starts after this call, so it sees all earlier commits.
   */
  restore(address: ActorAddress): Promise<LiveActor | undefined> {
    if (this.stopped) return Promise.reject(stoppedError());
    const name = actorName(address);
    const restoration = this.waiting.get(name) ?? newRestoration(address);
    this.waiting.set(name, restoration);
    this.wake();
    return restoration.restored.promise;
  }

  /**
   * Records that event `seq` of an actor is committed. If the live actor has not got this event,
   * its missing events are read.
   */
  noteEvent(name: string, seq: number): void {
    const restoration = this.reading.get(name);
    if (restoration) restoration.known_seq = Math.max(restoration.known_seq, seq);
    const actor = this.deps.residents.find(name);
    if (!actor) return;
    actor.known_seq = Math.max(actor.known_seq, seq);
    if (!actor.isBehind) return;
    this.behind.add(actor);
    this.wake();
  }

  /** Compares actors with their rows, and reads the events that they miss. */
  compare(actors: Iterable<LiveActor>): void {
    for (const actor of actors) this.doubtful.add(actor);
    this.wake();
  }

  /** Compares all actors with their rows, even actors whose rows are being read. */
  compareAll(): void {
    this.gaps += 1;
    this.compare(this.deps.residents.all());
  }

  /**
   * Reads the actors of the replica `owner` that have not ended. If they are too many, reads only
   * actors with a timer that fires soon (`MAX_IDLE_RESTORED`). Resolves when all are read. While
   * the database is unreachable, the reading is tried again.
   */
  restoreOwned(owner: string): Promise<void> {
    if (this.stopped) return Promise.resolve();
    if (this.owned?.owner === owner) {
      this.owned.again = true;
      return this.owned.end.promise;
    }
    this.owned?.end.resolve();
    this.owned = { owner, after: FIRST, again: false, end: Promise.withResolvers() };
    this.wake();
    return this.owned.end.promise;
  }

  private get hasWork(): boolean {
    return (
      this.waiting.size + this.behind.size + this.doubtful.size > 0 || this.owned !== undefined
    );
  }

  private readonly wake = (): void => {
    if (!this.stopped && this.hasWork) this.running ??= this.run();
  };

  private async run(): Promise<void> {
    try {
      while (!this.stopped && this.hasWork) {
        await this.restoreSome();
        await this.applySome();
        await this.compareSome();
        await this.restoreOwnedPage();
      }
    } catch (error) {
      if (!this.stopped) this.onFailed(error);
    }
    this.running = undefined;
  }

  private onFailed(error: unknown): void {
    this.deps.onError(error);
    this.stopClock();
    this.stopClock = this.deps.after(RETRY_MS, this.wake);
  }

  private async restoreSome(): Promise<void> {
    const batch = new Map(take(this.waiting, MAX_ACTORS_PER_QUERY));
    for (const name of batch.keys()) this.waiting.delete(name);
    await this.readRows(batch);
  }

  /** Reads the next page of owned actors. After a failure, the same page is read again. */
  private async restoreOwnedPage(): Promise<void> {
    const { owned } = this;
    if (!owned) return;
    const { owner, after, end } = owned;
    const { sql } = this.deps;
    const page = await listOwnedActors(sql, owner, after, MAX_ACTORS_PER_QUERY, TIMER_SOON_MS);
    // If this replica was declared dead, it has a new id, and `owner` owns no actors any more.
    const isOwner = owner === this.deps.replica_id();
    if (isOwner) {
      const wanted = page.filter((each) => this.isWanted(each, owner));
      await this.readRows(new Map(wanted.map((each) => [actorName(each), newRestoration(each)])));
    }
    owned.after = page.at(-1) ?? after;
    if (isOwner && page.length === MAX_ACTORS_PER_QUERY) return;
    if (isOwner && owned.again) {
      Object.assign(owned, { after: FIRST, again: false });
      return;
    }
    end.resolve();
    if (this.owned === owned) this.owned = undefined;
  }

  /** True if the row of an actor that this replica owns must be read into memory. */
  private isWanted(actor: OwnedActor, owner: string): boolean {
    const resident = this.deps.residents.find(actorName(actor));
    if (resident) return resident.owner !== owner;
    return actor.is_due || this.deps.residents.size < MAX_IDLE_RESTORED;
  }

  private async readRows(batch: ReadonlyMap<string, Restoration>): Promise<void> {
    if (batch.size === 0) return;
    this.reading = batch;
    const { gaps } = this;
    try {
      const rows = await this.rowsOf([...batch.values()].map(({ address }) => address));
      for (const [name, { address, known_seq, restored }] of batch) {
        const row = rows.get(name);
        try {
          // A later event was reported during the query, so the row is too old and is read again.
          // The live actor cannot be used instead: it may have ended and been removed.
          const isOld = known_seq > (row?.seq ?? 0);
          restored.resolve(isOld ? this.restore(address) : this.addRow(row, gaps));
        } catch (error) {
          this.deps.onError(error);
          restored.reject(error);
        }
      }
    } catch (error) {
      for (const { restored } of batch.values()) restored.reject(error);
      throw error;
    } finally {
      this.reading = new Map();
    }
  }

  /**
   * Returns the live actor of a row. If the actor is already in memory, it is not created again; it
   * only gets its missing events. `gaps` is the number of gaps before the row was read.
   */
  private addRow(row: LiveActorRow | undefined, gaps: number): LiveActor | undefined {
    if (!row) return undefined;
    const name = actorName(row);
    const resident = this.deps.residents.find(name);
    if (resident) {
      resident.onRow(row);
      this.noteEvent(name, row.seq);
      return resident;
    }
    const actor = this.deps.create(row);
    if (!actor.hasEnded) this.add(actor, gaps);
    return actor;
  }

  /**
   * Adds an actor. If a gap came while its row was read, the row may be too old: it is compared.
   */
  private add(actor: LiveActor, gaps: number): void {
    this.deps.residents.add(actor);
    if (gaps !== this.gaps) this.doubtful.add(actor);
    if (actor.isBehind) this.behind.add(actor);
  }

  private async compareSome(): Promise<void> {
    const batch = take(this.doubtful, MAX_ACTORS_PER_QUERY);
    for (const actor of batch) this.doubtful.delete(actor);
    const positions = batch.filter((actor) => this.isResident(actor)).map(positionOf);
    if (positions.length === 0) return;
    try {
      for (const moved of await findMovedActors(this.deps.sql, positions)) {
        this.noteEvent(actorName(moved), moved.seq);
      }
    } catch (error) {
      for (const actor of batch) this.doubtful.add(actor);
      throw error;
    }
  }

  private async applySome(): Promise<void> {
    for (const actor of this.behind) {
      if (!actor.isBehind || !this.isResident(actor)) this.behind.delete(actor);
    }
    const batch = take(this.behind, MAX_ACTORS_PER_QUERY);
    if (batch.length === 0) return;
    const before = new Map(batch.map((actor) => [actor, actor.seq]));
    const events = await readEventsAfter(
      this.deps.sql,
      batch.filter(({ isBroken }) => !isBroken).map(positionOf),
      MAX_EVENTS_PER_QUERY,
    );
    const read = new Set<LiveActor>();
    for (const { kind, id, seq, event, taken, machine_version } of events) {
      const actor = this.deps.residents.find(`${kind}/${id}`);
      if (!actor) continue;
      read.add(actor);
      if (actor.isBroken || seq !== actor.seq + 1) continue;
      if (machine_version !== this.deps.versionOf(kind)) continue;
      this.deps.apply(actor, event as unknown as AnyEventObject, seq, taken);
    }
    // A full page may end before the first event of an actor. Its events are read in the next
    // round.
    const isWhole = events.length < MAX_EVENTS_PER_QUERY;
    const hadTurn = (actor: LiveActor) => isWhole || read.has(actor) || actor.isBroken;
    const hasMoved = (actor: LiveActor) => actor.seq !== before.get(actor) && !actor.isBroken;
    await this.replace(batch.filter((actor) => hadTurn(actor) && !hasMoved(actor)));
  }

  /**
   * Creates actors again from their rows, because they cannot take their next event: their machine
   * threw, the log does not contain the event, or the event is of another machine version.
   */
  private async replace(stuck: readonly LiveActor[]): Promise<void> {
    if (stuck.length === 0) return;
    const { gaps } = this;
    const before = stuck.map(({ known_seq }) => known_seq);
    const rows = await this.rowsOf(stuck.map(positionOf));
    for (const [index, actor] of stuck.entries()) {
      if (!this.isResident(actor) || !actor.isBehind) continue;
      const row = rows.get(actorName(actor));
      if (!row) this.deps.remove(actor);
      else if (row.seq > actor.seq) this.replaceBy(row, actor, gaps);
      // The reported event does not exist. An event that was reported later is read next.
      else if (actor.known_seq === before[index]) actor.known_seq = actor.seq;
    }
  }

  private replaceBy(row: LiveActorRow, actor: LiveActor, gaps: number): void {
    // If the actor cannot be created here, the next comparison of watched actors tries again.
    this.behind.delete(actor);
    try {
      const successor = this.deps.create(row);
      successor.known_seq = Math.max(actor.known_seq, row.seq);
      this.add(successor, gaps);
      this.deps.onReplaced(successor);
    } catch (error) {
      this.deps.onError(error);
      if (!actor.isWatched) this.deps.remove(actor);
    }
  }

  private async rowsOf(addresses: readonly ActorAddress[]): Promise<Map<string, LiveActorRow>> {
    const rows = await readActors(this.deps.sql, addresses);
    if (this.stopped) throw stoppedError();
    return new Map(rows.map((row) => [actorName(row), row]));
  }

  private isResident(actor: LiveActor): boolean {
    return this.deps.residents.find(actorName(actor)) === actor;
  }
}

function newRestoration(address: ActorAddress): Restoration {
  const restored = Promise.withResolvers<LiveActor | undefined>();
  // If nobody awaits the promise, its rejection must not end the process.
  restored.promise.catch(() => undefined);
  return { address, known_seq: 0, restored };
}

function positionOf({ kind, id, seq }: LiveActor): ActorPosition {
  return { kind, id, seq };
}

function stoppedError(): Error {
  return new Error('the live actors of this process are stopped, so no actor can be read');
}

/** The first items, at most `limit`. */
function take<Item>(items: Iterable<Item>, limit: number): Item[] {
  return Iterator.from(items).take(limit).toArray();
}
