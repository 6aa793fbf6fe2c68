import type { RunningCall, RunningCallList } from '../../../inference/records/running-calls.ts';
import { usd } from '../../../json/usd.ts';
import { type Handler, json } from '../../endpoint.ts';
import { admitManager } from '../keys.ts';
import type { UsageDeps } from './lines.ts';

/**
 * `GET /v1/management/calls`: the calls of the organization that run now, on all replicas, the
 * oldest first, with their stage and the money that they hold.
 */
export function listRunningCalls(deps: UsageDeps): Handler {
  return async (context) => {
    const { organization_id } = await admitManager(deps, context);
    return json(listOf(await deps.running().list(organization_id), publicCall));
  };
}

/** `GET /v1/operator/calls`: the same of all organizations, with channel and replica. */
export function listAllRunningCalls(deps: UsageDeps): Handler {
  return async (context) => {
    await deps.authentication.requireOperator(context);
    return json(listOf(await deps.running().list(null), operatorCall));
  };
}

function listOf(list: RunningCallList, view: (call: RunningCall) => object): object {
  return {
    object: 'list',
    data: list.calls.map(view),
    total: list.total,
    held: usd(list.held_nano_usd),
    currency: 'USD',
    replicas: list.replicas,
    silent_replicas: list.silent_replicas,
  };
}

/** What an organization sees of its call: nothing names a channel or a replica (P5). */
function publicCall(call: RunningCall): object {
  return {
    object: 'running_call',
    request_id: call.request_id,
    api_key_id: call.api_key_id,
    stage: call.stage,
    age_ms: call.age_ms,
    protocol: call.protocol,
    program: call.program || null,
    scene: call.scene || null,
    logical_model: call.model || null,
    stream: call.stream,
    output_tokens_so_far: call.tokens_so_far,
    held: usd(call.held_nano_usd),
  };
}

function operatorCall(call: RunningCall): object {
  const { organization_id, channel_id, replica_id } = call;
  return { ...publicCall(call), organization_id, channel_id: channel_id || null, replica_id };
}
