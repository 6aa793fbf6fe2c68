import type { Sql } from 'postgres';
import type { AnyEventObject } from 'xstate';
import {
  type ActorPosition,
  findMovedActors,
  type LiveActorRow,
  readActors,
  readEventsAfter,
  readOwnedActors,
} from '../../../db/actors/live.ts';
import type { ActorAddress } from '../../../db/actors/store.ts';
import type { LiveActor } from './live-actor.ts';
import { actorName, type Residents } from './residents.ts';

/** The most actors that one query reads. */
const MAX_ACTORS_PER_QUERY = 1_000;
/** The most events that one query reads. */
const MAX_EVENTS_PER_QUERY = 5_000;
/** After a failed query, the reading goes on after this time. */
const RETRY_MS = 500;

/** An actor that is being read from its row. */
interface Restoration {
  readonly address: ActorAddress;
  /** The largest number of its events that this replica has heard of. */
  known_seq: number;
  readonly restored: PromiseWithResolvers<LiveActor | undefined>;
}

export interface CatchUpDeps {
  readonly sql: Sql;
  readonly residents: Residents;
  /** Calls `callback` once after `delay_ms`. */
  readonly after: (delay_ms: number, callback: () => void) => () => void;
  /** Makes a live actor of a row. */
  readonly create: (row: LiveActorRow) => LiveActor;
  /** Sends a committed event to a live actor. Must not throw. */
  readonly apply: (actor: LiveActor, event: AnyEventObject, seq: number, taken: boolean) => void;
  /** Called after an actor was created again from its row, because its events were not enough. */
  readonly onReplaced: (actor: LiveActor) => void;
  /** The version of the current machine of a kind. */
  readonly versionOf: (kind: string) => number;
  readonly onError: (error: unknown) => void;
}

/**
 * Reads what live actors need from the database: the rows of actors that are not in memory yet, and
 * the events that other replicas committed. One loop reads for all actors, so many requests cost
 * few queries.
 */
export class CatchUp {
  private readonly restorations = new Map<string, Restoration>();
  private readonly behind = new Set<LiveActor>();
  private running: Promise<void> | undefined;
  private stopped = false;
  private stopClock: () => void = () => undefined;

  constructor(private readonly deps: CatchUpDeps) {}

  stop(): Promise<void> {
    this.stopped = true;
    this.stopClock();
    return this.idle();
  }

  /** Resolves when nothing is being read. */
  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  /**
   * Reads an actor into memory. Resolves with the live actor, or undefined if there is no such
   * actor. Rejects if the database cannot be read. An actor that has ended is not added to the
   * residents.
   */
  restore(address: ActorAddress, known_seq = 0): Promise<LiveActor | undefined> {
    const name = actorName(address);
    let restoration = this.restorations.get(name);
    if (!restoration) {
      restoration = { address, known_seq, restored: Promise.withResolvers() };
      this.restorations.set(name, restoration);
    }
    restoration.known_seq = Math.max(restoration.known_seq, known_seq);
    this.wake();
    return restoration.restored.promise;
  }

  /** Records that an actor, which may be under restoration, has an event `seq`. */
  onHeard(name: string, seq: number): void {
    const actor = this.deps.residents.find(name);
    if (actor && seq > actor.known_seq) actor.known_seq = seq;
    if (actor?.isBehind) {
      this.behind.add(actor);
      this.wake();
    }
    const restoration = this.restorations.get(name);
    if (restoration) restoration.known_seq = Math.max(restoration.known_seq, seq);
  }

  /** Compares actors with their rows, and reads the events that they miss. */
  async compare(actors: Iterable<LiveActor>): Promise<void> {
    const positions: ActorPosition[] = [];
    for (const { kind, id, seq } of actors) positions.push({ kind, id, seq });
    for (let start = 0; start < positions.length; start += MAX_ACTORS_PER_QUERY) {
      const chunk = positions.slice(start, start + MAX_ACTORS_PER_QUERY);
      for (const moved of await findMovedActors(this.deps.sql, chunk)) {
        this.onHeard(actorName(moved), moved.seq);
      }
    }
    await this.idle();
  }

