import postgres from 'postgres';
import { MONEY_CHANNEL, RECALL_CHANNEL } from '../../db/ledger/replicas.ts';

export interface Hint {
  channel: string;
  payload: string;
}

/**
 * The notifications of PostgreSQL, made deterministic: a server delivers what was committed before
 * it answers a command, so after `flush` exactly the hints of all earlier commits are there.
 */
export class HintLine {
  private received: Hint[] = [];
  private readonly client: postgres.Sql;

  constructor(url: string) {
    // `onnotify` is the driver's own hook behind `listen`; its types do not name it.
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

  /** Everything that was committed since the last look. */
  async flush(): Promise<Hint[]> {
    await this.client`select 1`;
    return this.received.splice(0);
  }

  close(): Promise<void> {
    return this.client.end({ timeout: 1 });
  }
}
