/**
 * Measures each query about usage that a page of the dashboard makes, over HTTP, beside millions of
 * usage lines, and how far the sums lag behind lines that are inserted meanwhile.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase, type Sql } from '../db/client.ts';
import { requestIdOf } from '../src/errors/request-id.ts';
import { orExit } from '../test/support/arguments.ts';
import { removeFolder, throwawayFolder } from '../test/support/throwaway.ts';
import {
  bookMore,
  fillUsage,
  insertMore,
  keyOf,
  type RowModel,
} from '../test/support/usage-rows.ts';
import { type RunningWeir, startWeir } from '../test/support/weir.ts';
import { createCleanup } from './cleanup.ts';
import { startDatabases } from './databases.ts';
import { machine, writeSection } from './results-file.ts';
import { median } from './statistics.ts';
import { readUsageOptions } from './usage-options.ts';
import { type UsageQuery, usageQueries } from './usage-queries.ts';

const TOO_MANY = 429;
const options = orExit(() => readUsageOptions(process.argv.slice(2)));
/** The p99 of each query. */
const TARGET_MS = 300;
const TARGET_LAG_MS = 1_000;
/** Filling a database takes longer than a statement of Weir may take. */
const STATEMENT_TIMEOUT_MS = 60 * 60_000;
const KEYS = 1_000;
const DAYS = 90;
/** A query is sent less often if it is slow. */
const MAX_QUERY_MS = 60_000;
const INSERTS = 100;
const LINES_AN_INSERT = 50;
const INSERT_PAUSE_MS = 100;
/** A later run on the same database needs the credentials of the first one. */
const CREDENTIALS = {
  WEIR_BOOTSTRAP_API_KEY: 'sk-bench-usage',
  WEIR_BOOTSTRAP_MANAGEMENT_TOKEN: 'mt-bench-usage',
  WEIR_BOOTSTRAP_OPERATOR_TOKEN: 'op-bench-usage',
};

const cleanup = createCleanup();
const code = await run().catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  return 3;
});
await cleanup.run();
process.exit(code);

async function run(): Promise<number> {
  const { lines, data } = options;
  const folder = data ?? throwawayFolder('usage');
  if (data === undefined) cleanup.add(() => removeFolder(folder));
  else mkdirSync(data, { recursive: true });
  const databases = await startDatabases(folder);
  cleanup.add(() => databases.stop());
  const mark = join(folder, `filled-${lines}`);
  const isFilled = existsSync(mark);
  if (!isFilled) {
    await databases.drop('usage');
    await databases.create('usage');
  }
  const url = databases.url('usage');
  const start = () => startWeir({ env: { DATABASE_URL: url, ...CREDENTIALS } });
  const first = await start();
  const models = await modelsOf(first);
  await first.stop();

  const own = connectDatabase(url, { pool: 'single', statement_timeout_ms: STATEMENT_TIMEOUT_MS });
  cleanup.add(() => own.close());
  const { sql } = own;
  const [organization] = await sql<{ id: string }[]>`select id from organization`;
  const rows = { organization_id: organization?.id ?? '', lines, keys: KEYS, days: DAYS };
  if (!isFilled) {
    console.log(`Fills a database with ${lines} usage lines.`);
    const [, fill_s] = await timed(() => fillUsage(sql, models, rows, console.log));
    writeFileSync(mark, '');
    console.log(`Filled in ${fill_s.toFixed(0)} s.`);
  }
  const isSummed = isFilled && (await isReady(sql));
  console.log('Weir sums the lines.');

  const weir = await start();
  cleanup.add(() => weir.stop());
  const [, fold_s] = await timed(() => folded(sql));
  console.log(`Summed in ${fold_s.toFixed(0)} s.`);
  await sql.unsafe('vacuum analyze');
  const [line] = await sql<{ request_id: string; month: string }[]>`
    select request_id, to_char(now() - interval '1 month', 'YYYY-MM') as month from usage_line
    order by at desc limit 1`;
  const [model] = models;
  const names = {
    ...{ key_id: keyOf(1), model: model?.id ?? '', vendor: model?.owned_by ?? '', lines },
    ...{ request_id: requestIdOf(line?.request_id ?? ''), month: line?.month ?? '' },
  };
  const table: string[] = [];
  let missed = 0;
  for (const query of usageQueries(names, new Date())) {
    const times = await measure(weir, query);
    const p99 = share(times, 0.99);
    if (p99 > TARGET_MS) missed += 1;
    const cells = [query.name, times.length, median(times).toFixed(0), p99.toFixed(0)];
    table.push(`| ${cells.join(' | ')}${p99 > TARGET_MS ? ' (missed)' : ''} |`);
    console.log(table.at(-1));
  }
  const lags = await measureLag(sql, models, rows);
  const lag = share(lags, 0.99);
  if (lag > TARGET_LAG_MS) missed += 1;
  const lag_text = `median ${median(lags).toFixed(0)} ms, p99 ${lag.toFixed(0)} ms`;
  console.log(`Lag of the sums: ${lag_text}`);
  const [size] = await sql<{ text: string; days: number; weeks: number; quarters: number }[]>`
    select pg_size_pretty(pg_database_size(current_database())) as text,
      (select count(*)::int4 from usage_day) + (select count(*)::int4 from usage_name_day)
        + (select count(*)::int4 from usage_key_day)
        + (select count(*)::int4 from usage_key_name_day)
        + (select count(*)::int4 from usage_key_model_day) as days,
      (select count(*)::int4 from usage_key_model_week) as weeks,
      (select count(*)::int4 from usage_quarter) + (select count(*)::int4 from usage_name_quarter)
        + (select count(*)::int4 from usage_key_quarter) as quarters`;
  const count = (value: number) => value.toLocaleString('en');
  const text = `## Pages of usage beside ${count(lines)} usage lines

\`bin/bench usage${lines === 10_000_000 ? '' : ` --lines ${lines}`}\`, ${machine()}. ${count(KEYS)} keys, ${models.length} models, ${DAYS} days; the shares of keys and of models follow Zipf's law.
One client sends each query over HTTP and reads the whole answer (of the export: the first bytes). Target of
the p99: ${TARGET_MS} ms. The database has ${size?.text}; ${count(size?.quarters ?? 0)} sums of 15 minutes, ${count(size?.days ?? 0)} of a day
and ${count(size?.weeks ?? 0)} of a week${isSummed ? '' : `, which Weir made in ${fold_s.toFixed(0)} s`}.

| query | samples | median, ms | p99, ms |
|---|---|---|---|
${table.join('\n')}

How long the sums lagged behind ${count(INSERTS * LINES_AN_INSERT)} lines that were inserted meanwhile: ${lag_text} (target
of the p99: ${count(TARGET_LAG_MS)} ms). Answers add what is not summed yet, so they do not lag.
`;
  if (options.write) writeSection('usage', text);
  else console.log(text);
  return missed > 0 ? 1 : 0;
}

