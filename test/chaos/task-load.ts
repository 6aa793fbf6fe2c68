import { Random } from '../sim/random.ts';
import { Clients } from './clients.ts';

/** A task whose creation was answered. */
export interface ClientTask {
  request_id: string;
  task_id: string;
  /** The last status that the client saw. */
  status: string;
}

const MODEL = 'midjourney';
/** Every job takes another time, so that kills hit tasks in every state. */
const JOB_MS = { least: 100, spread: 2_000 };
/** One job of so many fails. */
const FAILS_EVERY = 5;
const POLL_MS = 150;
/** A submission whose answer was lost is looked up for 30 s. */
const END_TIMEOUT_MS = 120_000;

/** Clients that create one image task after the other, and poll each until its end. `stop` waits for the ends. */
export class TaskLoad extends Clients {
  readonly tasks: ClientTask[] = [];

  protected async runClient(client: number): Promise<void> {
    const random = new Random(Bun.hash.crc32(`${this.seed} task-client-${client}`));
    for (let turn = 0; !this.stopping; turn += 1) {
      const job_ms = JOB_MS.least + random.below(JOB_MS.spread);
      const fails = random.below(FAILS_EVERY) === 0 ? ' fail=upstream' : '';
      const prompt = `A lighthouse [[sim task_ms=${job_ms}${fails}]]`;
      const user = `task-client-${client}-${turn}`;
      const task = await this.create({ model: MODEL, prompt, user }).catch(() => undefined);
      if (task) await this.poll(task);
      else await Bun.sleep(POLL_MS);
    }
  }

  private async create(body: object): Promise<ClientTask | undefined> {
    const response = await this.request('/v1/images/generations', {
      method: 'POST',
      body: JSON.stringify(body),
    });
    if (!response.ok) return undefined;
    const { id, status } = (await response.json()) as { id: string; status: string };
    const request_id = response.headers.get('x-request-id')?.replace('req_', '') ?? '';
    const task = { request_id, task_id: id, status };
    this.tasks.push(task);
    return task;
  }

  private async poll(task: ClientTask): Promise<void> {
    const ends_at_ms = performance.now() + END_TIMEOUT_MS;
    while (performance.now() < ends_at_ms) {
      await Bun.sleep(POLL_MS);
      const now = await this.request(`/v1/images/generations/${task.task_id}`)
        .then((response) => response.json() as Promise<{ status?: string }>)
        .catch(() => undefined);
      task.status = now?.status ?? task.status;
      if (task.status === 'completed' || task.status === 'failed') return;
    }
  }
}
