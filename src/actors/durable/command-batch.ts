import type { TransactionSql } from 'postgres';
import { type AnyMachineSnapshot, initialTransition } from 'xstate';
import {
  type EventMoney,
  type EventRow,
  findCommitted,
  insertEvents,
} from '../../../db/actors/history.ts';
import {
  type ActorRow,
  createActors,
  deleteActorsWithoutEvents,
  endOutbox,
  insertOutbox,
  type JsonValue,
  lockActors,
  lockLiveReplica,
  type OutboxRow,
  type TimerChange,
  takeTimers,
  timerKey,
  timerPrefix,
  writeActors,
  writeTimers,
} from '../../../db/actors/store.ts';
import { statePath, takeEvent, topState } from '../../replay/step.ts';
import { restoreSnapshot, storedSnapshot } from '../../replay/stored-snapshot.ts';
import type { IdSource } from '../clock.ts';
import { applyMoneyCommands } from '../money/ledger.ts';
import { MoneyHints } from '../money/money-hints.ts';
import type {
  CommandResult,
  CommittedEvent,
  IdentifiedCommand,
  RepeatedCommand,
} from './command.ts';
import { isAccepted, moneyOf } from './event-money.ts';
import type { DurableKind, StateChange } from './kind.ts';
import { hashSnapshot } from './snapshot.ts';

/** A command with its transition; or only its result, if the machine does not get the event. */
type Step = { answer: CommandResult } | Taken;

interface Taken {
  command: IdentifiedCommand;
  row: ActorRow;
  before: AnyMachineSnapshot;
  after: AnyMachineSnapshot;
  actions: readonly { type: string; params?: unknown }[];
  /** What the ledger did; null until the money has moved, or if the command moves none. */
  money: EventMoney | null;
}

/**
 * True if an earlier command handled this command's timer or effect, so that `timers` or `effects`
 * lacks it. Otherwise removes the timer or effect from its set. So a later command for the same
 * timer or effect is refused as stale.
 */
function isAlreadyHandled(
  { timer, effect }: IdentifiedCommand,
  timers: Set<string>,
  effects: Set<string>,
): boolean {
  if (timer && !timers.delete(timerKey(timer))) return true;
  return effect !== undefined && !effects.delete(effect.id);
}

/**
 * Removes from `timers` the timers that the step sets or cancels. So if such a timer sent a later
 * command of the same batch, that command is stale.
 */
function removeChangedTimers(step: Step, timers: Set<string>): void {
  if (!('command' in step) || timers.size === 0) return;
  for (const { type, params } of step.actions) {
    if (type !== 'setTimer' && type !== 'cancelTimer') continue;
    const { name } = params as { name: string };
    const prefix = timerPrefix({ kind: step.row.kind, actor_id: step.row.id, name });
    for (const key of timers) if (key.startsWith(prefix)) timers.delete(key);
  }
}

/** Executes commands for many actors in the transaction `tx`. */
export class CommandBatch {
  readonly answers: CommandResult[] = [];
  readonly committed: CommittedEvent[] = [];
  /** Actors whose commands were committed by an earlier run of the batch. */
  readonly repeated: RepeatedCommand[] = [];
  readonly outbox: OutboxRow[] = [];
  /** The messages for all replicas, to be sent after the commit. */
  hints = new MoneyHints();
  private readonly events: EventRow[] = [];
  private readonly timers: TimerChange[] = [];
  private rows = new Map<string, ActorRow>();
  private readonly snapshots = new Map<string, AnyMachineSnapshot>();

  constructor(
    private readonly tx: TransactionSql,
    private readonly kinds: ReadonlyMap<string, DurableKind>,
    private readonly ids: IdSource,
    private readonly replica_id: string,
  ) {}

