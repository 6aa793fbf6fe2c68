import type { Sql } from 'postgres';

/**
 * How long a heartbeat waits for its answer. The server ends a statement after a second, so a
 * connection that is silent for longer is lost.
 */
const ANSWER_MS = 3_000;

/** A connection that can be dropped at once. */
export interface HeartbeatConnection {
  sql: Sql;
}

/** Thrown if the database did not answer a heartbeat in time. */
class HeartbeatUnansweredError extends Error {
  override readonly name = 'HeartbeatUnanswered';
}

/**
 * The connection of the heartbeat, which nothing else uses. If the database does not answer, the
 * connection is dropped, and the next heartbeat opens another one. So a heartbeat waits for no pool,
 * for no other statement and for no dead connection.
 */
export class HeartbeatLine {
  private connection: HeartbeatConnection | undefined;

  constructor(
    private readonly connect: () => HeartbeatConnection,
    /** Calls `callback` once after `delayMs`; the returned function cancels it. */
    private readonly after: (delayMs: number, callback: () => void) => () => void,
  ) {}

  /**
   * Runs `work`. Rejects with its error, or with HeartbeatUnansweredError after 3 s. Then the
   * statement may still be executed later.
   */
  async run<Answer>(work: (sql: Sql) => Promise<Answer>): Promise<Answer> {
    this.connection ??= this.connect();
    const answer = work(this.connection.sql);
    // If the time-out comes first, nobody else handles the error of the statement.
    answer.catch(() => undefined);
    const late = Promise.withResolvers<never>();
    const stopClock = this.after(ANSWER_MS, () => {
      this.drop();
      late.reject(new HeartbeatUnansweredError('the database did not answer a heartbeat'));
    });
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      stopClock();
    }
  }

  /** Closes the connection. */
  close(): void {
    this.drop();
  }

  private drop(): void {
    this.connection?.sql.end({ timeout: 0 }).catch(() => undefined);
    this.connection = undefined;
  }
}
