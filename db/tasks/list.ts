import type { Fragment, Sql } from 'postgres';
import { deliveryActorSql } from '../actors/delivery-actor.ts';
import type { JsonValue } from '../actors/store.ts';
import {
  type Page,
  type PageRequest,
  pageBounds,
  pageOf,
  pageOrder,
  positionOf,
  whereEqual,
} from '../pages.ts';
import type { TaskStatus } from './rows.ts';

/** A task as the lists of the management and operator routes show it. */
export interface TaskListRow {
  readonly id: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly request_id: string;
  readonly scene: string;
  readonly model: string;
  readonly status: TaskStatus;
  /** Percent; null = the upstream reported no progress. */
  readonly progress: number | null;
  /** The results; null until the task is completed. */
  readonly outputs: JsonValue;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly billing_id: string | null;
  /** Nano-USD that the task holds now. */
  readonly held_nano_usd: number;
  /** The charge in nano-USD; null while it is not known. */
  readonly charged_nano_usd: number | null;
  readonly created_at: Date;
  readonly deadline_at: Date;
  readonly ended_at: Date | null;
  readonly cancel_requested_at: Date | null;
  readonly webhook_url: string | null;
  /** The columns of the webhook; null until the task has ended. */
  readonly webhook_status: string | null;
  readonly webhook_attempts: number | null;
  readonly webhook_last_status: number | null;
  readonly webhook_next_attempt_at: Date | null;
  /** The place in the list. */
  readonly at_us: number;
  /** Internal columns, for operators only (P5). */
  readonly channel_id: string | null;
  readonly submissions: number;
  readonly state: string | null;
  readonly state_since: Date | null;
}

/** The tasks that a list has. A missing member means all. */
export interface TaskFilter {
  readonly status?: TaskStatus | undefined;
  readonly scene?: string | undefined;
  readonly model?: string | undefined;
  readonly api_key_id?: string | undefined;
}

/** The tasks that an operator's list has. */
export interface AllTasksFilter extends TaskFilter {
  readonly organization_id?: string | undefined;
  readonly channel?: string | undefined;
}

const SORT = { at: 'created_at', id: 'id' };

/** Returns a page of the tasks of an organization, the newest first. */
export function listTasks(
  sql: Sql,
  organization_id: string,
  filter: TaskFilter,
  page: PageRequest,
): Promise<Page<TaskListRow>> {
  return readPage(sql, sql`organization_id = ${organization_id} ${conditions(sql, filter)}`, page);
}

/** Returns a page of the tasks of all organizations, the newest first. */
export function listAllTasks(
  sql: Sql,
  filter: AllTasksFilter,
  page: PageRequest,
): Promise<Page<TaskListRow>> {
  const organization = whereEqual(sql, 'organization_id', filter.organization_id);
  const channel = whereEqual(sql, 'channel_id', filter.channel);
  return readPage(sql, sql`true ${organization} ${channel} ${conditions(sql, filter)}`, page);
}

/** Finds a task of an organization; undefined for a task of another one (P6). */
export async function findListedTask(
  sql: Sql,
  organization_id: string,
  id: string,
): Promise<TaskListRow | undefined> {
  const [row] = await select(
    sql,
    sql`where organization_id = ${organization_id} and id = ${id}`,
    sql``,
  );
  return row;
}

function conditions(sql: Sql, { status, scene, model, api_key_id }: TaskFilter): Fragment {
  return sql`${whereEqual(sql, 'status', status)} ${whereEqual(sql, 'scene', scene)}
    ${whereEqual(sql, 'model', model)} ${whereEqual(sql, 'key_id', api_key_id)}`;
}

async function readPage(
  sql: Sql,
  condition: Fragment,
  page: PageRequest,
): Promise<Page<TaskListRow>> {
  const order = pageOrder(sql, page, SORT);
  const rows = await select(
    sql,
    sql`where ${condition} ${pageBounds(sql, page, SORT)} ${order}`,
    sql`order by created_at desc, id desc`,
  );
  return pageOf(rows, page);
}

/** The other tables are joined to the rows of one page only, each by its primary key. */
function select(sql: Sql, rows: Fragment, order: Fragment): Promise<TaskListRow[]> {
  return sql<TaskListRow[]>`
    with listed as (
      select id, organization_id, key_id, request_id, scene, model, status, outputs, error_code,
        error_message, billing_id, hold_id, channel_id, attempts as submissions, webhook_url,
        created_at, deadline_at, ended_at, cancel_requested_at
      from task ${rows}
    )
    select listed.id, listed.organization_id, listed.key_id, request_id, scene, model,
      listed.status, case when listed.status = 'completed' then outputs end as outputs,
      (actor.snapshot #>> '{context,progress}')::int4 as progress, error_code, error_message,
      billing_id, channel_id, submissions, actor.state, actor.since as state_since,
      case when hold.status = 'held' then amount_nano_usd else 0 end as held_nano_usd,
      case when hold.status <> 'held' then hold.charged_nano_usd end as charged_nano_usd,
      listed.created_at, deadline_at, listed.ended_at, cancel_requested_at, webhook_url,
      delivery.status as webhook_status, delivery.attempts as webhook_attempts,
      delivery.last_status as webhook_last_status,
      case when delivery.status = 'pending' then timer.fire_at end as webhook_next_attempt_at,
      ${positionOf(sql, 'listed.created_at')} as at_us
    from listed
      left join hold on hold.id = listed.hold_id
      left join actor on actor.kind = 'task' and actor.id = listed.id
      left join webhook_delivery as delivery on delivery.task_id = listed.id
      left join timer on timer.kind = 'webhook' and timer.name = 'retry'
        and timer.actor_id = ${deliveryActorSql(sql)}
    ${order}`;
}
