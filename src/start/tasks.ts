import type { Sql } from 'postgres';
import type { Channels } from '../actors/channels/channels.ts';
import type { Clock, IdSource } from '../actors/clock.ts';
import type { ActorCommand, CommandResult } from '../actors/durable/command.ts';
import { DurableActors } from '../actors/durable/durable.ts';
import type { InspectionFeed } from '../actors/durable/inspection.ts';
import type { DurableKind } from '../actors/durable/kind.ts';
import { Mailboxes } from '../actors/durable/mailboxes.ts';
import { Outbox } from '../actors/durable/outbox.ts';
import { type CommittedElsewhere, Registry } from '../actors/durable/registry.ts';
import { Timers } from '../actors/durable/timers.ts';
import { Housekeeping, type HousekeepingDeps } from '../actors/housekeeping.ts';
import type { BudgetedTags } from '../actors/money/budgeted-tags.ts';
import type { MoneyHintPublisher } from '../actors/money/money-hints.ts';
import type { CatalogueFor } from '../catalogue/catalogue.ts';
import type { CallLimits } from '../inference/limits/call-limits.ts';
import type { TaskEffectDeps } from '../inference/tasks/deps.ts';
import { TASK_KIND, taskKind } from '../inference/tasks/kind.ts';
import { RunningSubmissions } from '../inference/tasks/running.ts';
import { Tasks } from '../inference/tasks/tasks.ts';

/** What `composeTasks` needs. */
export interface TaskParts
  extends Pick<
    TaskEffectDeps,
    'protocols' | 'storage' | 'fetchResult' | 'bodies' | 'announce' | 'own' | 'fee_ppm'
  > {
  /** After how many days rows are deleted, and who hears of it. */
  readonly retention: Pick<
    HousekeepingDeps,
    'circuit_days' | 'record_days' | 'line_days' | 'onRemoved'
  >;
  /** Database connection for the reads that HTTP requests need. */
  readonly requests: Sql;
  /** Database connection for the transactions of durable actors. */
  readonly durable: Sql;
  /** Database connection for effects and pollers. */
  readonly background: Sql;
  /** Notifies the other replicas of events that this replica committed. Must not throw. */
  readonly announceEvents: (events: readonly CommittedElsewhere[]) => void;
  /** Receives the events of the live actors. */
  readonly feed: InspectionFeed;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: () => number;
  readonly hints: MoneyHintPublisher;
  readonly channels: Channels;
  /** The limits of keys. Without it, no key has any. */
  readonly limits?: CallLimits;
  /** The tags that budgets limit. Without it, no tag has a budget. */
  readonly budgeted?: Pick<BudgetedTags, 'of'>;
  readonly catalogue: CatalogueFor;
  readonly replica: { readonly id: string; isAlive(): boolean };
  /** Kinds of durable actors besides tasks. */
  readonly kinds?: readonly DurableKind[];
  /** Wraps the durable kind `task`. A test uses it to watch or stop effects. */
  readonly decorate?: (kind: DurableKind) => DurableKind;
  readonly onError: (error: unknown, task_id?: string) => void;
}

/** The composed durable actors. */
export interface RunningTasks {
  readonly tasks: Tasks;
  readonly actors: DurableActors;
  /** Sends a command. Throws `service_unavailable` if too many commands wait for this actor. */
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
  readonly registry: Registry;
  readonly outbox: Outbox;
  readonly timers: Timers;
  /**
   * Starts timers and effects, including those of tasks that this replica adopts from dead
   * replicas.
   */
  start(): void;
  /**
   * Starts no new timers and effects, waits until running effects end, and commits their events.
   */
  stop(): Promise<void>;
}

/** Composes durable actors, their timers and effects, and the tasks. */
export function composeTasks(parts: TaskParts): RunningTasks {
  const { clock, ids, random, replica, background, feed, onError } = parts;
  const replica_id = () => replica.id;
  const mayRun = () => replica.isAlive();
  const running = new RunningSubmissions();
  const effects: TaskEffectDeps = { ...parts, sql: background, now: () => clock.now() };
  const kind = taskKind(effects, running);
  const actors: DurableActors = new DurableActors({
    sql: parts.durable,
    clock,
    ids,
    kinds: [parts.decorate?.(kind) ?? kind, ...(parts.kinds ?? [])],
    replica_id,
    hints: parts.hints,
    onCommitted: ({ events, repeated, effects }) => {
      registry.onCommitted(events);
      for (const position of repeated) registry.onRepeated(position);
      parts.announceEvents([...events, ...repeated]);
      tasks.onCommitted(events);
      if (effects > 0) outbox.wake();
    },
    onError,
  });
  const { kinds } = actors;
  const registry = new Registry({ sql: background, clock, kinds, feed, replica_id, onError });
  const mailboxes = new Mailboxes((command) => actors.send(command));
  const pollers = { sql: background, clock, actors, replica_id, mayRun, onError };
  const outbox = new Outbox({ ...pollers, random });
  const timers = new Timers(pollers);
  const housekeeping = new Housekeeping({
    sql: background,
    clock,
    ...parts.retention,
    onError,
  });
  const tasks = new Tasks({
    sql: parts.requests,
    clock,
    ids,
    channels: parts.channels,
    own: parts.own,
    limits: parts.limits,
    budgeted: parts.budgeted,
    send: (command) => mailboxes.send(command),
    watch: (id, watcher) => registry.watch({ kind: TASK_KIND, id }, watcher),
    running,
    mayAdmit: mayRun,
    onError,
  });
  return {
    tasks,
    actors,
    send: (command) => mailboxes.send(command),
    registry,
    outbox,
    timers,
    start() {
      registry.start();
      timers.start();
      outbox.start();
      housekeeping.start();
    },
    async stop() {
      await housekeeping.stop();
      await timers.stop();
      await outbox.stop();
      await actors.drain();
      await registry.stop();
    },
  };
}