  async run(commands: IdentifiedCommand[]): Promise<void> {
    if (!(await lockLiveReplica(this.tx, this.replica_id))) {
      this.answers.push(...commands.map(() => ({ type: 'fenced' }) as const));
      return;
    }
    await this.create(commands.filter((command) => command.create));
    const rows = await lockActors(this.tx, distinctActors(commands));
    this.rows = new Map(rows.map((row) => [`${row.kind}/${row.id}`, row]));
    const known = await findCommitted(
      this.tx,
      commands.map((command) => command.command_id),
    );
    const steps: Step[] = [];
    const fresh = commands.filter(
      ({ kind, id, command_id }) => this.rows.has(`${kind}/${id}`) && !known.has(command_id),
    );
    // The two sets hold the timers and effects that are pending. The first command for a timer or
    // effect removes it from the set. So a timer fires once and an effect ends once.
    const timers = await takeTimers(
      this.tx,
      fresh.flatMap(({ timer }) => timer ?? []),
    );
    const effects = await endOutbox(
      this.tx,
      fresh.flatMap(({ effect }) => effect ?? []),
    );
    for (const command of commands) {
      const isStale = !known.has(command.command_id) && isAlreadyHandled(command, timers, effects);
      const step = this.decide(command, known.has(command.command_id), isStale);
      removeChangedTimers(step, timers);
      steps.push(step);
    }
    await this.moveMoney(steps);
    for (const step of steps) this.answers.push(await this.applyStep(step));
    if (this.events.length > 0) {
      await writeActors(this.tx, [...this.rows.values()]);
      await insertEvents(this.tx, this.events);
      await writeTimers(this.tx, this.timers);
      await insertOutbox(this.tx, this.outbox);
      await this.project();
    }
  }

  private async create(commands: IdentifiedCommand[]): Promise<void> {
    const rows = distinctActors(commands).map(({ kind, id, organization_id }): ActorRow => {
      const { machine, version } = this.requireKind(kind);
      const [snapshot] = initialTransition(machine);
      return {
        kind,
        id,
        organization_id: organization_id ?? null,
        machine_version: version,
        snapshot: storedSnapshot(snapshot),
        state: statePath(snapshot),
        entered: true,
        seq: 0,
        live: true,
        owner: this.replica_id,
        epoch: 1,
      };
    });
    // Rows are inserted in the same order as they are locked, which prevents deadlocks.
    await createActors(this.tx, rows);
  }

  /** Applies the event to the machine in memory, and writes nothing. */
  private decide(command: IdentifiedCommand, isRepetition: boolean, isStale: boolean): Step {
    const row = this.rows.get(`${command.kind}/${command.id}`);
    if (!row) return { answer: { type: 'not_found' } };
    const before = this.snapshotOf(row);
    if (isRepetition) {
      const { kind, id, seq, owner } = row;
      this.repeated.push({ kind, id, seq, owner });
      return { answer: { type: 'committed', snapshot: before, seq: row.seq, taken: true } };
    }
    if (isStale) return { answer: { type: 'stale' } };
    const { machine } = this.requireKind(row.kind);
    const [after, actions] = takeEvent(machine, before, command.event);
    row.live = after.status === 'active';
    this.snapshots.set(`${row.kind}/${row.id}`, after);
    return { command, row, before, after, actions, money: null };
  }

  /**
   * Moves all money of the batch in one call. So organizations and keys are locked in id order,
   * before other statements refer to these rows. If the ledger refuses a command that creates its
   * actor, only this command is undone. If it refuses another command, the whole batch fails.
   */
  private async moveMoney(steps: Step[]): Promise<void> {
    const moneySteps = steps.flatMap((step, index) => {
      if (!('command' in step) || !step.command.money || step.after === step.before) return [];
      return [{ step, index, money: step.command.money }];
    });
    if (moneySteps.length === 0) return;
    const { answers, hints } = await applyMoneyCommands(
      this.tx,
      moneySteps.map(({ money }) => money),
    );
    this.hints = hints;
    const undoneRows: { kind: string; id: string }[] = [];
    moneySteps.forEach(({ step, index, money }, position) => {
      const answer = answers[position];
      if (answer && isAccepted(money, answer)) {
        step.money = moneyOf(money, answer);
        return;
      }
      const { command, row } = step;
      if (!answer || !command.create || row.seq > 0) {
        throw new Error(
          `ledger refused ${command.event.type} of ${row.kind}/${row.id}: ${JSON.stringify(answer)}`,
        );
      }
      steps[index] = { answer: { type: 'refused', answer } };
      this.rows.delete(`${row.kind}/${row.id}`);
      undoneRows.push(row);
    });
    await deleteActorsWithoutEvents(this.tx, undoneRows);
  }

