import type { Sql, TransactionSql } from 'postgres';
import { recordCancelRequest } from '../../../db/tasks/progress.ts';
import { type CreateRequest, findCreateRequest } from '../../../db/tasks/requests.ts';
import { findTaskView, insertTask } from '../../../db/tasks/rows.ts';
import { isUniqueViolation } from '../../../db/unique-violation.ts';
import type { Channels } from '../../actors/channels/channels.ts';
import type { OwnKeys, OwnServing } from '../../actors/channels/own-keys.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';
import type { ActorCommand, CommandResult, CommittedEvent } from '../../actors/durable/command.ts';
import type { BudgetedTags } from '../../actors/money/budgeted-tags.ts';
import type { ReachedBudget } from '../../actors/money/ledger-commands.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { TaskEvent } from '../../machines/task-events.ts';
import { ClientDeadlineError } from '../client-deadline.ts';
import type { CallLimits } from '../limits/call-limits.ts';
import { reusedKeyError } from '../repeats/refusals.ts';
import { retryAfter } from '../routing/route.ts';
import { noteBudgets } from '../soft/move.ts';
import { resolveContinuation } from './continuation.ts';
import { type WatchTask, waitForEnd } from './ending.ts';
import { taskError } from './failures.ts';
import { withHold } from './hold.ts';
import { TASK_KIND } from './kind.ts';
import { isShortOfMoney, mostOfTask, refuseOtherAccount } from './own-tasks.ts';
import {
  type CreateTask,
  TASK_ID_PREFIX,
  type TaskPort,
  type TaskView,
  type TaskWatch,
  type WatchRequest,
} from './port.ts';
import type { RunningSubmissions } from './running.ts';
import { TaskWatches, taskNotFound } from './task-watches.ts';
import { refuseUnsent } from './unsent.ts';
import { viewOf } from './view.ts';

/**
 * A hold expires this long after its task's deadline. This is only a safeguard: the end of the task
 * settles or releases the hold much earlier.
 */
const HOLD_EXPIRES_AFTER_MS = 30 * 24 * 3_600_000;
/** How long a request to cancel waits for the end of a task that no upstream has. */
const RELEASE_WAIT_MS = 2_000;
const RETURN_HINT =
  'Send the same request with the same Idempotency-Key again. The task continues to run.';

/** Dependencies of `Tasks`. */
export interface TasksDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly channels: Channels;
  /** The own keys of organizations. Without it, nobody has any. */
  readonly own?: Pick<OwnKeys, 'serving'> | undefined;
  /** The limits of keys. Without it, no key has any. */
  readonly limits?: CallLimits | undefined;
  /** The tags that budgets limit. Without it, no tag has a budget. */
  readonly budgeted?: Pick<BudgetedTags, 'of'> | undefined;
  /**
   * Sends a command to the task's actor. Throws WeirError if too many commands wait for that actor.
   */
  readonly send: (command: ActorCommand) => Promise<CommandResult>;
  readonly watch: WatchTask;
  readonly running: RunningSubmissions;
  /** False if this replica's lease may have ended. If false, no task is created. */
  readonly mayAdmit: () => boolean;
  readonly onError: (error: unknown) => void;
}

/**
 * Durable generation tasks for the routes. One transaction creates a task. The transaction writes
 * the idempotency key, the task, its actor with the first event, and the hold, which is the money
 * reserved for the task. The transaction commits as a whole or not at all (P4, P7).
 */
export class Tasks implements TaskPort {
  /** The event streams of clients on this replica. */
  readonly watches: TaskWatches;
  /** Tasks of waiting clients that got a preview. */
  private readonly previewed = new Set<string>();

  constructor(private readonly deps: TasksDeps) {
    const { sql, watch, onError } = deps;
    const find = (id: string, organization_id: string) => this.find(id, organization_id);
    this.watches = new TaskWatches({ sql, watch, find, onError });
  }

  async create(request: CreateTask): Promise<TaskView> {
    if (!this.deps.mayAdmit()) {
      const message = 'This replica is not ready to serve requests.';
      throw new WeirError('service_unavailable', message, { retry_after: 2 });
    }
    const earlier = await this.findEarlier(request);
    if (earlier !== undefined) request.record?.repeatTask(earlier);
    const id = earlier ?? (await this.createPaid(request));
    if (request.wait) {
      return this.waitFor(id, request).finally(() => {
        this.deps.running.unlisten(id);
        this.previewed.delete(id);
      });
    }
    const view = await this.viewOf(id, request.key.organization_id);
    // The response shows a new task as just created, even if its first steps are already done.
    return earlier === undefined ? asCreated(view) : view;
  }

