import type { Sql, TransactionSql } from 'postgres';
import {
  type AnyEventObject,
  type AnyMachineSnapshot,
  initialTransition,
  transition,
} from 'xstate';
import {
  type ActorRow,
  createActors,
  type DueTimer,
  type EventRow,
  endOutbox,
  findCommitted,
  insertEvents,
  insertOutbox,
  type Json,
  lockActors,
  lockOwnLife,
  type OutboxRow,
  type TimerChange,
  takeTimer,
  writeActors,
  writeTimers,
} from '../../db/actors/store.ts';
import type { Clock, Ids } from './clock.ts';
import type { DurableKind } from './durable-kind.ts';
import { GroupCommit } from './group-commit.ts';

/** Says something to a durable actor. */
export interface Tell {
  kind: string;
  id: string;
  event: AnyEventObject;
  /** Makes the actor if it does not exist; without it, nobody is told. */
  create?: boolean;
  /** The event is a timer's: it counts only if the timer still stands. */
  timer?: DueTimer;
  /** The event reports an effect: it counts only if the effect had not ended. */
  effect?: { id: string; status: 'done' | 'dead' };
  /** More that has to be true with this commit and not without it, e.g. money set aside. */
  also?: (tx: TransactionSql) => Promise<void>;
}

export type Told =
  /** Committed; `taken` is false where the machine had no use for the event. */
  | { type: 'told'; snapshot: AnyMachineSnapshot; seq: number; taken: boolean }
  /** The timer or the effect had been dealt with before. */
  | { type: 'stale' }
  | { type: 'not_found' }
  /** This replica was declared dead: it may not write any more. */
  | { type: 'fenced' };

/** One committed event, for inspection and for live actors. */
export interface Committed {
  kind: string;
  id: string;
  seq: number;
  event: AnyEventObject;
  snapshot: AnyMachineSnapshot;
  taken: boolean;
}

export interface DurableDeps {
  sql: Sql;
  clock: Clock;
  ids: Ids;
  kinds: readonly DurableKind[];
  replicaId: () => string;
  /** Called after the commit, in its order; must not throw. */
  onCommitted: (events: Committed[], effects: number) => void;
  onError: (error: unknown) => void;
}

type Command = Tell & { command_id: string };

/**
 * Durable actors: their truth is a row (design 3). Telling one something is a transaction that
 * locks the row, asks the pure machine, and writes snapshot, event, timers and outbox together;
 * only after the commit does anybody hear of it.
 */
export class DurableActors {
  private readonly lane: GroupCommit<Command, Told>;
  readonly kinds: ReadonlyMap<string, DurableKind>;

  constructor(private readonly deps: DurableDeps) {
    this.kinds = new Map(deps.kinds.map((kind) => [kind.kind, kind]));
    this.lane = new GroupCommit<Command, Told>({
      clock: deps.clock,
      onError: deps.onError,
      commit: (commands) => this.commit(commands),
      // What an effect brought back is a fact.
      mustCommit: (command) => command.effect !== undefined,
    });
  }

  /** Resolves when what the actor made of it is committed. Repeating it is up to the machine. */
  tell(tell: Tell): Promise<Told> {
    return this.lane.submit({ ...tell, command_id: this.deps.ids.uuid() });
  }

  drain(): Promise<void> {
    return this.lane.drain();
  }

  private async commit(commands: Command[]): Promise<Told[]> {
    const batch = await this.deps.sql.begin(async (tx) => {
      const work = new DurableBatch(tx, this.kinds, this.deps.ids, this.deps.replicaId());
      await work.run(commands);
      return work;
    });
    const { answers, committed, outbox } = batch as DurableBatch;
    this.deps.onCommitted(committed, outbox.length);
    return answers;
  }
}

/** One transaction over many actors. */
class DurableBatch {
  readonly answers: Told[] = [];
  readonly committed: Committed[] = [];
  readonly outbox: OutboxRow[] = [];
  private readonly events: EventRow[] = [];
  private readonly timers: TimerChange[] = [];
  private rows = new Map<string, ActorRow>();
  private readonly snapshots = new Map<string, AnyMachineSnapshot>();

  constructor(
    private readonly tx: TransactionSql,
    private readonly kinds: ReadonlyMap<string, DurableKind>,
    private readonly ids: Ids,
    private readonly replicaId: string,
  ) {}

  async run(commands: Command[]): Promise<void> {
    if (!(await lockOwnLife(this.tx, this.replicaId))) {
      this.answers.push(...commands.map(() => ({ type: 'fenced' }) as const));
      return;
    }
    await this.create(commands.filter((command) => command.create));
    const rows = await lockActors(this.tx, distinct(commands));
    this.rows = new Map(rows.map((row) => [`${row.kind}/${row.id}`, row]));
    const known = await findCommitted(
      this.tx,
      commands.map((command) => command.command_id),
    );
    for (const command of commands) {
      this.answers.push(await this.apply(command, known.has(command.command_id)));
    }
    if (this.events.length > 0) {
      await writeActors(this.tx, [...this.rows.values()]);
      await insertEvents(this.tx, this.events);
      await writeTimers(this.tx, this.timers);
      await insertOutbox(this.tx, this.outbox);
    }
  }