/** Returns models that an organization uses: of each scene a few. */
async function modelsOf(weir: RunningWeir): Promise<RowModel[]> {
  const response = await fetch(`${weir.base_url}/v1/models`, {
    headers: { authorization: `Bearer ${weir.api_key}` },
  });
  const { data } = (await response.json()) as { data: { id: string; owned_by: string }[] };
  if (data.length < 2) throw new Error('the catalogue has fewer than two models');
  return data.slice(0, 20).map(({ id, owned_by }) => ({ id, owned_by, scene: 'chat' }));
}

/** Waits until all lines are in the sums. */
async function folded(sql: Sql): Promise<void> {
  for (;;) {
    if (await isReady(sql)) return;
    await Bun.sleep(250);
  }
}

/** True if all lines are in the sums, but for those of the latest seconds. */
async function isReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ is_ready: boolean }[]>`select is_ready from usage_fold`;
  return row?.is_ready ?? false;
}

/** Sends a query again and again. Returns the times of the answers, ms. */
async function measure(weir: RunningWeir, query: UsageQuery): Promise<number[]> {
  const token = query.role === 'operator' ? weir.operator_token : weir.management_token;
  const isExport = query.path.includes('/usage/export');
  const send = async (): Promise<number> => {
    const begin = performance.now();
    const stop = new AbortController();
    const response = await fetch(weir.base_url + query.path, {
      headers: { authorization: `Bearer ${token}` },
      signal: stop.signal,
    });
    if (response.status === TOO_MANY) {
      // A fast machine sends more queries a minute than Weir allows a token. The wait is not a part of a query.
      await response.text();
      await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
      return send();
    }
    if (!response.ok) throw new Error(`${query.path}: ${response.status} ${await response.text()}`);
    if (isExport) {
      await response.body?.getReader().read();
      stop.abort();
    } else await response.text();
    return performance.now() - begin;
  };
  await send();
  const times: number[] = [];
  const end = performance.now() + MAX_QUERY_MS;
  while (times.length < options.samples && performance.now() < end) times.push(await send());
  return times;
}

/** Inserts lines, and returns how much later each transaction is in the sums, ms. */
async function measureLag(
  sql: Sql,
  models: readonly RowModel[],
  rows: Parameters<typeof insertMore>[2],
): Promise<number[]> {
  const waiting = new Map<number, number>();
  const lags: number[] = [];
  let first_xid: number | undefined;
  const look = async () => {
    const [row] = await sql<{ next_xid: number; open_xids: number[] }[]>`
      select next_xid, open_xids from usage_fold`;
    const open = new Set(row?.open_xids.map(Number));
    for (const [xid, at] of waiting) {
      if (xid >= (row?.next_xid ?? 0) || open.has(xid)) continue;
      lags.push(performance.now() - at);
      waiting.delete(xid);
    }
  };
  for (let n = 0; n < INSERTS; n += 1) {
    const xid = await insertMore(sql, models, rows, LINES_AN_INSERT);
    first_xid ??= xid;
    const committed = performance.now();
    waiting.set(xid, committed);
    while (performance.now() < committed + INSERT_PAUSE_MS) {
      await Bun.sleep(5);
      await look();
    }
  }
  while (waiting.size > 0) {
    await Bun.sleep(5);
    await look();
  }
  // A later run on the same database finds books that balance.
  await bookMore(sql, rows.organization_id, first_xid ?? 0);
  return lags;
}

function share(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
}

async function timed<Found>(work: () => Promise<Found>): Promise<[Found, seconds: number]> {
  const begin = performance.now();
  const found = await work();
  return [found, (performance.now() - begin) / 1_000];
}