  async find(id: string, organization_id: string): Promise<TaskView | undefined> {
    const row = await findTaskView(this.deps.sql, id, organization_id);
    return row && viewOf(row);
  }

  watch(request: WatchRequest): Promise<TaskWatch> {
    return this.watches.watch(request);
  }

  async cancel(id: string, organization_id: string, by?: 'operator'): Promise<void> {
    if (!(await this.find(id, organization_id))) throw taskNotFound();
    const result = await this.deps.send({
      kind: TASK_KIND,
      id,
      event: { type: 'CANCEL_REQUESTED', ...(by ? { by } : {}) } satisfies TaskEvent,
      inTransaction: (tx: TransactionSql) => recordCancelRequest(tx, id, organization_id),
    });
    if (result.type === 'not_found') throw taskNotFound();
    if (result.type !== 'committed') {
      const message = 'This replica is not ready to serve requests.';
      throw new WeirError('service_unavailable', message, { retry_after: 2 });
    }
    // The money of such a task is released within milliseconds, so the answer can show it.
    if (result.snapshot.value === 'refunding') await this.waitForRelease(id);
  }

  /** Called once for each event that this replica commits, in order. */
  onCommitted(events: readonly CommittedEvent[]): void {
    for (const { kind, id, event, snapshot } of events) {
      if (kind !== TASK_KIND) continue;
      if (event.type === 'CANCEL') this.deps.running.abort(id);
      if (snapshot.status === 'active') continue;
      this.deps.running.onEnded(id);
    }
  }

  /**
   * Creates a task with money for its price. If the organization has own keys and too little money for
   * the platform's channels, the task gets money for its own keys only.
   */
  private async createPaid(request: CreateTask): Promise<string> {
    const { key, model } = request;
    const own = this.deps.own?.serving(key.organization_id, model.id);
    const lease = await this.deps.limits?.take({
      ...{ key, model_id: model.id, call_id: this.deps.ids.uuid() },
      // A task outlives its request, so it counts as a request only.
      ...{ tokens: () => 0, is_concurrent: false, may_move: request.may_move === true },
    });
    if (lease) request.record?.reach(lease.reached);
    try {
      return await this.createNew(request, own, own?.mode === 'only');
    } catch (error) {
      if (own?.mode !== 'first' || !isShortOfMoney(error)) throw error;
      return this.createNew(request, own, true);
    }
  }

  private async createNew(
    request: CreateTask,
    own: OwnServing | undefined,
    own_only: boolean,
  ): Promise<string> {
    const { key, model } = request;
    const { input, channel_id } = await resolveContinuation(
      this.deps.sql,
      request.input,
      key.organization_id,
    );
    refuseOtherAccount(channel_id, own_only);
    const platform = own_only ? [] : this.deps.channels.serving(model.id);
    refuseUnsent([...(own?.channels ?? []), ...platform], model.id, input);
    const id = `${TASK_ID_PREFIX}${this.deps.ids.uuid().replaceAll('-', '')}`;
    const hold_id = this.deps.ids.uuid();
    const amount = mostOfTask({ model, input, key }, own_only ? own : undefined);
    const idempotency = idempotencyOf(request, id);
    const task = {
      id,
      organization_id: key.organization_id,
      key_id: key.id,
      request_id: request.request_id,
      scene: model.scene,
      model: model.id,
      input,
      hold_id,
      hold_nano_usd: amount,
      own_only,
      counts_list: key.cap_counts === 'list',
      submission_key: this.deps.ids.uuid(),
      webhook_url: request.webhook_url ?? null,
      deadline_ms: model.deadline_ms,
    };
    this.listen(id, request);
    const event: TaskEvent = {
      type: 'ACCEPTED',
      deadline_ms: model.deadline_ms,
      patient: !request.wait,
      announce: request.webhook_url !== undefined,
      pinned_channel: channel_id,
    };
    const expires_at = new Date(
      this.deps.clock.now() + model.deadline_ms + HOLD_EXPIRES_AFTER_MS,
    ).toISOString();
    let stop_at_soft = true;
    const onReached = (reached: readonly ReachedBudget[]) => {
      noteBudgets(reached, request.may_move === true, request.record);
      stop_at_soft = false;
    };
    try {
      const held = { signal: request.signal, amount, onReached };
      await withHold(held, (recall_seq) =>
        this.deps.send({
          kind: TASK_KIND,
          id,
          event,
          create: true,
          organization_id: key.organization_id,
          money: {
            type: 'HOLD',
            hold_id,
            key_id: key.id,
            organization_id: key.organization_id,
            amount,
            reference: id,
            expires_at,
            recall_seq,
            tags: this.deps.budgeted?.of(key.organization_id, request.record?.tags),
            stop_at_soft,
          },
          inTransaction: (tx: TransactionSql) => {
            const record = request.record?.taskFacts();
            return insertTask(tx, { ...task, record }, idempotency);
          },
        }),
      );
      request.record?.becomeTask(id, amount);
      return id;
    } catch (error) {
      this.deps.running.unlisten(id);
      // Another call with the same idempotency key was committed first. Both calls share its task.
      const earlier = isUniqueViolation(error) ? await this.findEarlier(request) : undefined;
      if (earlier === undefined) throw error;
      request.record?.repeatTask(earlier);
      return earlier;
    }
  }

