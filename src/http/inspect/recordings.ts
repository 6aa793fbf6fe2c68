import { findCall, organizationOfCall } from '../../../db/usage/calls.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { recordActor, recordRequest } from '../../inference/inspection/recorder.ts';
import type { Recording } from '../../replay/recording.ts';
import type { Handler } from '../endpoint.ts';
import { callView, timelineOf } from '../management/usage/call-view.ts';
import { uuidOf } from '../management/usage/calls.ts';
import { requireActor } from './actors.ts';
import type { InspectScope } from './scope.ts';

/**
 * `GET …/inspect/actors/{kind}/{id}/recording`: one actor with all events that are kept, as a file that any
 * Weir replays. It has no secret.
 */
export function getActorRecording(scope: InspectScope): Handler {
  return async (context) => {
    const { viewer, sql, found } = await requireActor(scope, context);
    const { kind, id } = found.row ?? found.memory;
    return fileOf(await recordActor(sql, viewer, found), `${kind}-${id}`);
  };
}

/**
 * `GET …/inspect/requests/{id}/recording`: one call with its timeline, and each actor that it touched: the
 * quota of its key on each replica, its task, webhook and batch, and for operators its channels.
 */
export function getRequestRecording(scope: InspectScope): Handler {
  return async (context) => {
    const viewer = await scope.admit(context);
    const { inspector } = scope.deps.inspection();
    const { sql } = inspector;
    const id = uuidOf(context.params['id'] ?? '');
    const owner =
      viewer.organization_id ?? (id === undefined ? undefined : await organizationOfCall(sql, id));
    const call = id && owner ? await findCall(sql, owner, id) : undefined;
    if (!call) {
      throw new WeirError('not_found', 'There is no such request.', {
        param: 'id',
        hint: 'Send a request id (req_…). A call is recorded within seconds after its end.',
      });
    }
    const { detail, channel_id, key_id, task_id, model } = call;
    const isOperator = viewer.organization_id === null;
    const attempts = detail?.attempts ?? [];
    // The client's own words stay out of a file that people pass on.
    const { user: _, metadata: __, ...record } = callView(call);
    const request = {
      ...record,
      timeline: timelineOf(call),
      ...(isOperator ? { organization_id: owner, channel: channel_id || null, attempts } : {}),
    };
    const recording = await recordRequest(inspector, viewer, request, {
      ...{ key_id, task_id, model, batch_id: detail?.batch_id ?? null },
      channel_ids: [...attempts.map((attempt) => attempt.channel_id), channel_id].filter(Boolean),
    });
    return fileOf(recording, `${request.request_id}`);
  };
}

/** The answer as a file. Its name has only characters that need no quotes. */
function fileOf(recording: Recording, name: string): Response {
  const safe = name.replace(/[^\w.-]/g, '_').slice(0, 100);
  return new Response(JSON.stringify(recording, undefined, 1), {
    headers: {
      'content-type': 'application/json',
      'content-disposition': `attachment; filename="weir-${safe}.json"`,
    },
  });
}