  private async applyStep(step: Step): Promise<CommandResult> {
    if ('answer' in step) return step.answer;
    const { command, row, before, after, actions } = step;
    // The actor's creation was refused in this batch.
    if (!this.rows.has(`${row.kind}/${row.id}`)) return { type: 'not_found' };
    await command.inTransaction?.(this.tx);
    row.seq += 1;
    const taken = after !== before;
    this.recordEvent(step, taken);
    for (const action of actions) this.recordAction(row, action);
    return { type: 'committed', snapshot: after, seq: row.seq, taken };
  }

  /** Lets each kind write its own tables, in the same transaction as its actor rows. */
  private async project(): Promise<void> {
    const byKind = new Map<string, StateChange[]>();
    for (const { kind, actor_id: id, from_state, to_state } of this.events) {
      if (from_state === to_state || !this.requireKind(kind).project) continue;
      const snapshot = this.snapshots.get(`${kind}/${id}`);
      if (!snapshot) continue;
      const changes = byKind.get(kind) ?? [];
      changes.push({ id, from_state, to_state, snapshot });
      byKind.set(kind, changes);
    }
    for (const [kind, changes] of byKind) await this.requireKind(kind).project?.(this.tx, changes);
  }

  private recordEvent(
    { command, row, before, after, actions, money }: Taken,
    taken: boolean,
  ): void {
    const { kind, id, seq, organization_id } = row;
    const { command_id, event } = command;
    const machine_version = this.requireKind(kind).version;
    const from_state = statePath(before);
    const state = statePath(after);
    const context_hash = hashSnapshot(after);
    row.snapshot = storedSnapshot(after);
    row.machine_version = machine_version;
    row.state = state;
    row.entered ||= topState(state) !== topState(from_state);
    const facts = { kind, seq, taken, machine_version, context_hash, money };
    this.events.push({
      ...facts,
      actor_id: id,
      command_id,
      event: event as unknown as JsonValue,
      from_state,
      to_state: state,
    });
    const { owner } = row;
    this.committed.push({
      ...facts,
      id,
      organization_id,
      event,
      before,
      snapshot: after,
      actions,
      state,
      owner,
    });
  }

  /** Turns an action into a change of a timer, or into an outbox row for an effect. */
  private recordAction(row: ActorRow, action: { type: string; params?: unknown }): void {
    const { kind, id: actor_id, seq } = row;
    const params = (action.params ?? {}) as { name?: string; delay_ms?: number; event?: JsonValue };
    if (action.type === 'setTimer' || action.type === 'cancelTimer') {
      const delay_ms = action.type === 'setTimer' ? (params.delay_ms ?? 0) : null;
      this.timers.push({
        kind,
        actor_id,
        name: params.name ?? '',
        seq,
        delay_ms,
        event: params.event ?? null,
      });
    } else if (action.type in this.requireKind(kind).effects) {
      const id = this.ids.uuid();
      this.outbox.push({
        id,
        kind,
        actor_id,
        seq,
        effect: action.type,
        params: params as JsonValue,
      });
    }
  }

  private snapshotOf(row: ActorRow): AnyMachineSnapshot {
    const name = `${row.kind}/${row.id}`;
    const cached = this.snapshots.get(name);
    if (cached) return cached;
    const snapshot = restoreSnapshot(this.requireKind(row.kind), row);
    this.snapshots.set(name, snapshot);
    return snapshot;
  }

  private requireKind(name: string): DurableKind {
    const kind = this.kinds.get(name);
    if (!kind) throw new Error(`unknown kind of durable actor: ${name}`);
    return kind;
  }
}

/** Returns the first command to each actor, in the order in which rows are locked. */
function distinctActors(commands: readonly IdentifiedCommand[]): IdentifiedCommand[] {
  const byName = new Map<string, IdentifiedCommand>();
  for (const command of commands) {
    const name = `${command.kind}/${command.id}`;
    if (!byName.has(name)) byName.set(name, command);
  }
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, command]) => command);
}