  /**
   * Returns the id of the task that already has the call's idempotency key. Throws WeirError if
   * that task was created with a different body.
   */
  private async findEarlier(request: CreateTask): Promise<string | undefined> {
    const idempotency = idempotencyOf(request, '');
    if (!idempotency) return undefined;
    const earlier = await findCreateRequest(this.deps.sql, idempotency);
    if (!earlier) return undefined;
    if (earlier.body_hash === request.body_hash) return earlier.task_id;
    throw reusedKeyError();
  }

  /**
   * Resolves with the completed task. If the task fails, throws the error of the failure. If the
   * client leaves or its deadline passes, the task is canceled (P8). A task with an idempotency key
   * continues, because the client can send the request again to get the result. A task whose client got
   * a preview continues too, because what was delivered is charged (P12).
   */
  private async waitFor(id: string, request: CreateTask): Promise<TaskView> {
    const { organization_id } = request.key;
    try {
      await waitForEnd(this.deps.watch, id, request.signal);
    } catch (error) {
      if (!request.signal.aborted) throw error;
      const hasPreview = this.previewed.delete(id);
      if (request.idempotency_key === undefined && !hasPreview) this.abandon(id);
      else if (error instanceof ClientDeadlineError)
        throw new ClientDeadlineError(error.message, RETURN_HINT);
      throw error;
    }
    const view = await this.viewOf(id, organization_id);
    if (view.status !== 'failed') return view;
    const row = await findTaskView(this.deps.sql, id, organization_id);
    const own = this.deps.own?.serving(organization_id, request.model.id);
    const channels = own?.channels ?? this.deps.channels.serving(request.model.id);
    const retry_after = retryAfter(channels, this.deps.clock.now());
    throw taskError(row?.error_code ?? 'upstream_error', view.error?.message ?? '', retry_after);
  }

  /** Passes the previews of a task's image to its client. */
  private listen(id: string, { onPartial }: CreateTask): void {
    if (!onPartial) return;
    this.deps.running.listen(id, (partial) => {
      this.previewed.add(id);
      onPartial(partial);
    });
  }

  private async waitForRelease(id: string): Promise<void> {
    await waitForEnd(this.deps.watch, id, AbortSignal.timeout(RELEASE_WAIT_MS)).catch(
      () => undefined,
    );
  }

  private abandon(id: string): void {
    this.deps.send({ kind: TASK_KIND, id, event: { type: 'CANCEL' } }).catch(this.deps.onError);
  }

  private async viewOf(id: string, organization_id: string): Promise<TaskView> {
    const view = await this.find(id, organization_id);
    if (!view) throw new Error(`task ${id} does not exist any more`);
    return view;
  }
}

function asCreated(view: TaskView): TaskView {
  return {
    ...view,
    status: 'pending',
    outputs: [],
    tokens: null,
    error: null,
    billing_transaction_id: null,
  };
}

/** Returns the row that ties an idempotency key to its task; null if the request has no key. */
function idempotencyOf(request: CreateTask, task_id: string): CreateRequest | null {
  if (request.idempotency_key === undefined) return null;
  return {
    key_id: request.key.id,
    organization_id: request.key.organization_id,
    route: request.route,
    idempotency_key: request.idempotency_key,
    body_hash: request.body_hash,
    task_id,
  };
}
