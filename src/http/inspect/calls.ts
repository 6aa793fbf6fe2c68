import { Type } from '@sinclair/typebox';
import { circuitsAt } from '../../../db/channels/transitions.ts';
import { listPastCalls } from '../../../db/usage/past-calls.ts';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { RunningCalls } from '../../inference/records/running-calls.ts';
import { type Handler, json } from '../endpoint.ts';
import { readQuery } from '../management/list-query.ts';
import { parseRfc3339 } from '../management/rfc3339.ts';
import { flightsOf, flightsOfPast, shownFlight, worstCircuits } from './call-in-flight.ts';
import type { InspectScope } from './scope.ts';

/** The most calls of an instant of the past: the oldest ones. `total` counts all. */
const MAX_PAST_CALLS = 200;

/** `GET …/inspect/calls`. */
export const CallsInFlightSchema = Type.Object(
  { at: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);
const validate = validator(CallsInFlightSchema);

/**
 * `GET …/inspect/calls`: the calls that run now; with `at`, the calls that ran at this instant, rebuilt from
 * the times in their records. A call that still runs has its present stage. Operators see the channel of each call and the state of its circuit then.
 */
export function listCallsInFlight(
  scope: InspectScope,
  running: () => Pick<RunningCalls, 'list'>,
): Handler {
  return async (context) => {
    const { organization_id } = await scope.admit(context);
    const query = readQuery(context.request, validate);
    const { sql } = scope.deps.inspection().inspector;
    const past = query.at === undefined ? undefined : instantOf(query.at);
    const at = past ?? new Date();
    const now = flightsOf(await running().list(organization_id));
    const found = past
      ? flightsOfPast(await listPastCalls(sql, organization_id, past, MAX_PAST_CALLS), past, now)
      : now;
    const isOperator = organization_id === null;
    const used = found.flights.filter(({ channel_id }) => channel_id !== '');
    const circuits = worstCircuits(isOperator ? await circuitsAt(sql, used, at) : []);
    return json({
      object: 'list',
      at: at.toISOString(),
      data: found.flights.map((flight) => shownFlight(flight, isOperator, circuits)),
      total: found.total,
      silent_replicas: found.silent_replicas,
      currency: 'USD',
    });
  };
}

/** Reads `at`. Throws WeirError if it is no instant of the past. */
function instantOf(text: string): Date {
  const parsed = parseRfc3339(text);
  if (parsed && parsed.getTime() <= Date.now()) return parsed;
  throw new WeirError('invalid_request', 'at must be an RFC 3339 datetime in the past.', {
    param: 'at',
    hint: 'Leave at out for the calls that run now.',
  });
}
