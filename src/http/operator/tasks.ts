import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { listAllTasks, type TaskListRow } from '../../../db/tasks/list.ts';
import { validator } from '../../errors/validate.ts';
import { type Handler, json } from '../endpoint.ts';
import {
  listAnswer,
  listSchema,
  nameParameter,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from '../management/list-query.ts';
import { managedTaskRecord, TASK_MEMBERS } from '../management/task-record.ts';
import { TASK_FILTERS } from '../management/tasks.ts';
import { createLink } from '../tasks/answer.ts';
import type { Link } from '../tasks/link.ts';
import type { GenerationPorts } from '../tasks/ports.ts';
import type { OperatorDeps } from './operator-parts.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

const OperatorTaskSchema = Type.Object(
  {
    ...TASK_MEMBERS,
    organization_id: Type.String(),
    /** The channel of the latest submission; null before the first one. */
    channel: Nullable(Type.String()),
    submissions: Type.Integer(),
    /** The state of the task's machine, e.g. `processing.unknown.asking`. */
    state: Nullable(Type.String()),
    /** When the task entered the first part of `state`. */
    state_since: Nullable(Type.String()),
  },
  closed,
);

/** The answer of `GET /v1/operator/tasks`. */
export const OperatorTaskListSchema = listSchema(OperatorTaskSchema);

/** `GET /v1/operator/tasks`. */
export const OperatorTaskQuerySchema = Type.Object(
  {
    ...TASK_FILTERS,
    organization_id: nameParameter(),
    channel: nameParameter(),
    ...PAGE_PARAMETERS,
  },
  closed,
);
const validateQuery = validator(OperatorTaskQuerySchema);

/**
 * `GET /v1/operator/tasks`. Lists the tasks of all organizations, the newest first, with their
 * channels.
 */
export function listOperatorTasks(
  deps: OperatorDeps & { readonly generation: () => GenerationPorts },
): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const query = readQuery(context.request, validateQuery);
    const page = await listAllTasks(deps.operator().sql, query, pageRequestOf(query));
    const link = createLink(context.request, deps.generation());
    const answer: Static<typeof OperatorTaskListSchema> = listAnswer(
      page,
      ({ id }) => id,
      (row) => recordOf(row, link),
    );
    return json(answer);
  };
}

function recordOf(row: TaskListRow, link: Link): Static<typeof OperatorTaskSchema> {
  return {
    ...managedTaskRecord(row, link),
    organization_id: row.organization_id,
    channel: row.channel_id,
    submissions: row.submissions,
    state: row.state,
    state_since: row.state_since?.toISOString() ?? null,
  };
}
