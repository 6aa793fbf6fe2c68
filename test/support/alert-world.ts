/** An organization with keys, endpoints and sums of usage, for tests of the rules of alerts. */
import { bootstrap } from '../../db/bootstrap.ts';
import { connectDatabase, type Database, type Sql } from '../../db/client.ts';
import { newId } from '../../db/secrets.ts';
import { AlertEvaluator } from '../../src/actors/alerts/evaluator.ts';
import { systemClock } from '../../src/actors/clock.ts';
import type { ActorCommand } from '../../src/actors/durable/command.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

const USD = 1_000_000_000;
const DAY_MS = 86_400_000;

/** A stored alert, as tests compare it. */
export interface StoredAlert {
  readonly owner_id: string;
  readonly kind: string;
  readonly cause: string;
  readonly subject_id: string;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly ended_at: Date | null;
}

export class AlertWorld {
  readonly errors: unknown[] = [];
  /** The deliveries whose actors were created. */
  readonly started: string[] = [];

  private constructor(
    private readonly database: TestDatabase,
    private readonly pools: readonly Database[],
    readonly organization_id: string,
  ) {}

  /** `replicas` evaluators have connections of their own. */
  static async start(replicas = 1): Promise<AlertWorld> {
    const database = await createTestDatabase();
    const pools = Array.from({ length: replicas }, () =>
      connectDatabase(database.url, { pool: 'background' }),
    );
    const [first] = pools;
    if (!first) throw new Error('a world needs a replica');
    await bootstrap(first.orm, { balance_nano_usd: 100 * USD });
    const [org] = await first.sql<{ id: string }[]>`select id from organization`;
    return new AlertWorld(database, pools, org?.id ?? '');
  }

  get sql(): Sql {
    return this.database.sql;
  }

  /** The evaluator of a replica. */
  evaluator(replica = 0, sql: Sql | undefined = this.pools[replica]?.sql): AlertEvaluator {
    if (!sql) throw new Error(`there is no replica ${replica}`);
    return new AlertEvaluator({
      ...{ sql, clock: systemClock, interval_ms: 0, mayRun: () => true },
      send: async ({ id }: ActorCommand) => {
        this.started.push(id);
        await sql`update alert_delivery set status = 'pending' where id = ${id}`;
        return { type: 'not_found' };
      },
      onError: (error) => void this.errors.push(error),
    });
  }

  /** Evaluates all rules once, and returns the alerts that this made. */
  async evaluate(): Promise<StoredAlert[]> {
    const before = new Set((await this.alerts()).map(({ cause }) => cause));
    await this.evaluator().run();
    return (await this.alerts()).filter(({ cause }) => !before.has(cause));
  }

  alerts(): Promise<StoredAlert[]> {
    return this.sql<StoredAlert[]>`
      select owner_id, kind, cause, subject_id, figures, ended_at from alert order by cause`;
  }

  /** Creates an endpoint for kinds of alerts, an hour ago. */
  async endpoint(kinds: readonly string[], owner_id = this.organization_id): Promise<string> {
    const id = newId('endpoint');
    await this.sql`
      insert into alert_endpoint (id, owner_id, name, medium, target, kinds, sealed_secret, created_at)
      values (${id}, ${owner_id}, 'test', 'webhook', 'https://example.com', ${[...kinds]}, 'x',
        weir_now() - interval '1 hour')`;
    return id;
  }

  async organization(deposited_usd = 0): Promise<string> {
    const id = newId('org');
    await this.sql`
      insert into organization (id, name, deposited_nano_usd, balance_nano_usd)
      values (${id}, 'Other', ${deposited_usd * USD}, ${deposited_usd * USD})`;
    return id;
  }

  /** Creates a key with a cap and the used part of it, in dollars. */
  async key({
    limit = null as number | null,
    used = 0,
    age_days = 0,
    owner_id = this.organization_id,
  } = {}): Promise<string> {
    const id = newId('key');
    const limit_nano_usd = limit === null ? null : Math.round(limit * USD);
    await this.sql`
      insert into api_key (id, organization_id, name, key_hash, key_prefix, limit_nano_usd,
        used_nano_usd, created_at)
      values (${id}, ${owner_id}, 'A key', ${id}, 'sk-', ${limit_nano_usd},
        ${Math.round(used * USD)}, weir_now() - ${age_days} * interval '1 day')`;
    return id;
  }

  /** Adds to the sums of usage, as a fold does: dollars that a key spent some days ago. */
  async spent(usd: number, days_ago: number, key_id = '', owner_id = this.organization_id) {
    const day = Math.floor(Date.now() / DAY_MS) - days_ago;
    await this.addSum('total', '', owner_id, day, usd);
    if (key_id !== '') await this.addSum('key_total', key_id, owner_id, day, usd);
  }

  /** Adds a model to those that an organization has called. */
  async called(model: string, owner_id = this.organization_id): Promise<void> {
    await this.series('by_model', '', owner_id, model);
  }

  private async series(scope: string, key_id: string, owner_id: string, model = '') {
    await this.sql`
      insert into usage_series (organization_id, scope, key_id, scene, model, model_vendor,
        access_channel, protocol, outcome)
      values (${owner_id}, ${scope}, ${key_id}, '', ${model}, '', '', '', '')
      on conflict do nothing`;
    const [row] = await this.sql<{ id: number }[]>`
      select id from usage_series where organization_id = ${owner_id} and scope = ${scope}
        and key_id = ${key_id} and model = ${model}`;
    return row?.id ?? 0;
  }

  private async addSum(scope: string, key_id: string, owner_id: string, day: number, usd: number) {
    const series_id = await this.series(scope, key_id, owner_id);
    const { sql } = this;
    const table = sql(key_id === '' ? 'usage_day' : 'usage_key_day');
    const columns = await sql<{ name: string }[]>`
      select column_name as name from information_schema.columns
      where table_name = ${key_id === '' ? 'usage_day' : 'usage_key_day'}`;
    const row = Object.fromEntries(columns.map(({ name }) => [name, 0]));
    const nano_usd = Math.round(usd * USD);
    await sql`
      insert into ${table} ${sql({ ...row, series_id, day, requests: 1, charged_nano_usd: nano_usd })}
      on conflict (series_id, day) do update
        set charged_nano_usd = ${table}.charged_nano_usd + ${nano_usd}`;
  }

  async stop(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.close()));
    await this.database.drop();
  }
}
