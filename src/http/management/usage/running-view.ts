import type { RunningCall, RunningCallList } from '../../../inference/records/running-calls.ts';
import { usd } from '../../../json/usd.ts';

/** Returns a list of running calls, each as `view` shows it. Amounts are in USD. */
export function runningList<Shown>(list: RunningCallList, view: (call: RunningCall) => Shown) {
  return {
    object: 'list' as const,
    data: list.calls.map(view),
    total: list.total,
    held: usd(list.held_nano_usd),
    currency: 'USD',
    replicas: list.replicas,
    silent_replicas: list.silent_replicas,
  };
}

/** What an organization sees of its call: nothing names a channel or a replica (P5). */
export function publicCall(call: RunningCall) {
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

/** What an operator sees of a call. */
export function operatorCall(call: RunningCall) {
  const { organization_id, channel_id, replica_id } = call;
  return { ...publicCall(call), organization_id, channel_id: channel_id || null, replica_id };
}
