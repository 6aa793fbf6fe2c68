import type { Sql, TransactionSql } from 'postgres';
import {
  findTaskRequest,
  findTaskView,
  insertTask,
  type TaskRequest,
} from '../../../db/tasks/rows.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';
import type { ActorCommand, CommandResult, CommittedEvent } from '../../actors/durable/command.ts';
import type { Quotas } from '../../actors/money/quotas.ts';
import { estimateGeneration } from '../../catalogue/generation-price.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { resolveContinuation } from './continuation.ts';
import { TaskEndings } from './endings.ts';
import { taskError } from './failures.ts';
import { withHold } from './hold.ts';
import { TASK_KIND } from './kind.ts';
import type { CreateTask, TaskPort, TaskView } from './port.ts';
import type { RunningSubmissions } from './running.ts';
import { viewOf } from './view.ts';

const ID_PREFIX = 'weir_';
/** A hold outlives its task's deadline by far: the task ends it, however late. */
const HOLD_EXPIRES_AFTER_MS = 30 * 24 * 3_600_000;
const UNIQUE_VIOLATION = '23505';

export interface TasksDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly quotas: Quotas;
  /** Tells the task's actor; throws WeirError when too much is asked of it at once. */
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
  readonly running: RunningSubmissions;
  /** False while this replica's lease may have ended: nothing new is taken on then. */
  readonly mayAdmit: () => boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * Durable generation tasks as the routes see them. A create is one transaction: idempotency key,
 * task, actor with its first event, and the hold that pays, or nothing of it (P4, P7).
 */
export class Tasks implements TaskPort {
  private readonly endings: TaskEndings;

  constructor(private readonly deps: TasksDeps) {
    this.endings = new TaskEndings(deps.clock);
  }

  async create(ask: CreateTask): Promise<TaskView> {
    if (!this.deps.mayAdmit()) {
      throw new WeirError('service_unavailable', 'Not ready to serve.', { retry_after: 2 });
    }
    const earlier = await this.findEarlier(ask);
    const id = earlier ?? (await this.createNew(ask));
    if (ask.wait) return this.waitFor(id, ask);
    const view = await this.viewOf(id, ask.key.organization_id);
    // However fast it goes on: what was just created is answered as that.
    return earlier === undefined ? asCreated(view) : view;
  }

  async find(id: string, organization_id: string): Promise<TaskView | undefined> {
    const row = await findTaskView(this.deps.sql, id, organization_id);
    return row && viewOf(row);
  }

  /** Hears of every committed event of this replica, in order. */
  committed(events: readonly CommittedEvent[]): void {
    for (const { kind, id, event, snapshot } of events) {
      if (kind !== TASK_KIND) continue;
      if (event.type === 'CANCEL') this.deps.running.abort(id);
      if (snapshot.status === 'active') continue;
      this.deps.running.forget(id);
      this.endings.ended(id);
    }
  }

  private async createNew(ask: CreateTask): Promise<string> {
    const { key, model } = ask;
    const { input, channel_id } = await resolveContinuation(
      this.deps.sql,
      ask.input,
      key.organization_id,
    );
    const id = `${ID_PREFIX}${this.deps.ids.uuid().replaceAll('-', '')}`;
    const hold_id = this.deps.ids.uuid();
    const amount = estimateGeneration(model, input);
    const request = requestOf(ask, id);
    const task = {
      id,
      organization_id: key.organization_id,
      key_id: key.id,
      request_id: ask.request_id,
      scene: model.scene,
      model: model.id,
      input,
      hold_id,
      hold_nano_usd: amount,
      submission_key: this.deps.ids.uuid(),
      webhook_url: ask.webhook_url ?? null,
      deadline_ms: model.deadline_ms,
    };
    const event: TaskEvent = {
      type: 'ACCEPTED',
      deadline_ms: model.deadline_ms,
      patient: !ask.wait,
      announce: ask.webhook_url !== undefined,
      pinned_channel: channel_id,
    };
    const expires_at = new Date(
      this.deps.clock.now() + model.deadline_ms + HOLD_EXPIRES_AFTER_MS,
    ).toISOString();
    try {
      await withHold(this.deps.quotas, key, ask.signal, (recall_seq) =>
        this.deps.send({
          kind: TASK_KIND,
          id,
          event,
          create: true,
          money: {
            type: 'HOLD',
            hold_id,
            key_id: key.id,
            organization_id: key.organization_id,
            amount,
            reference: id,
            expires_at,
            recall_seq,
          },
          inTransaction: (tx: TransactionSql) => insertTask(tx, task, request),
        }),
      );
      return id;
    } catch (error) {
      // Another call with the same key was committed first: its task is this one's.
      const earlier = isTaken(error) ? await this.findEarlier(ask) : undefined;
      if (earlier !== undefined) return earlier;
      throw error;
    }
  }

  /** The task that the call's idempotency key already names. */
  private async findEarlier(ask: CreateTask): Promise<string | undefined> {
    const request = requestOf(ask, '');
    if (!request) return undefined;
    const earlier = await findTaskRequest(this.deps.sql, request);
    if (!earlier) return undefined;
    if (earlier.body_hash === ask.body_hash) return earlier.task_id;
    throw new WeirError(
      'idempotency_key_reused',
      'This Idempotency-Key was used before, with another request.',
      { param: 'Idempotency-Key', hint: 'Use a new key for a new request.' },
    );
  }

  /**
   * Resolves with the completed task, throws why it failed. A client that leaves stops the work
   * (P8), unless it sent an idempotency key: then it can come back for the result.
   */
  private async waitFor(id: string, ask: CreateTask): Promise<TaskView> {
    const { organization_id } = ask.key;
    const isOver = async () => {
      const { status } = await this.viewOf(id, organization_id);
      return status === 'completed' || status === 'failed';
    };
    try {
      await this.endings.wait(id, isOver, ask.signal);
    } catch (error) {
      if (ask.signal.aborted && ask.idempotency_key === undefined) this.cancel(id);
      throw error;
    }
    const view = await this.viewOf(id, organization_id);
    if (view.status !== 'failed') return view;
    const row = await findTaskView(this.deps.sql, id, organization_id);
    throw taskError(row?.error_code ?? 'upstream_error', view.error?.message ?? '');
  }

  private cancel(id: string): void {
    this.deps.send({ kind: TASK_KIND, id, event: { type: 'CANCEL' } }).catch(this.deps.onError);
  }

  private async viewOf(id: string, organization_id: string): Promise<TaskView> {
    const view = await this.find(id, organization_id);
    if (!view) throw new Error(`task ${id} is gone`);
    return view;
  }
}

function asCreated(view: TaskView): TaskView {
  return { ...view, status: 'pending', outputs: [], error: null, billing_transaction_id: null };
}

function requestOf(ask: CreateTask, task_id: string): TaskRequest | null {
  if (ask.idempotency_key === undefined) return null;
  return {
    organization_id: ask.key.organization_id,
    route: ask.route,
    idempotency_key: ask.idempotency_key,
    body_hash: ask.body_hash,
    task_id,
  };
}

function isTaken(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION
  );
}