  /** Reads all actors of the replica `owner` that have not ended. */
  async restoreOwned(owner: string): Promise<void> {
    let after: ActorAddress = { kind: '', id: '' };
    for (;;) {
      const rows = await readOwnedActors(this.deps.sql, owner, after, MAX_ACTORS_PER_QUERY);
      for (const row of rows) if (!this.stopped) this.addRow(row);
      const last = rows.at(-1);
      if (!last || rows.length < MAX_ACTORS_PER_QUERY) return;
      after = { kind: last.kind, id: last.id };
    }
  }

  private wake(): void {
    if (this.stopped) return;
    this.running ??= this.run()
      .catch((error: unknown) => this.onFailed(error))
      .finally(() => {
        this.running = undefined;
        if (this.restorations.size > 0) this.wake();
      });
  }

  private async run(): Promise<void> {
    while (!this.stopped && this.restorations.size + this.behind.size > 0) {
      await this.restoreSome();
      await this.applySome();
    }
  }

  /** Whoever waits for a restoration gets the error. Actors that are behind are read later. */
  private onFailed(error: unknown): void {
    this.deps.onError(error);
    for (const { restored } of this.restorations.values()) restored.reject(error);
    this.restorations.clear();
    this.stopClock = this.deps.after(RETRY_MS, () => {
      if (this.behind.size > 0) this.wake();
    });
  }

  private async restoreSome(): Promise<void> {
    const batch = take(this.restorations.entries(), MAX_ACTORS_PER_QUERY);
    if (batch.length === 0) return;
    const rows = await readActors(
      this.deps.sql,
      batch.map(([, { address }]) => address),
    );
    const byName = new Map(rows.map((row) => [actorName(row), row]));
    for (const [name, { known_seq, restored }] of batch) {
      this.restorations.delete(name);
      const row = byName.get(name);
      if (row) restored.resolve(this.addRow(row));
      else restored.resolve(undefined);
      this.onHeard(name, known_seq);
    }
  }

  /** Returns the live actor of a row. An actor that is in memory already only gets its events. */
  private addRow(row: LiveActorRow): LiveActor {
    const name = actorName(row);
    const resident = this.deps.residents.find(name);
    if (!resident) {
      const actor = this.deps.create(row);
      if (row.live) this.deps.residents.add(actor);
      return actor;
    }
    resident.onRow(row.owner, row.timers);
    this.onHeard(name, row.seq);
    return resident;
  }

  private async applySome(): Promise<void> {
    const batch = take(this.behind.values(), MAX_ACTORS_PER_QUERY);
    if (batch.length === 0) return;
    const events = await readEventsAfter(
      this.deps.sql,
      batch.map(positionOf),
      MAX_EVENTS_PER_QUERY,
    );
    const stuck = new Map(batch.map((actor) => [actorName(actor), actor]));
    for (const { kind, id, seq, event, taken, machine_version } of events) {
      const name = `${kind}/${id}`;
      const actor = this.deps.residents.find(name);
      if (machine_version !== this.deps.versionOf(kind)) continue;
      if (actor && seq === actor.seq + 1) {
        this.deps.apply(actor, event as unknown as AnyEventObject, seq, taken);
      }
      if (actor && seq <= actor.seq) stuck.delete(name);
    }
    for (const actor of batch) if (!actor.isBehind) this.behind.delete(actor);
    // A page that is full may end before the first event of an actor. Its turn comes again.
    if (events.length === MAX_EVENTS_PER_QUERY) return;
    await this.replace([...stuck.values()]);
  }

  /**
   * Creates actors again from their rows, because the log has no events that they can take, e.g.
   * after an event of an earlier version of the machine.
   */
  async replace(actors: readonly LiveActor[]): Promise<void> {
    if (actors.length === 0) return;
    const rows = await readActors(this.deps.sql, actors.map(positionOf));
    const byName = new Map(rows.map((row) => [actorName(row), row]));
    for (const actor of actors) {
      this.behind.delete(actor);
      const row = byName.get(actorName(actor));
      if (!row || this.deps.residents.find(actorName(actor)) !== actor) continue;
      const successor = this.deps.create(row);
      this.deps.residents.add(successor);
      this.deps.onReplaced(successor);
    }
  }
}

function positionOf({ kind, id, seq }: LiveActor): ActorPosition {
  return { kind, id, seq };
}

function take<Item>(items: Iterable<Item>, limit: number): Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    if (taken.length === limit) break;
    taken.push(item);
  }
  return taken;
}
