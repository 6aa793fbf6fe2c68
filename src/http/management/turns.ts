import { WeirError } from '../../errors/weir-error.ts';

/** The most changes of one organization that wait for their turn on this replica. */
const MAX_WAITING = 1_000;

interface Queue {
  last: Promise<unknown>;
  waiting: number;
}

/**
 * Lets the changes of one organization run one after the other. In the database they would wait for each
 * other too, but each with a connection of its own. So one organization with many changes at once would
 * take all connections, and the requests of the others would wait (P20).
 */
export class Turns {
  private readonly queues = new Map<string, Queue>();

  /** Runs `work` after the earlier work of this organization. Throws WeirError if too much waits. */
  async run<Result>(organization_id: string, work: () => Promise<Result>): Promise<Result> {
    const queue = this.queues.get(organization_id) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= MAX_WAITING) {
      throw new WeirError('service_unavailable', 'Too many changes are waiting.', {
        retry_after: 1,
      });
    }
    this.queues.set(organization_id, queue);
    queue.waiting += 1;
    const mine = queue.last.then(work);
    queue.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) this.queues.delete(organization_id);
    }
  }
}
