import postgres from 'postgres';
import { MONEY_CHANNEL, RECALL_CHANNEL } from '../../db/ledger/replicas.ts';

export interface Hint {
  channel: string;
  payload: string;
}

/**
 * The notifications of PostgreSQL, in a deterministic order. A server delivers all committed
 * notifications before it answers a command. So `flush` returns the hints of all earlier commits.
 */
export class HintLine {
  private received: Hint[] = [];
  private readonly client: postgres.Sql;

  constructor(url: string) {
    // `listen` of the driver uses the option `onnotify`, which its types omit.
    const options = {
      max: 1,
      onnotify: (channel: string, payload: string) => this.received.push({ channel, payload }),
    };
    this.client = postgres(url, options as postgres.Options<Record<string, never>>);
  }

  async open(): Promise<void> {
    for (const channel of [RECALL_CHANNEL, MONEY_CHANNEL]) {
      await this.client.unsafe(`listen ${channel}`);
    }
  }

  /** Returns the hints that were committed since the last flush. */
  async flush(): Promise<Hint[]> {
    await this.client`select 1`;
    return this.received.splice(0);
  }

  close(): Promise<void> {
    return this.client.end({ timeout: 1 });
  }
}
