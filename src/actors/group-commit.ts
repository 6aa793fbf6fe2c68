import { isTransient } from '../../db/transient.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Clock } from './clock.ts';

/** Commands of one transaction. */
const MAX_BATCH_COMMANDS = 512;
/** Beyond this many waiting commands new ones are refused with 503, unless they must not be. */
const MAX_QUEUED_COMMANDS = 20_000;
/** A command that may give up does so after this long without a database. */
const PATIENCE_MS = 2_000;
/** After a batch of this size more is on its way: waiting a moment makes the next one worth its commit. */
const BUSY_BATCH = 8;
const GATHER_MS = 2;
const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 1_000;

export interface GroupCommitDeps<Command, Answer> {
  /** One transaction: all of the commands or none; answers in their order. May run again. */
  commit: (commands: Command[]) => Promise<Answer[]>;
  /** True for what already happened and must be written down, however long it takes. */
  mustCommit: (command: Command) => boolean;
  clock: Clock;
  /** Told of every failed batch; must not throw. */
  onError: (error: unknown, commands: number) => void;
}

interface Queued<Command, Answer> {
  command: Command;
  queuedAt: number;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits what is queued, up to 512 commands at a time, as one transaction; what arrives meanwhile
 * is the next batch (design 4). Callers are answered after the commit.
 *
 * A batch whose outcome is unknown runs again, so every command must be repeatable. A batch that
 * the database rejects is bisected until the poisoned command stands alone; only that one fails.
 */
export class GroupCommit<Command, Answer> {
  private readonly queue: Queued<Command, Answer>[] = [];
  private running: Promise<void> | undefined;

  constructor(private readonly deps: GroupCommitDeps<Command, Answer>) {}

  /** Commands that wait for their commit. */
  get depth(): number {
    return this.queue.length;
  }

  /** Resolves after the commit; rejects with `service_unavailable` where the command may give up. */
  submit(command: Command): Promise<Answer> {
    if (this.queue.length >= MAX_QUEUED_COMMANDS && !this.deps.mustCommit(command)) {
      return Promise.reject(unavailable('Too many requests are waiting to be booked.'));
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ command, queuedAt: this.deps.clock.now(), resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when everything that is queued has been committed or has failed. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
  }

  private async run(): Promise<void> {
    // One turn later, so that commands of the same tick share a transaction.
    await Promise.resolve();
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH_COMMANDS);
      await this.runBatch(batch);
      if (batch.length >= BUSY_BATCH) await this.pause(GATHER_MS);
    }
    this.running = undefined;
  }

  private async runBatch(batch: Queued<Command, Answer>[]): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let live = batch;
    while (live.length > 0) {
      try {
        const answers = await this.deps.commit(live.map((queued) => queued.command));
        live.forEach((queued, index) => {
          const answer = answers[index];
          if (answer === undefined) queued.reject(new Error('a command got no answer'));
          else queued.resolve(answer);
        });
        return;
      } catch (error) {
        this.deps.onError(error, live.length);
        if (!isTransient(error)) return this.bisect(live, error);
        live = this.withoutImpatient(live, error);
        await this.pause(retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  private async bisect(batch: Queued<Command, Answer>[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first) return first.reject(error);
    const middle = batch.length >> 1;
    await this.runBatch(batch.slice(0, middle));
    await this.runBatch(batch.slice(middle));
  }

  private withoutImpatient(
    batch: Queued<Command, Answer>[],
    cause: unknown,
  ): Queued<Command, Answer>[] {
    const now = this.deps.clock.now();
    return batch.filter((queued) => {
      const stays = this.deps.mustCommit(queued.command) || now - queued.queuedAt < PATIENCE_MS;
      if (!stays) queued.reject(unavailable('The ledger cannot be reached.', cause));
      return stays;
    });
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.deps.clock.after(delayMs, resolve));
  }
}

function unavailable(message: string, cause?: unknown): WeirError {
  return new WeirError('service_unavailable', message, { retry_after: 1 }, cause);
}
