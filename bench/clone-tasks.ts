/**
 * Copies of tasks, made in the database while no Weir runs. A hundred thousand tasks take seconds
 * this way. Through the API they would take ten minutes.
 */
import type { Sql, TransactionSql } from '../db/client.ts';
import { LAST_POLL_MS } from '../src/machines/task-events.ts';

/** How many copies to make. The originals are not counted here. */
export interface CloneCounts {
  /** Copies whose provider is polled. */
  polled: number;
  /** Copies that wait for a poll that is a day away. */
  parked: number;
}

/** The tables that have rows of a task that waits for its next poll. */
const TABLES = ['task', 'actor', 'actor_event', 'hold', 'timer'] as const;

/**
 * New values for columns that must differ between copies or lie in the future. All other values
 * are copied as they are, and the ids of the task and of its hold are replaced wherever they occur.
 * So a version of Weir with more columns needs no change here.
 */
const CHANGES: Record<(typeof TABLES)[number], string> = {
  task: `jsonb_build_object('request_id', uuidv7(), 'submission_key', uuidv7(),
    'deadline_at', weir_now() + interval '1 day')`,
  actor: `'{}'::jsonb`,
  actor_event: `jsonb_build_object('command_id', uuidv7())`,
  hold: `'{}'::jsonb`,
  timer: `jsonb_build_object('fire_at', weir_now() + interval '1 day'
    + case when polled and name = 'poll' then interval '1 day' else interval '0 s' end)`,
};

/**
 * How many of the latest events of a task are copied. Earlier events would only make the copy
 * slower, because a waiting task only gets new events.
 */
const KEPT_EVENTS = 2;

/** The rows that belong to the task `original.id`. */
const CONDITIONS: Record<(typeof TABLES)[number], string> = {
  task: 'source.id = original.id',
  actor: `source.kind = 'task' and source.id = original.id`,
  actor_event: `source.kind = 'task' and source.actor_id = original.id and source.seq >
    (select seq - ${KEPT_EVENTS} from actor where kind = 'task' and id = original.id)`,
  hold: 'source.id = original.hold_id',
  timer: `source.kind = 'task' and source.actor_id = original.id`,
};

/**
 * Copies every unfinished task of the database in turn, with its actor, events, timers and hold.
 * The copies share the provider's job with their original. Their money moves from the balance of
 * the organization to its holds, so that the ledger's sums still add up. The polled copies are
 * spread evenly among the parked ones. No copy is polled before `startPolls`.
 *
 * @throws if an original does not wait for its next poll.
 */
export async function cloneTasks(sql: Sql, counts: CloneCounts): Promise<void> {
  await sql.begin(async (tx) => {
    await requireWaiting(tx);
    const total = counts.polled + counts.parked;
    await tx`
      create temporary table clone on commit drop as
      select n, original.id, original.hold_id, original.organization_id, original.key_id,
        original.hold_nano_usd, uuidv7()::text as new_hold_id,
        'weir_' || replace(uuidv7()::text, '-', '') as new_id,
        n * ${counts.polled}::int8 / ${total} > (n - 1) * ${counts.polled}::int8 / ${total} as polled
      from generate_series(1, ${total}::int8) as n
      join (select *, row_number() over (order by id) as place, count(*) over () as originals
        from task where status = 'processing') as original on n % originals = place - 1`;
    for (const table of TABLES) await copyRows(tx, table);
    await tx`
      update organization set held_nano_usd = held_nano_usd + amount,
        balance_nano_usd = balance_nano_usd - amount
      from (select organization_id, sum(hold_nano_usd)::int8 as amount from clone group by 1) as sums
      where id = organization_id`;
    await tx`
      update api_key set held_nano_usd = held_nano_usd + amount
      from (select key_id, sum(hold_nano_usd)::int8 as amount from clone group by 1) as sums
      where id = key_id`;
    // The originals are polled like the copies, and must not reach their deadline.
    await tx`
      update task set deadline_at = weir_now() + interval '1 day'
      where deadline_at < weir_now() + interval '12 hours'`;
    await tx`
      update timer set fire_at = weir_now() + interval '1 day'
        + case when name = 'poll' then interval '1 day' else interval '0 s' end
      where kind = 'task' and fire_at < weir_now() + interval '12 hours'`;
  });
  await sql`vacuum analyze`;
}

/**
 * Spreads the next polls of the polled tasks over the longest pause between two polls, beginning
 * `lead_s` seconds from now. Parked tasks stay as they are. Returns the number of polled tasks.
 */
export async function startPolls(sql: Sql, lead_s: number): Promise<number> {
  const rows = await sql`
    update timer set fire_at = weir_now() + ${lead_s} * interval '1 second'
      + random() * ${LAST_POLL_MS} * interval '1 millisecond'
    where kind = 'task' and name = 'poll' and fire_at > weir_now() + interval '30 hours'`;
  return rows.count;
}

async function requireWaiting(tx: TransactionSql): Promise<void> {
  const [row] = await tx<{ tasks: number; waiting: number; effects: number }[]>`
    select (select count(*)::int4 from task) as tasks,
      (select count(*)::int4 from task join timer on kind = 'task' and actor_id = id
        where name = 'poll' and status = 'processing') as waiting,
      (select count(*)::int4 from outbox where status = 'pending') as effects`;
  if (row && row.tasks > 0 && row.tasks === row.waiting && row.effects === 0) return;
  throw new Error(`every task must wait for its next poll: ${JSON.stringify(row)}`);
}

/** Copies the rows of one table. A row becomes JSON, gets its new ids, and becomes a row again. */
async function copyRows(tx: TransactionSql, table: (typeof TABLES)[number]): Promise<void> {
  const columns = await tx<{ name: string }[]>`
    select quote_ident(column_name) as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`;
  const names = columns.map(({ name }) => name);
  await tx.unsafe(`
    insert into ${table} (${names.join(', ')})
    select ${names.map((name) => `made.${name}`).join(', ')}
    from clone as original join ${table} as source on ${CONDITIONS[table]},
    lateral jsonb_populate_record(null::${table},
      replace(replace(to_jsonb(source)::text, original.id, new_id), original.hold_id::text, new_hold_id)::jsonb
        || ${CHANGES[table]}) as made
    order by n`);
}
