/** Replays the event log of every durable actor in a database. */
import type { Sql } from 'postgres';
import { readHistory } from '../../db/actors/history.ts';
import type { JsonValue } from '../../db/actors/store.ts';
import { hashSnapshot, sha256 } from '../../src/actors/durable/snapshot.ts';
import { versionedBatch, versionedTask, versionedWebhook } from '../../src/replay/machines.ts';
import { type ReplayedEvent, replay } from '../../src/replay/replay.ts';
import { statePath } from '../../src/replay/step.ts';
import { restoreSnapshot } from '../../src/replay/stored-snapshot.ts';
import type { VersionedMachine } from '../../src/replay/versioned.ts';

/** The machines of Weir's durable actors, by kind. */
export const DURABLE_MACHINES: Readonly<Record<string, VersionedMachine>> = {
  task: versionedTask,
  batch: versionedBatch,
  webhook: versionedWebhook,
};

/** Small, so that longer logs have several pages. */
const PAGE_EVENTS = 5;

interface StoredActor {
  kind: string;
  id: string;
  seq: number;
  state: string;
  machine_version: number;
  snapshot: JsonValue;
}

/** What `replayAll` found. `problems` is empty if each log replays to its actor's row. */
export interface ReplayReport {
  actors: number;
  events: number;
  problems: string[];
}

/** Replays every log. Checks the hash of each event, and compares the end with the actor's row. */
export async function replayAll(
  sql: Sql,
  machines: Readonly<Record<string, VersionedMachine>> = DURABLE_MACHINES,
): Promise<ReplayReport> {
  const actors = await sql<StoredActor[]>`
    select kind, id, seq, state, machine_version, snapshot from actor order by kind, id`;
  const report: ReplayReport = { actors: actors.length, events: 0, problems: [] };
  for (const actor of actors) {
    const machine = machines[actor.kind];
    if (!machine) throw new Error(`no machine of kind ${actor.kind}`);
    try {
      report.events += await replayActor(sql, machine, actor);
    } catch (error) {
      report.problems.push(`${actor.kind}/${actor.id}: ${String(error)}`);
    }
  }
  return report;
}

async function replayActor(sql: Sql, machine: VersionedMachine, actor: StoredActor) {
  let last: ReplayedEvent | undefined;
  // The actor may receive events during the replay. Its row was read first, so events after `seq`
  // of the row are left out.
  for (let seq = 0; seq < actor.seq; seq = last?.seq ?? actor.seq) {
    const limit = Math.min(PAGE_EVENTS, actor.seq - seq);
    const page = await readHistory(sql, actor.kind, actor.id, seq, limit);
    const missing = page.find(({ context_hash }) => context_hash === null);
    if (missing) throw new Error(`event ${missing.seq} has no hash`);
    if (page.length < limit) throw new Error(`an event after ${seq} is missing`);
    last = replay(machine, page, sha256, last).at(-1);
  }
  const row = restoreSnapshot(machine, actor);
  const stored = { seq: actor.seq, state: actor.state, hash: hashSnapshot(row) };
  const replayed = last && {
    seq: last.seq,
    state: statePath(last.snapshot),
    hash: last.context_hash,
  };
  if (!Bun.deepEquals(replayed, stored)) {
    throw new Error(`the log ends with ${JSON.stringify(replayed)}, not ${JSON.stringify(stored)}`);
  }
  return actor.seq;
}

interface HoldTotals {
  task_id: string;
  hold_nano_usd: number;
  charged_nano_usd: number;
  status: string;
  held: number;
  settled: number;
  released: number;
}

/**
 * Compares the money of each task's events with its hold in the ledger. Returns the tasks for which
 * they differ, and the number of tasks compared.
 */
export async function compareMoney(sql: Sql): Promise<{ tasks: number; problems: HoldTotals[] }> {
  const totals = await sql<HoldTotals[]>`
    select task.id as task_id, hold.amount_nano_usd as hold_nano_usd, hold.charged_nano_usd,
      hold.status, coalesce(sum((money ->> 'held')::int8), 0)::int8 as held,
      coalesce(sum((money ->> 'settled')::int8), 0)::int8 as settled,
      coalesce(sum((money ->> 'released')::int8), 0)::int8 as released
    from task join hold on hold.id = task.hold_id
      left join actor_event on actor_event.kind = 'task' and actor_id = task.id
    group by task.id, hold.id`;
  const problems = totals.filter(
    ({ hold_nano_usd, charged_nano_usd, status, held, settled, released }) =>
      held !== hold_nano_usd ||
      settled !== charged_nano_usd ||
      (status === 'held' ? settled + released !== 0 : settled + released !== held),
  );
  return { tasks: totals.length, problems };
}
