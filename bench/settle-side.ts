/**
 * Settles charges with one version of Weir, and prints what it took as JSON. If that version sums usage,
 * its worker runs beside. Arguments: the folder of
 * that version, the URL of its database, lines in a statement, statements.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type Sql } from '../db/client.ts';
import type { InlineLine } from '../db/ledger/usage-line.ts';

/** What the statements of one measurement took. */
export interface Settled {
  readonly lines_per_s: number;
  /** CPU time of the session that settles for one line, µs. */
  readonly postgres_us: number;
  /** CPU time of the process that sends the lines for one line, µs. */
  readonly weir_us: number;
}

/**
 * The share of statements that run before those that are measured. In an ordinary measurement the worker
 * sums twice meanwhile. Its first turns create tables and compile code, and a server runs far longer.
 */
const WARM_UP_SHARE = 1 / 3;
const US_PER_S = 1_000_000;
/** Linux counts CPU time in hundredths of a second (proc(5)). */
const US_PER_TICK = 10_000;
const NAMES = { organization_id: 'org_bench', key_id: 'key_bench0123456789a' };

/** Creates the tables of the version, and a grant that pays every line. Returns the id of the grant. */
async function openGrant(sql: Sql, root: string): Promise<string> {
  const { migrateDatabase } = await import(join(root, 'db/migrate.ts'));
  await migrateDatabase(sql);
  const { organization_id, key_id } = NAMES;
  await sql`insert into organization (id, name) values (${organization_id}, 'bench')
    on conflict do nothing`;
  await sql`insert into api_key (id, organization_id, name, key_hash, key_prefix)
    values (${key_id}, ${organization_id}, 'bench', 'bench', 'sk-') on conflict do nothing`;
  const replica_id = Bun.randomUUIDv7();
  await sql`insert into replica (id, lease_until) values (${replica_id}, now() + interval '1 h')`;
  const grant_id = Bun.randomUUIDv7();
  await sql`insert into quota_grant ${sql({
    ...{ id: grant_id, organization_id, key_id, replica_id, status: 'open' },
    granted_nano_usd: 1_000_000_000_000,
  })}`;
  return grant_id;
}

function lineOf(grant_id: string): InlineLine {
  const id = Bun.randomUUIDv7();
  return {
    ...{ id, request_id: id, ...NAMES, grant_id, scene: 'chat', access_channel: 'platform' },
    ...{ model: 'gpt-4o', model_vendor: 'openai', channel_id: 'main', outcome: 'completed' },
    ...{ input_tokens: 25, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 40 },
    ...{ reasoning_tokens: 0, audio_tokens: 0, estimated: false },
    ...{ charged_nano_usd: 12_345, overrun_nano_usd: 0 },
    // A version without records of calls does not read it.
    record: {
      ...{ at_ms: Date.now(), protocol: 'openai', program: 'OpenAI/JS 7.55.0' },
      ...{ authenticated_us: 120, reserved_us: 410, routed_us: 520 },
      ...{ first_token_ms: null, ended_ms: 13, detail: undefined },
    },
  };
}

/** Starts the worker that sums usage. Returns a function that stops it. */
async function startFolder(root: string, url: string): Promise<() => Promise<void>> {
  const path = join(root, 'src/actors/money/usage-folder.ts');
  if (!existsSync(path)) return async () => undefined;
  const { UsageFolder } = await import(path);
  const { systemClock } = await import(join(root, 'src/actors/clock.ts'));
  const database = connectDatabase(url, { pool: 'single' });
  const folder = new UsageFolder({ sql: database.sql, clock: systemClock, onError: console.error });
  folder.start();
  return async () => {
    await folder.stop();
    await database.close();
  };
}

async function ticksOf(pid: number): Promise<number> {
  const fields = (await Bun.file(`/proc/${pid}/stat`).text()).split(' ');
  return Number(fields[13]) + Number(fields[14]);
}

async function measure(root: string, url: string, lines: number, statements: number) {
  const database = connectDatabase(url, { pool: 'single' });
  const { sql } = database;
  const grant_id = await openGrant(sql, root);
  const { settleInline } = await import(join(root, 'db/ledger/settle.ts'));
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = session?.pid ?? 0;
  const settle = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      await settleInline(
        sql,
        Array.from({ length: lines }, () => lineOf(grant_id)),
      );
    }
  };
  const stopFolder = await startFolder(root, url);
  await settle(Math.ceil(statements * WARM_UP_SHARE));
  const [ticks, cpu, began_ms] = [await ticksOf(pid), process.cpuUsage(), performance.now()];
  await settle(statements);
  const took_ms = performance.now() - began_ms;
  const { user, system } = process.cpuUsage(cpu);
  const sent = lines * statements;
  const settled: Settled = {
    lines_per_s: (sent * US_PER_S) / (took_ms * 1_000),
    postgres_us: (((await ticksOf(pid)) - ticks) * US_PER_TICK) / sent,
    weir_us: (user + system) / sent,
  };
  await stopFolder();
  await database.close();
  return settled;
}

const [root = '', url = '', lines, statements] = process.argv.slice(2);
console.log(JSON.stringify(await measure(root, url, Number(lines), Number(statements))));
