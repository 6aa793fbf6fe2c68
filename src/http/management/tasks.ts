import { type Static, Type } from '@sinclair/typebox';
import type { Sql } from 'postgres';
import { noteChange } from '../../../db/audit/log.ts';
import { findListedTask, listTasks, type TaskListRow } from '../../../db/tasks/list.ts';
import { GENERATION_SCENES } from '../../catalogue/inputs.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { taskNotFound } from '../../inference/tasks/task-watches.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { createLink } from '../tasks/answer.ts';
import type { GenerationPorts } from '../tasks/ports.ts';
import { admitManager, type ManagementDeps } from './keys.ts';
import {
  choiceParameter,
  listAnswer,
  listSchema,
  nameParameter,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from './list-query.ts';
import { managedTaskRecord, TaskRecordSchema } from './task-record.ts';

/** Dependencies of the management routes of tasks. */
export interface TaskListDeps extends ManagementDeps {
  readonly generation: () => GenerationPorts;
  /** The database of the lists. */
  readonly lists: () => Sql;
}

/** The parameters that choose tasks. */
export const TASK_FILTERS = {
  status: choiceParameter(['pending', 'processing', 'completed', 'failed']),
  scene: choiceParameter(GENERATION_SCENES),
  model: nameParameter(),
  api_key_id: nameParameter(),
};

/** `GET /v1/management/tasks`. */
export const TaskQuerySchema = Type.Object(
  { ...TASK_FILTERS, ...PAGE_PARAMETERS },
  { additionalProperties: false },
);
/** The answer of `GET /v1/management/tasks`. */
export const TaskListSchema = listSchema(TaskRecordSchema);

const validateQuery = validator(TaskQuerySchema);
/** An id that does not match cannot exist, so it is not looked up. */
const TASK_ID = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * `GET /v1/management/tasks`, `/{id}` and `POST …/{id}/cancel`. Each query has the organization in
 * its condition, so a stranger's task answers exactly like a missing one (P6).
 */
export class ManagedTasks {
  constructor(private readonly deps: TaskListDeps) {}

  readonly list: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    const query = readQuery(context.request, validateQuery);
    const request = pageRequestOf(query);
    const page = await listTasks(this.deps.lists(), organization_id, query, request);
    const show = this.shower(context);
    const answer: Static<typeof TaskListSchema> = listAnswer(page, ({ id }) => id, show);
    return json(answer);
  };

  readonly get: Handler = async (context) => {
    const { organization_id } = await admitManager(this.deps, context);
    return json(this.shower(context)(await this.require(context, organization_id)));
  };

  readonly cancel: Handler = async (context) => {
    const { organization_id, actor } = await admitManager(this.deps, context);
    const { id, status, cancel_requested_at } = await this.require(context, organization_id);
    const show = this.shower(context);
    const isOver = status === 'completed' || status === 'failed';
    if (isOver && !cancel_requested_at) {
      throw new WeirError('invalid_request', `The task cannot be canceled: it has ${status}.`, {
        param: 'id',
      });
    }
    if (!isOver) {
      await noteChange(this.deps.sql, {
        ...{ organization_id, actor, action: 'task.cancel', subject_id: id },
        ...{ before: { status }, after: { status: 'canceled' } },
      });
      await this.deps.generation().tasks.cancel(id, organization_id);
    }
    return json(show(await this.require(context, organization_id)));
  };

  private async require({ params }: RequestContext, organization_id: string): Promise<TaskListRow> {
    const id = params['id'] ?? '';
    const row = TASK_ID.test(id)
      ? await findListedTask(this.deps.lists(), organization_id, id)
      : undefined;
    if (!row) throw taskNotFound();
    return row;
  }

  private shower({ request }: RequestContext) {
    const link = createLink(request, this.deps.generation());
    return (row: TaskListRow) => managedTaskRecord(row, link);
  }
}
