/** Tables of an earlier version become partitions, with all their rows and without copying them. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Sql } from 'postgres';
import { migrateDatabase } from '../../../db/migrate.ts';
import { addMonths, listPartitions } from '../../../db/retention/months.ts';
import { readAsOf } from '../../../db/usage/as-of.ts';
import { listLines } from '../../../db/usage/lines.ts';
import { fold } from '../../../db/usage/roll-ups/fold.ts';
import { earlierMigrations } from '../../support/earlier-migrations.ts';
import { createEmptyDatabase } from '../../support/postgres.ts';
import { POSTGRES_VERSIONS } from '../../support/postgres-server.ts';
import { removeFolder } from '../../support/throwaway.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const idAt = (ms: number) => Bun.randomUUIDv7('hex', ms);
const DAY_MS = 86_400_000;

async function write(sql: Sql, id: string): Promise<void> {
  await sql`
    insert into usage_line (id, request_id, organization_id, key_id, grant_id, scene,
      access_channel, model, model_vendor, channel_id, outcome, input_tokens, cached_input_tokens,
      cache_write_tokens, output_tokens, estimated, charged_nano_usd)
    values (${id}, ${id}, 'o', 'k', ${id}, 'chat', 'platform', 'm', 'v', 'c', 'completed', 1, 0, 0,
      1, false, 7)`;
  await sql`
    insert into call_record (id, organization_id, key_id, scene, model, model_vendor, channel_id,
      outcome, status)
    values (${id}, 'o', 'k', 'chat', 'm', 'v', '', 'refused', 400)`;
}

/** The columns, checks and indexes of each table of a tree. */
async function shapes(sql: Sql, table: string): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; shape: string }[]>`
    select relid::text as name, concat_ws(E'\n',
      (select string_agg(concat_ws(' ', attname, atttypid::regtype, attnotnull,
          pg_get_expr(adbin, adrelid)), E'\n' order by attnum)
        from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
        where attrelid = relid and attnum > 0 and not attisdropped),
      (select string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\n' order by conname)
        from pg_constraint where conrelid = relid and contype = 'c'),
      (select string_agg(regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', '')
          || indisunique || indisvalid, E'\n' order by pg_get_indexdef(indexrelid) ~ 'UNIQUE',
          regexp_replace(pg_get_indexdef(indexrelid), '^.* USING ', ''))
        from pg_index where indrelid = relid)) as shape
    from pg_partition_tree(${table}::text::regclass)`;
  return new Map(rows.map(({ name, shape }) => [name, shape]));
}

describe.each([...POSTGRES_VERSIONS])('partitions on PostgreSQL %d', (version) => {
  test('the rows of an earlier version stay where they are, and count', async () => {
    const { sql, drop } = await createEmptyDatabase(version);
    cleanups.push(() => drop());
    // Later migrations change the tables of sums, which `fold` needs. One changes a table that the
    // migration with partitions creates.
    const migrations = earlierMigrations((tags) =>
      tags.filter((tag) => !/_(?:monthly_partitions|cap_counts)$/.test(tag)),
    );
    cleanups.push(() => removeFolder(migrations));
    await migrateDatabase(sql, migrations);
    const now = Date.now();
    const ids = [idAt(0), idAt(now - 400 * DAY_MS), idAt(now)];
    // The clock of a replica was ahead.
    const ahead = idAt(now + 32 * DAY_MS);
    for (const id of [...ids, ahead]) await write(sql, id);
    while ((await fold(sql)).more);
    await write(sql, idAt(now + 1));
    const files = (name: string) =>
      sql`select pg_relation_filenode(${name}::text::regclass) as file`;
    const [before] = await files('usage_line');
    await migrateDatabase(sql);
    const [after] = await files('usage_line_earlier');
    expect(after).toEqual(before as never);
    for (const table of ['usage_line', 'call_record']) {
      const places = await sql<{ place: string; count: number }[]>`
        select tableoid::regclass::text as place, count(*)::int4 as count from ${sql(table)}
        group by 1 order by 1`;
      expect(places.map((place) => ({ ...place }))).toEqual([
        { place: `${table}_default`, count: 1 },
        { place: `${table}_earlier`, count: 4 },
      ]);
    }
    await addMonths(sql);
    const [moved] = await sql<{ place: string }[]>`
      select tableoid::regclass::text as place from usage_line where id = ${ahead}`;
    const months = await listPartitions(sql, 'usage_line');
    expect(months.map(({ name }) => name)).toContain(moved?.place as string);
    while ((await fold(sql)).more);
    const page = { offset: 0, limit: 10 };
    const listed = await listLines(sql, { organization_id: 'o' }, await readAsOf(sql), page);
    expect(listed).toMatchObject({ total: 5, lines_since: undefined });
    await expect(write(sql, ids[1] ?? '')).rejects.toThrow('duplicate key');
  });

  test('each partition has the columns, checks and indexes of its table', async () => {
    const { sql, drop } = await createEmptyDatabase(version);
    cleanups.push(() => drop());
    await migrateDatabase(sql);
    await addMonths(sql);
    for (const table of ['usage_line', 'call_record']) {
      const found = await shapes(sql, table);
      expect(found.size).toBeGreaterThanOrEqual(5);
      expect(found.get(table)).toContain('brin');
      for (const [name, shape] of found) {
        expect(`${name}\n${shape}`).toBe(`${name}\n${found.get(table)}`);
      }
    }
  });
});