  private async create(commands: Command[]): Promise<void> {
    const rows = distinct(commands).map(({ kind, id }): ActorRow => {
      const { machine, version } = this.kind(kind);
      const [snapshot] = initialTransition(machine);
      return {
        kind,
        id,
        machine_version: version,
        snapshot: stored(snapshot),
        seq: 0,
        live: true,
        owner: this.replicaId,
        epoch: 1,
      };
    });
    // Rows are inserted in the order in which they are locked later.
    await createActors(this.tx, rows);
  }

  private async apply(command: Command, isRepetition: boolean): Promise<Told> {
    const row = this.rows.get(`${command.kind}/${command.id}`);
    if (!row) return { type: 'not_found' };
    const before = this.snapshotOf(row);
    if (isRepetition) return { type: 'told', snapshot: before, seq: row.seq, taken: true };
    if (command.timer && !(await takeTimer(this.tx, command.timer))) return { type: 'stale' };
    const { effect } = command;
    if (effect && !(await endOutbox(this.tx, effect.id, effect.status))) return { type: 'stale' };
    await command.also?.(this.tx);
    const [after, actions] = row.live
      ? transition(this.kind(row.kind).machine, before, command.event)
      : [before, []];
    row.seq += 1;
    const taken = after !== before;
    this.note(row, command, before, after, taken);
    for (const action of actions) this.perform(row, action);
    return { type: 'told', snapshot: after, seq: row.seq, taken };
  }

  private note(
    row: ActorRow,
    { command_id, event }: Command,
    before: AnyMachineSnapshot,
    after: AnyMachineSnapshot,
    taken: boolean,
  ): void {
    const { kind, id, seq } = row;
    row.snapshot = stored(after);
    row.machine_version = this.kind(kind).version;
    row.live = after.status === 'active';
    this.snapshots.set(`${kind}/${id}`, after);
    this.events.push({
      kind,
      actor_id: id,
      seq,
      command_id,
      event: event as unknown as Json,
      from_state: stateName(before),
      to_state: stateName(after),
      taken,
    });
    this.committed.push({ kind, id, seq, event, snapshot: after, taken });
  }

  /** An action is data: a timer to set or cancel, or an effect for the outbox. */
  private perform(row: ActorRow, action: { type: string; params?: unknown }): void {
    const { kind, id: actor_id, seq } = row;
    const params = (action.params ?? {}) as { name?: string; delay_ms?: number; event?: Json };
    if (action.type === 'setTimer' || action.type === 'cancelTimer') {
      const delay_ms = action.type === 'setTimer' ? (params.delay_ms ?? 0) : null;
      this.timers.push({
        kind,
        actor_id,
        name: params.name ?? '',
        delay_ms,
        event: params.event ?? null,
      });
    } else if (action.type in this.kind(kind).effects) {
      const id = this.ids.uuid();
      this.outbox.push({ id, kind, actor_id, seq, effect: action.type, params: params as Json });
    }
  }

  private snapshotOf(row: ActorRow): AnyMachineSnapshot {
    const name = `${row.kind}/${row.id}`;
    const cached = this.snapshots.get(name);
    if (cached) return cached;
    const { machine, version, migrate } = this.kind(row.kind);
    const current =
      row.machine_version === version || !migrate
        ? row.snapshot
        : migrate(row.snapshot, row.machine_version);
    const { value, context } = current as unknown as Pick<AnyMachineSnapshot, 'value' | 'context'>;
    const snapshot = machine.resolveState({ value, context }) as AnyMachineSnapshot;
    this.snapshots.set(name, snapshot);
    return snapshot;
  }

  private kind(name: string): DurableKind {
    const kind = this.kinds.get(name);
    if (!kind) throw new Error(`no durable actor is called ${name}`);
    return kind;
  }
}

function distinct(commands: readonly Command[]): { kind: string; id: string }[] {
  const byName = new Map(commands.map(({ kind, id }) => [`${kind}/${id}`, { kind, id }]));
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, address]) => address);
}

function stored({ value, context }: AnyMachineSnapshot): Json {
  return { value, context } as unknown as Json;
}

/** `processing.polling`; parallel regions as JSON. */
export function stateName({ value }: AnyMachineSnapshot): string {
  const parts: string[] = [];
  let at: unknown = value;
  while (typeof at === 'object' && at !== null) {
    const [[key, inner] = ['', undefined], ...others] = Object.entries(at);
    if (others.length > 0) return [...parts, JSON.stringify(at)].join('.');
    parts.push(key);
    at = inner;
  }
  return [...parts, String(at)].join('.');
}
