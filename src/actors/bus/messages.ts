import { type Static, Type } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';

/**
 * The schema of each topic. Unknown members are allowed, because a newer version may add some while
 * replicas are replaced one after the other.
 */
const SCHEMAS = {
  /**
   * Recall number `seq`: all quota actors of the key, or of the organization if `key_id` is null,
   * return their unused grants; with `tag`, only those whose calls have this budgeted tag.
   */
  recall: Type.Object({
    seq: Type.Integer({ minimum: 0 }),
    organization_id: Type.String(),
    key_id: Type.Union([Type.String(), Type.Null()]),
    tag: Type.Optional(Type.Object({ name: Type.String(), value: Type.String() })),
  }),
  /** Money of the organization became free. Calls that wait for money request it again. */
  money: Type.Object({ organization_id: Type.String() }),
  /** An operator switched the channel. */
  switch: Type.Object({ channel_id: Type.String() }),
  /** An operator changed a row of the configuration: a channel, a model, a price, routing or a preset. */
  channels: Type.Object({}),
  /** A replica changed a circuit; see `CircuitMessage`. `rest_ms` starts when the message arrives. */
  circuit: Type.Object({
    replica: Type.String(),
    channel: Type.String(),
    model: Type.String(),
    kind: Type.Union([Type.Literal('left_alone'), Type.Literal('refused'), Type.Literal('mended')]),
    rest_ms: Type.Optional(Type.Number()),
    reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  /**
   * A replica asks the others for the calls that they run: of one organization, or of all if
   * `organization_id` is null.
   */
  calls_asked: Type.Object({
    ask: Type.String(),
    replica: Type.String(),
    organization_id: Type.Union([Type.String(), Type.Null()]),
  }),
  /** A part of the answer of one replica. The sums are in its last part. */
  calls: Type.Object({
    ask: Type.String(),
    replica: Type.String(),
    is_last: Type.Boolean(),
    total: Type.Integer({ minimum: 0 }),
    held_nano_usd: Type.Integer({ minimum: 0 }),
    calls: Type.Array(
      Type.Object({
        request_id: Type.String(),
        api_key_id: Type.String(),
        organization_id: Type.String(),
        stage: Type.String(),
        age_ms: Type.Number(),
        protocol: Type.String(),
        program: Type.String(),
        scene: Type.String(),
        model: Type.String(),
        stream: Type.Boolean(),
        held_nano_usd: Type.Integer(),
        tokens_so_far: Type.Number(),
        channel_id: Type.String(),
        replica_id: Type.String(),
      }),
    ),
  }),
  /**
   * The replica has operators who listen to arriving calls. `is_first` is true if one of them just began
   * to listen, and needs the latest calls.
   */
  arrivals_asked: Type.Object({ replica: Type.String(), is_first: Type.Boolean() }),
  /** A call of the replica as it is now (`Arrival`), or the number of calls that came too fast. */
  arrivals: Type.Object({
    replica: Type.String(),
    changed_at_ms: Type.Number(),
    call: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    skipped: Type.Optional(Type.Integer({ minimum: 1 })),
  }),
  /** A replica asks the others for what they have of actors in memory. */
  inspect_asked: Type.Object({
    ask: Type.String(),
    replica: Type.String(),
    question: Type.Record(Type.String(), Type.Unknown()),
  }),
  /** A part of the answer of one replica; `text` is a part of its JSON as base64. */
  inspect_answer: Type.Object({
    ask: Type.String(),
    replica: Type.String(),
    part: Type.Integer({ minimum: 0 }),
    parts: Type.Integer({ minimum: 1 }),
    text: Type.String(),
  }),
  /** The replica has watchers of actors. */
  inspect_watched: Type.Object({ replica: Type.String() }),
  /** A frame of an actor (`Frame`), or the number of frames that came too fast. */
  inspect_news: Type.Object({ news: Type.Record(Type.String(), Type.Unknown()) }),
  /** The organization purged entries of the cache, or votes removed one. */
  cache: Type.Object({ organization_id: Type.String() }),
  /** An own upstream key of the organization was made, changed, rotated or revoked. */
  own_keys: Type.Object({ organization_id: Type.String() }),
  /** A budget of a tag of the organization was made or deleted. */
  tag_budgets: Type.Object({ organization_id: Type.String() }),
  /** A debug window of the organization was opened or closed. */
  debug: Type.Object({ organization_id: Type.String() }),
  /** The status or the limits of the organization changed. */
  organization: Type.Object({ organization_id: Type.String() }),
  /** The row of the API key changed. */
  key: Type.Object({ key_id: Type.String() }),
  /**
   * Events of durable actors that the replica `replica` committed. Each entry has the actor's kind,
   * the actor's id, the event's number in its actor, and the replica that owns the actor
   * ('' = none).
   */
  actors: Type.Object({
    replica: Type.String(),
    events: Type.Array(Type.Tuple([Type.String(), Type.String(), Type.Integer(), Type.String()])),
  }),
};

/** The name of a kind of message. */
export type Topic = keyof typeof SCHEMAS;

/** The message of each topic. */
export type Messages = { readonly [T in Topic]: Static<(typeof SCHEMAS)[T]> };

/** All topics. */
export const TOPICS = Object.keys(SCHEMAS) as Topic[];

const CHECKS = new Map<string, TypeCheck<(typeof SCHEMAS)[Topic]>>(
  TOPICS.map((topic) => [topic, TypeCompiler.Compile(SCHEMAS[topic])]),
);

/** True for a topic that this version knows. */
export function isTopic(name: string): name is Topic {
  return CHECKS.has(name);
}

/** True if `value` fits the schema of its topic. */
export function isMessage<T extends Topic>(topic: T, value: unknown): value is Messages[T] {
  return CHECKS.get(topic)?.Check(value) ?? false;
}
