import { requestIdOf } from '../../errors/request-id.ts';
import { MACHINES } from '../../replay/machines.ts';
import type { Frame } from './frames.ts';
import type { Viewer } from './viewer.ts';

/** The version of the protocol that `@statelyai/inspect` reads. */
const PROTOCOL_VERSION = '0.7.2';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;

/** The id of a live actor for tools: replica, kind and id. */
export function sessionOf(viewer: Viewer, { replica, kind, id }: Frame): string {
  return `${viewer.replica(replica)}/${kind}/${id}`;
}

/**
 * Returns the frames of the Stately inspection protocol for one event: `@xstate.actor` if the viewer has
 * not seen the actor, then `@xstate.event` and `@xstate.snapshot`. Each has Weir's own envelope in `_weir`.
 */
export function statelyFrames(
  viewer: Viewer,
  frame: Frame,
  isNew: boolean,
  hasDefinition: boolean,
): object[] {
  const { kind, id, value, status } = frame;
  const sessionId = sessionOf(viewer, frame);
  const createdAt = String(Math.floor(frame.at_ms));
  const event = viewer.members(kind, id, frame.event);
  const snapshot = { value, context: viewer.members(kind, id, frame.context), status };
  const _weir = envelopeOf(viewer, frame);
  const shared = {
    ...{ sessionId, rootId: sessionId, createdAt, _version: PROTOCOL_VERSION },
    id: `${viewer.replica(frame.replica)}/${frame.seq}`,
    _weir,
  };
  const actor = {
    ...{ type: '@xstate.actor', name: `${kind}/${id}`, ...shared, snapshot },
    ...(hasDefinition ? { definition: definitionOf(kind) } : {}),
  };
  return [
    ...(isNew ? [actor] : []),
    { type: '@xstate.event', ...shared, event },
    { type: '@xstate.snapshot', ...shared, event, snapshot },
  ];
}

function envelopeOf(viewer: Viewer, frame: Frame) {
  const { kind, id, organization_id, actor_seq, taken, seq, at_ms, cause_id } = frame;
  const isRequest = cause_id !== undefined && UUID.test(cause_id);
  return {
    ...{ replica: viewer.replica(frame.replica), seq, at: new Date(at_ms).toISOString() },
    ...{ kind, id, organization_id, actor_seq, taken },
    request_id: isRequest ? requestIdOf(cause_id) : null,
  };
}

const definitions = new Map<string, string>();

/** The configuration of a machine as JSON. It has no context with data, because a new actor has none. */
function definitionOf(kind: string): string {
  const known = definitions.get(kind);
  if (known !== undefined) return known;
  const text = JSON.stringify(MACHINES[kind]?.machine.config ?? {});
  definitions.set(kind, text);
  return text;
}
