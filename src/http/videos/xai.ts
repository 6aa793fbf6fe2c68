/**
 * Videos for clients of xAI's API, such as `generateVideo` of the AI SDK. They create a video on
 * `POST /v1/videos/generations`, which is the path of Weir too, and read `request_id` in its answer.
 */
import { TASK_ID_PREFIX, type TaskView } from '../../inference/tasks/port.ts';
import { taskNotFound } from '../../inference/tasks/task-watches.ts';
import { isObject } from '../../json/object.ts';
import { type Handler, json } from '../endpoint.ts';
import { notOffered } from '../not-offered.ts';
import { createLink, taskRecord, withTaskHeaders } from '../tasks/answer.ts';
import type { GenerationRouteDeps } from '../tasks/ports.ts';
import { findTask } from '../tasks/route.ts';

type Body = Readonly<Record<string, unknown>>;

/** The states of a video in xAI's words (xAI docs: Video generation). */
const STATES: Readonly<Record<TaskView['status'], string>> = {
  pending: 'pending',
  processing: 'pending',
  completed: 'done',
  failed: 'failed',
};

/**
 * `GET /v1/videos/{id}` returns the record of a video's task with xAI's `status`. The HTTP status is
 * 202 until the video is done.
 */
export function getXaiVideo(deps: GenerationRouteDeps): Handler {
  return async (context) => {
    const { request, params } = context;
    const key = await deps.authentication.requireKey(context);
    await deps.rateLimit.consume(key, context);
    const id = params['id'] ?? '';
    const ports = deps.generation();
    const view = await findTask(ports, id, key.organization_id);
    if (view?.scene !== 'video') {
      // Clients of OpenAI's API request this path too, with ids of OpenAI.
      const isTask = id.startsWith(TASK_ID_PREFIX);
      throw (isTask ? undefined : notOffered(request)) ?? taskNotFound();
    }
    const status = STATES[view.status];
    const record = { ...taskRecord(view, createLink(request, ports)), status };
    return withTaskHeaders(json(record, status === 'pending' ? 202 : 200), view);
  };
}

/** Returns the body of a create call with URLs in place of xAI's objects `{"url": …}`. */
export function withPlainUrls(body: Body): Body {
  const { image, reference_images } = body;
  return {
    ...body,
    ...(image === undefined ? {} : { image: urlOf(image) }),
    ...(Array.isArray(reference_images) ? { reference_images: reference_images.map(urlOf) } : {}),
  };
}

/** Returns the URL of `{"url": …}`; every other value unchanged, so that its check refuses it. */
function urlOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  const { url, ...others } = value;
  return typeof url === 'string' && Object.keys(others).length === 0 ? url : value;
}
