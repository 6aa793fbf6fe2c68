import { type Static, type TSchema, Type } from '@sinclair/typebox';
import {
  type CircuitRow,
  listTransitions,
  readCircuits,
  type TransitionRow,
} from '../../../db/channels/transitions.ts';
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
import { channelNotFound } from './channels.ts';
import type { OperatorDeps } from './operator-parts.ts';

const Nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };
/** An RFC 3339 datetime in UTC. */
const Time = Type.String();

const TransitionSchema = Type.Object(
  {
    object: Type.Literal('channel.transition'),
    id: Type.String(),
    model: Type.String(),
    replica: Type.String(),
    from: Type.String(),
    to: Type.String(),
    /** The class of the failure, or the operator's reason; null if calls may be sent. */
    cause: Nullable(Type.String()),
    /** True if the replica followed another replica. */
    is_from_peer: Type.Boolean(),
    at: Time,
    open_until: Nullable(Time),
    /** When the replica left the state; null if it is in this state now. */
    left_at: Nullable(Time),
  },
  closed,
);

const CircuitSchema = Type.Object(
  {
    model: Type.String(),
    replica: Type.String(),
    state: Type.String(),
    cause: Nullable(Type.String()),
    since: Time,
  },
  closed,
);

/** The answer of `GET /v1/operator/channels/{id}/circuit-history`. */
export const CircuitHistorySchema = Type.Composite(
  [
    listSchema(TransitionSchema),
    Type.Object({ channel: Type.String(), circuits: Type.Array(CircuitSchema) }),
  ],
  closed,
);

/** `GET /v1/operator/channels/{id}/circuit-history`. */
export const HistoryQuerySchema = Type.Object(
  { model: nameParameter(), replica: nameParameter(), ...PAGE_PARAMETERS },
  closed,
);
const validateQuery = validator(HistoryQuerySchema);

/**
 * `GET /v1/operator/channels/{id}/circuit-history`. Lists the changes of state of the channel's
 * circuits on all replicas, the newest first. `circuits` has the present state of each circuit on
 * each living replica. Replicas store their changes within about a second.
 */
export function getCircuitHistory(deps: OperatorDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    const { sql, channels } = deps.operator();
    const account = channels.account(context.params['id'] ?? '');
    if (!account) throw channelNotFound();
    const query = readQuery(context.request, validateQuery);
    const { id } = account.config;
    const models = account.actors.map(({ model }) => model);
    // In this order the list has the change after which a circuit has its state.
    const circuits = await readCircuits(sql, id, models);
    const page = await listTransitions(sql, id, query, pageRequestOf(query));
    const answer: Static<typeof CircuitHistorySchema> = {
      ...listAnswer(page, (row) => row.id, transitionOf),
      channel: id,
      circuits: circuits.map(circuitOf),
    };
    return json(answer);
  };
}

function transitionOf(row: TransitionRow): Static<typeof TransitionSchema> {
  return {
    object: 'channel.transition',
    id: row.id,
    model: row.model,
    replica: row.replica_id,
    from: row.from_state,
    to: row.to_state,
    cause: row.cause,
    is_from_peer: row.is_from_peer,
    at: row.at.toISOString(),
    open_until: row.open_until?.toISOString() ?? null,
    left_at: row.left_at?.toISOString() ?? null,
  };
}

function circuitOf({ model, replica_id, state, cause, since }: CircuitRow) {
  return { model, replica: replica_id, state, cause, since: since.toISOString() };
}
