import type { Database } from '../../../db/client.ts';
import type { Transport, TransportEvents } from './transport.ts';

/** The PostgreSQL notification channel of the bus. */
export const BUS_CHANNEL = 'weir_bus';
/** The longest payload that NOTIFY accepts is 7,999 bytes (PostgreSQL docs: NOTIFY). */
const MAX_NOTIFY_BYTES = 7_999;

/**
 * Sends with NOTIFY and receives with LISTEN, in a pool of its own. PostgreSQL delivers the
 * notifications in the order of their commits. The bus waits for each `send`, so the texts of one
 * replica keep their order. After a lost connection, the driver subscribes again.
 */
export class PostgresTransport implements Transport {
  readonly reaches_others = true;
  readonly max_bytes = MAX_NOTIFY_BYTES;
  private database: Database | undefined;
  private events: TransportEvents | undefined;

  /** `connect` opens a pool of one connection whose statements have a short time-out. */
  constructor(private readonly connect: () => Database) {}

  start(events: TransportEvents): Promise<void> {
    this.events = events;
    return this.listen();
  }

  async send(text: string): Promise<void> {
    if (!this.database) throw new Error('the PostgreSQL transport of the bus is not started');
    await this.database.sql`select pg_notify(${BUS_CHANNEL}, ${text})`;
  }

  restart(): void {
    if (!this.events) return;
    void this.close();
    // If this fails, no heartbeat arrives, so the bus calls `restart` again.
    this.listen().catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.events = undefined;
    await this.close();
  }

  private async listen(): Promise<void> {
    const database = this.connect();
    this.database = database;
    const isCurrent = () => this.database === database;
    await database.sql.listen(
      BUS_CHANNEL,
      (text) => {
        if (isCurrent()) this.events?.onText(text);
      },
      () => {
        if (isCurrent()) this.events?.onSubscribed();
      },
    );
  }

  private async close(): Promise<void> {
    const { database } = this;
    this.database = undefined;
    await database?.close().catch(() => undefined);
  }
}
