import { isTransient } from '../../db/transient.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Clock } from './clock.ts';

/** Most commands in one transaction. */
const MAX_BATCH_COMMANDS = 512;
/**
 * If this many commands wait, a new command is refused with 503, unless `mustCommit` is true for
 * it.
 */
const MAX_QUEUED_COMMANDS = 20_000;
/**
 * If the database cannot be reached, a command is rejected after this time, unless `mustCommit` is
 * true for it.
 */
const MAX_WAIT_MS = 2_000;
/**
 * After a batch of at least `size` commands the queue pauses, so that the next batch is larger. A batch
 * costs much more than one of its commands, so a busy replica answers more calls with larger batches.
 */
export interface Gathering {
  readonly size: number;
  readonly pause_ms: number;
}
const GATHERING: readonly Gathering[] = [
  { size: 32, pause_ms: 10 },
  { size: 16, pause_ms: 5 },
  { size: 8, pause_ms: 2 },
];
const FIRST_RETRY_MS = 20;
const LAST_RETRY_MS = 1_000;

export interface GroupCommitDeps<Command, Answer> {
  /**
   * Commits all commands in one transaction, or none of them. Returns the answers in the order of
   * the commands. Called again with the same commands if the outcome is unknown.
   */
  commit: (commands: Command[]) => Promise<Answer[]>;
  /**
   * True for a command that reports a fact, for example a charge. Such a command is never rejected
   * while the database cannot be reached, but waits.
   */
  mustCommit: (command: Command) => boolean;
  clock: Clock;
  /**
   * The pauses, the largest `size` first. The first whose size a batch reached follows it. By default
   * short pauses, because clients wait for the answers.
   */
  gathering?: readonly Gathering[];
  /**
   * Called after the first successful commit that follows a commit with an unknown outcome. That
   * earlier transaction has ended by then. Must not throw.
   */
  onOutcomeUnknown: () => void;
  /** Called for each failed batch, with the number of its commands; must not throw. */
  onError: (error: unknown, commands: number) => void;
}

interface Queued<Command, Answer> {
  command: Command;
  queuedAt: number;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * Commits the queued commands, up to 512 in one transaction. Commands that arrive while a
 * transaction runs form the next batch. Answers are returned after the commit.
 *
 * A batch whose outcome is unknown runs again, so every command must be repeatable. If the database
 * rejects a batch, the batch is bisected until the failing command is alone. Only that command
 * fails.
 */
export class GroupCommit<Command, Answer> {
  private readonly queue: Queued<Command, Answer>[] = [];
  private running: Promise<void> | undefined;
  private isOutcomeUnknown = false;

  constructor(private readonly deps: GroupCommitDeps<Command, Answer>) {}

  /** The number of queued commands, without those of the running batch. */
  get depth(): number {
    return this.queue.length;
  }

  /**
   * Resolves with the answer after the commit. Rejects with `service_unavailable` if the queue is
   * full or the database cannot be reached. If `mustCommit` is true for the command, it is never
   * rejected for these reasons.
   */
  submit(command: Command): Promise<Answer> {
    if (this.queue.length >= MAX_QUEUED_COMMANDS && !this.deps.mustCommit(command)) {
      return Promise.reject(unavailable('Too many requests are waiting for the ledger.'));
    }
    return new Promise((resolve, reject) => {
      this.queue.push({ command, queuedAt: this.deps.clock.now(), resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when every queued command has been committed or has failed. */
  async drain(): Promise<void> {
    while (this.running) await this.running;
  }

  private async run(): Promise<void> {
    // The batch starts in the next microtask, so that commands of the same tick share a
    // transaction.
    await Promise.resolve();
    const gathering = this.deps.gathering ?? GATHERING;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH_COMMANDS);
      await this.runBatch(batch);
      const gather = gathering.find(({ size }) => batch.length >= size);
      if (gather) await this.pause(gather.pause_ms);
    }
    this.running = undefined;
  }

  private async runBatch(batch: Queued<Command, Answer>[]): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    let pending = batch;
    while (pending.length > 0) {
      try {
        const answers = await this.deps.commit(pending.map((queued) => queued.command));
        if (this.isOutcomeUnknown) {
          this.isOutcomeUnknown = false;
          this.deps.onOutcomeUnknown();
        }
        pending.forEach((queued, index) => {
          const answer = answers[index];
          if (answer === undefined)
            queued.reject(new Error('`commit` returned fewer answers than commands'));
          else queued.resolve(answer);
        });
        return;
      } catch (error) {
        this.deps.onError(error, pending.length);
        if (!isTransient(error)) return this.bisect(pending, error);
        this.isOutcomeUnknown = true;
        pending = this.rejectLateCommands(pending, error);
        this.queue.splice(0, this.queue.length, ...this.rejectLateCommands(this.queue, error));
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

  /** Rejects the commands that have waited too long, and returns the others. */
  private rejectLateCommands(
    batch: Queued<Command, Answer>[],
    cause: unknown,
  ): Queued<Command, Answer>[] {
    const now = this.deps.clock.now();
    return batch.filter((queued) => {
      const mayWait = this.deps.mustCommit(queued.command) || now - queued.queuedAt < MAX_WAIT_MS;
      if (!mayWait) queued.reject(unavailable('The ledger cannot be reached.', cause));
      return mayWait;
    });
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.deps.clock.after(delayMs, resolve));
  }
}

function unavailable(message: string, cause?: unknown): WeirError {
  return new WeirError('service_unavailable', message, { retry_after: 1 }, cause);
}
