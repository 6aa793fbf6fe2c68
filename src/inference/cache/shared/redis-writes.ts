/** A write to Redis that waits. */
export interface WaitingWrite {
  /** What waits in memory, bytes. */
  readonly bytes: number;
  /** Sends the write. Resolves when Redis has answered. */
  send(): Promise<unknown>;
}

/** The bytes of all writes that wait or run. */
export const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** So many writes are sent without waiting for each other. */
const WRITES_AT_ONCE = 8;

/**
 * Writes to Redis, in the background: nobody waits for them. If Redis is slow, few wait, and the others are
 * dropped, because an answer that is not stored is only asked for again.
 */
export class RedisWrites {
  /** How many writes were dropped, because too many waited or Redis failed. */
  dropped = 0;
  private waiting: WaitingWrite[] = [];
  private bytes = 0;
  private sending: Promise<void> | undefined;

  /** Adds a write. */
  push(write: WaitingWrite): void {
    if (this.bytes + write.bytes > MAX_WAITING_BYTES) {
      this.dropped += 1;
      return;
    }
    this.bytes += write.bytes;
    this.waiting.push(write);
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
  }

  /** Resolves when no write waits or runs. */
  async idle(): Promise<void> {
    while (this.sending) await this.sending;
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0) {
      // An answer that is being sent goes first.
      await new Promise<void>((resolve) => setImmediate(resolve));
      await Promise.all(this.waiting.splice(0, WRITES_AT_ONCE).map((write) => this.send(write)));
    }
  }

  private async send(write: WaitingWrite): Promise<void> {
    try {
      await write.send();
    } catch {
      this.dropped += 1;
    } finally {
      this.bytes -= write.bytes;
    }
  }
}
