/** Tasks in memory, for tests of the routes alone. */
import type {
  CreateTask,
  TaskPort,
  TaskUpdate,
  TaskView,
  TaskWatch,
  WatchRequest,
} from '../../src/inference/tasks/port.ts';

export class FakeTasks implements TaskPort {
  /** Every create call that the contract accepted. */
  readonly creates: CreateTask[] = [];
  private readonly owned = new Map<string, { organization_id: string; view: TaskView }>();
  /** Returns the view of a new task; a test may replace it. */
  answer = (request: CreateTask): TaskView =>
    request.wait ? this.view(request, { status: 'completed' }) : this.view(request, {});

  async create(request: CreateTask): Promise<TaskView> {
    this.creates.push(request);
    const view = this.answer(request);
    this.keep(view, request.key.organization_id);
    return view;
  }

  async find(id: string, organization_id: string): Promise<TaskView | undefined> {
    const found = this.owned.get(id);
    return found?.organization_id === organization_id ? found.view : undefined;
  }

  /** A watch that shows the task as it is, and ends. */
  async watch({ id, key }: WatchRequest): Promise<TaskWatch> {
    const view = await this.find(id, key.organization_id);
    if (!view) throw new Error(`there is no task ${id}`);
    const { status } = view;
    const updates: TaskUpdate[] = [
      status === 'pending' || status === 'processing'
        ? { type: 'progress', seq: 1, status, progress: null }
        : { type: 'ended', seq: 1, view },
    ];
    return {
      isOver: false,
      next: async () => updates.shift() ?? { type: 'closed' },
      close: () => undefined,
    };
  }

  async cancel(): Promise<void> {}

  keep(view: TaskView, organization_id: string): void {
    this.owned.set(view.id, { organization_id, view });
  }

  /** The view of a created task. Its status is `pending`, or the status in `more`. */
  view(request: Pick<CreateTask, 'model' | 'request_id'>, more: Partial<TaskView>): TaskView {
    const { scene, id } = request.model;
    const kind = scene === 'music' ? 'audio' : scene === '3d' ? 'model' : scene;
    return {
      id: `task_${request.request_id.replaceAll('-', '')}`,
      scene,
      status: 'pending',
      created: 1_795_000_000,
      model: id,
      outputs: more.status === 'completed' ? [{ kind, file: `${kind}-1` }] : [],
      tokens: null,
      error: null,
      billing_transaction_id: more.status === 'completed' ? 'txn_1' : null,
      retry_after_s: 3,
      ...more,
    };
  }
}
