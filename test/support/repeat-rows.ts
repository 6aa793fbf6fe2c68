/** The rows of repeated calls on a real database, and calls that a test scripts. */
import type { Sql } from 'postgres';
import { connectDatabase, type Database } from '../../db/client.ts';
import { systemClock } from '../../src/actors/clock.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { type RepeatableCall, Repeats } from '../../src/inference/repeats/repeats.ts';
import { createTestDatabase } from './postgres.ts';

/** A call of `key_1` of `org_a`. */
export function callOf(changes: Partial<RepeatableCall> = {}): RepeatableCall {
  return {
    key: { id: 'key_1', organization_id: 'org_a' },
    route: '/v1/chat/completions',
    idempotency_key: 'order-1',
    request_hash: 'hash-1',
    request_id: Bun.randomUUIDv7(),
    client: new AbortController().signal,
    renderError: (error) => Response.json({ error: String(error) }, { status: 503 }),
    ...changes,
  };
}

/** The work of a repeat that must not run. */
export const forbidden = () => Promise.reject(new Error('the call ran twice'));

/** The error of a repeat. */
export async function refusalOf(
  repeats: Repeats,
  changes: Partial<RepeatableCall> = {},
): Promise<WeirError> {
  const outcome = await repeats.run(callOf(changes), forbidden).catch((error: unknown) => error);
  if (outcome instanceof WeirError) return outcome;
  throw new Error(`no WeirError: ${String(outcome)}`);
}

/** Two organizations, and the replicas `alive_1`, `alive_2` and `dead`. */
export class RepeatRows {
  private readonly errors: unknown[] = [];

  private constructor(
    private readonly database: Database,
    private readonly drop: () => Promise<void>,
  ) {}

  static async open(): Promise<RepeatRows> {
    const fresh = await createTestDatabase();
    const rows = new RepeatRows(connectDatabase(fresh.url, { pool: 'requests' }), fresh.drop);
    const { sql } = rows;
    await sql`insert into organization (id, name) values ('org_a', 'a'), ('org_b', 'b')`;
    await sql`insert into replica (id, lease_until) values ('alive_1', now()), ('alive_2', now())`;
    await sql`insert into replica (id, status, lease_until) values ('dead', 'dead', now())`;
    return rows;
  }

  get sql(): Sql {
    return this.database.sql;
  }

  async empty(): Promise<void> {
    await this.sql`truncate kept_answer, usage_line`;
    await this.sql`update organization set keep_answers = true`;
  }

  /** Throws if a call reported an error. */
  async close(): Promise<void> {
    await this.database.close();
    await this.drop();
    if (this.errors.length > 0) throw new Error(this.errors.map(String).join('\n'));
  }

  repeats(replica_id: string, max_bytes = 1_000_000, sql = this.sql): Repeats {
    return new Repeats({
      ...{ sql, clock: systemClock, key: new Uint8Array(32).fill(7), max_bytes },
      replica_id: () => replica_id,
      onError: (error) => this.errors.push(error),
    });
  }

  /** Writes the usage line of a call. */
  async charge({ request_id, key }: RepeatableCall): Promise<void> {
    await this.sql`
      insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene,
        access_channel, model, model_vendor, channel_id, outcome, input_tokens,
        cached_input_tokens, cache_write_tokens, output_tokens, estimated, charged_nano_usd)
      values (${request_id}, ${request_id}, ${key.organization_id}, ${key.id},
        ${Bun.randomUUIDv7()}, 'chat', 'platform', 'm', 'v', 'c', 'completed', 1, 0, 0, 1, false, 5)`;
  }

  /** The work of a call that is charged and answers with `text`. */
  charged(call: RepeatableCall, text: string) {
    return async () => {
      await this.charge(call);
      return new Response(text, { headers: { 'content-type': 'text/plain', 'x-other': 'no' } });
    };
  }

  /** Runs a call that is charged, and returns the text of its answer. */
  async run(
    repeats: Repeats,
    text: string,
    changes: Partial<RepeatableCall> = {},
  ): Promise<string> {
    const call = callOf(changes);
    return (await repeats.run(call, this.charged(call, text))).text();
  }

  /** A connection on which the first attempts to end a claim fail, as if it were broken. */
  flaky(attempts: number): Sql {
    let broken = attempts;
    return new Proxy(this.sql, {
      apply(target, self, [strings, ...values]) {
        if (String(strings[0]).includes('with charged') && broken > 0) {
          broken -= 1;
          return Promise.reject(Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' }));
        }
        return Reflect.apply(target, self, [strings, ...values]);
      },
    });
  }
}
