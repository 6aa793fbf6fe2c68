import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { readPast, shownEvent, stateAt } from '../../inference/inspection/past-view.ts';
import { type Handler, json } from '../endpoint.ts';
import { nameParameter, readQuery } from '../management/list-query.ts';
import { findShownActor, requireActor } from './actors.ts';
import type { InspectScope } from './scope.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
const SEQ = /^[1-9]\d{0,8}$/;

/** `GET …/inspect/actors/{kind}/{id}/events`. */
export const ListActorEventsSchema = Type.Object(
  {
    replica: nameParameter(),
    /** The number of the last event of the page before. */
    after: Type.Optional(
      Type.String({ pattern: '^\\d{1,9}$', errorMessage: 'must be the number of an event' }),
    ),
    limit: Type.Optional(
      Type.Integer({
        ...{ minimum: 1, maximum: MAX_LIMIT },
        errorMessage: `must be a whole number from 1 to ${MAX_LIMIT}`,
      }),
    ),
  },
  { additionalProperties: false },
);
const validateEvents = validator(ListActorEventsSchema);

/**
 * `GET …/inspect/actors/{kind}/{id}/events`: the events of an actor, the oldest first. A durable actor has
 * all of them. A quota or a channel has its last ones; calls that its quota admitted without an event are
 * one event `CALLS` with their sum.
 */
export function listEvents(scope: InspectScope): Handler {
  return async (context) => {
    const viewer = await scope.admit(context);
    const query = readQuery(context.request, validateEvents);
    const { replica, limit = DEFAULT_LIMIT } = query;
    const after = Number(query.after ?? 0);
    const { sql, found } = await findShownActor(scope, viewer, context, replica);
    const past = await readPast(sql, found, after + limit + 1);
    const { events, replayed, base } = past;
    const from = events.findIndex(({ seq }) => seq > after);
    const page = from < 0 ? [] : events.slice(from, from + limit);
    return json({
      object: 'list',
      data: page.map((event, index) => shownEvent(viewer, past, event, replayed[from + index])),
      has_more: from >= 0 && events.length > from + limit,
      /** Earlier events are no longer kept. */
      first_seq: (base?.seq ?? 0) + 1,
    });
  };
}

/**
 * `GET …/inspect/actors/{kind}/{id}/events/{seq}`: the actor after one event, replayed by the machine of the
 * version that took each event. `is_verified` says that each step led to its stored hash.
 */
export function getMoment(scope: InspectScope): Handler {
  return async (context) => {
    const { viewer, sql, found } = await requireActor(scope, context);
    const { seq = '' } = context.params;
    const number = SEQ.test(seq) ? Number(seq) : 0;
    const past = await readPast(sql, found, number);
    const moment = stateAt(viewer, past, number);
    if (moment) return json(moment);
    throw new WeirError('not_found', 'The actor has no such event, or it is no longer kept.', {
      param: 'seq',
      hint: 'GET …/events lists the events that can be read.',
    });
  };
}
