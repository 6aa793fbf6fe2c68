import { Type } from '@sinclair/typebox';
import type { ActorPlace, StateCount } from '../../../db/actors/inspection.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { inspectedActor } from '../../inference/inspection/inspected.ts';
import type { Viewer } from '../../inference/inspection/viewer.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { choiceParameter, nameParameter, readQuery } from '../management/list-query.ts';
import { actorNotFound, type InspectScope } from './scope.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;
const MAX_CURSOR_CHARS = 600;
const MAX_NAME_CHARS = 200;

const KINDS = ['task', 'batch', 'webhook', 'quota', 'channel'] as const;

/** `GET …/inspect/actors`. */
export const ListInspectedSchema = Type.Object(
  {
    kind: choiceParameter(KINDS),
    state: nameParameter(),
    id: nameParameter(),
    organization_id: nameParameter(),
    replica: nameParameter(),
    live: choiceParameter(['true', 'false']),
    stuck: choiceParameter(['true', 'false']),
    cursor: Type.Optional(Type.String()),
    limit: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MAX_LIMIT },
        errorMessage: `must be a whole number from 1 to ${MAX_LIMIT}`,
      }),
    ),
  },
  { additionalProperties: false },
);
const validateList = validator(ListInspectedSchema);
/** The parameters by which only operators may choose. */
const OPERATOR_FILTERS = ['organization_id', 'replica'] as const;

/** The query of the routes of one actor. */
export const InspectedActorSchema = Type.Object(
  { replica: nameParameter() },
  { additionalProperties: false },
);
/** Returns the query of a route of one actor. Throws WeirError. */
export const validateReplica = validator(InspectedActorSchema);

/**
 * `GET …/inspect/actors`: the actors of all replicas. Living ones come in the order in which they entered
 * their state. `stuck=true` lists those that are longer in it than is usual. `live=false` lists ended
 * ones, the latest first. `counts` has the living actors by state, for the same filter without `state`.
 */
export function listInspected(scope: InspectScope): Handler {
  return async (context) => {
    const viewer = await scope.admit(context);
    const {
      live = 'true',
      stuck = 'false',
      limit = DEFAULT_LIMIT,
      cursor,
      ...wanted
    } = readQuery(context.request, validateList);
    for (const param of OPERATOR_FILTERS) {
      if (viewer.organization_id === null || wanted[param] === undefined) continue;
      throw new WeirError('invalid_request', `Only operators may send ${param}.`, { param });
    }
    if (stuck === 'true' && live === 'false') {
      throw new WeirError('invalid_request', 'An ended actor is not stuck.', {
        ...{ param: 'stuck', hint: 'Send stuck=true without live=false.' },
      });
    }
    const after = cursor === undefined ? undefined : placeOf(cursor);
    const { inspector } = scope.deps.inspection();
    const filter = { ...wanted, live: live === 'true', stuck: stuck === 'true' };
    const { rows, last, has_more, counts, silent_replicas } = await inspector.list(
      viewer,
      ...([filter, limit, after] as const),
    );
    return json({
      object: 'list',
      data: rows,
      has_more,
      next_cursor: has_more && last ? cursorOf(last) : null,
      counts: counts.map(({ kind, state, actors }: StateCount) => ({ kind, state, actors })),
      silent_replicas,
    });
  };
}

/**
 * `GET …/inspect/actors/{kind}/{id}`: one actor with its snapshot, timers and effects. Quotas and channels
 * have one actor on each replica; `replica` chooses one.
 */
export function getInspected(scope: InspectScope): Handler {
  return async (context) => {
    const { viewer, sql, found } = await requireActor(scope, context);
    return json(await inspectedActor(sql, viewer, found));
  };
}

/**
 * Returns the actor of a route of one actor, and who sees it. Throws WeirError, also for an actor that the caller
 * may not see.
 */
export async function requireActor(scope: InspectScope, context: RequestContext) {
  const viewer = await scope.admit(context);
  const { replica } = readQuery(context.request, validateReplica);
  return { viewer, ...(await findShownActor(scope, viewer, context, replica)) };
}

/** Returns the actor that a path names, as a viewer sees it. Throws WeirError. */
export async function findShownActor(
  scope: InspectScope,
  viewer: Viewer,
  { params }: RequestContext,
  replica: string | undefined,
) {
  const { inspector } = scope.deps.inspection();
  const found = await inspector.find(viewer, actorOfPath(params), replica);
  if (!found) throw actorNotFound();
  return { sql: inspector.sql, found };
}

/** Returns the actor that a path names. An id that cannot exist names no actor. */
function actorOfPath(params: Readonly<Record<string, string>>) {
  const { kind = '', id = '' } = params;
  if (id.length > MAX_NAME_CHARS || id.includes('\u0000')) throw actorNotFound();
  return { kind, id };
}

function cursorOf({ since_us, kind, id, replica }: ActorPlace): string {
  return Buffer.from(JSON.stringify([since_us, kind, id, replica])).toString('base64url');
}

/** Throws WeirError if the text is not the `next_cursor` of a page. */
function placeOf(cursor: string): ActorPlace {
  try {
    if (cursor.length > MAX_CURSOR_CHARS) throw new Error('too long');
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const [since_us, kind, id, replica, ...rest] = parsed as unknown[];
    const names = [kind, id, replica].map((name) => {
      if (typeof name !== 'string' || name.includes('\u0000')) throw new Error('no name');
      return name;
    });
    if (!Number.isSafeInteger(since_us) || rest.length > 0) throw new Error('no place');
    const [place_kind = '', place_id = '', place_replica = ''] = names;
    return { since_us: Number(since_us), kind: place_kind, id: place_id, replica: place_replica };
  } catch {
    throw new WeirError('invalid_request', 'cursor is not the next_cursor of a page.', {
      param: 'cursor',
      hint: 'Leave cursor out for the first page.',
    });
  }
}
