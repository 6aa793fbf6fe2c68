import type { StoredOutput, TaskView } from '../../inference/tasks/port.ts';
import { json, publicOrigin } from '../endpoint.ts';
import type { Link } from './link.ts';
import type { GenerationPorts } from './ports.ts';

/**
 * Returns the path that a client polls. The path is the same in the response of every route (P11).
 */
function pollUrl({ id, scene }: Pick<TaskView, 'id' | 'scene'>): string {
  return scene === 'music' ? `/v1/music/generations/${id}` : `/v1/tasks/${id}`;
}

/**
 * Returns the response with a task: the task's record and its billing header. While the task runs,
 * the response also has Retry-After.
 */
export function taskResponse(view: TaskView, link: Link): Response {
  const response = json(taskRecord(view, link));
  if (view.status === 'pending' || view.status === 'processing') {
    response.headers.set('retry-after', String(Math.max(1, Math.ceil(view.retry_after_s))));
  }
  return withTaskHeaders(response, view);
}

/**
 * Adds the headers of a task to a response, and returns the response. The headers forbid caching.
 * If the task is settled, they name its billing transaction (spec: Async task polling).
 */
export function withTaskHeaders(response: Response, view: TaskView): Response {
  if (view.billing_transaction_id !== null) {
    response.headers.set('x-weir-billing-transaction-id', view.billing_transaction_id);
  }
  response.headers.set('cache-control', 'no-store');
  return response;
}

/**
 * Returns the function that makes the URLs of an answer. A route that creates a task calls this
 * before it creates the task, so that nothing can fail between the creation and the answer.
 */
export function createLink(request: Request, ports: GenerationPorts): Link {
  const origin = publicOrigin(request, ports.public_url);
  return (name) => origin + ports.filePath(name);
}

/** The async task record (spec: Resources), with the members of its scene. */
export function taskRecord(view: TaskView, link: Link): object {
  return {
    id: view.id,
    task_id: view.id,
    // Clients of xAI's API read this member.
    ...(view.scene === 'video' ? { request_id: view.id } : {}),
    poll_url: pollUrl(view),
    status: view.status,
    created: view.created,
    model: view.model,
    ...resultMembers(view, link),
    ...(view.status === 'failed' ? { error: errorOf(view) } : {}),
    ...(view.billing_transaction_id === null
      ? {}
      : { billing_transaction_id: view.billing_transaction_id }),
  };
}

/**
 * Returns the error of a failed task. For a video it is an object. For all other scenes it is only
 * the message (spec: Async task record, `error`).
 */
function errorOf({ scene, error }: TaskView): unknown {
  const details = error ?? { code: 'upstream_error', message: 'The generation failed.' };
  return scene === 'video' ? details : details.message;
}

function resultMembers(view: TaskView, link: Link): object {
  const outputs = view.status === 'completed' ? view.outputs : [];
  switch (view.scene) {
    case 'image':
      return { data: outputs.map((output) => imageOf(output, link)) };
    case 'video':
      return videoResults(
        outputs.filter(({ kind }) => kind === 'video'),
        link,
      );
    case 'music':
      return { data: outputs.map((output) => songOf(output, link)) };
    case '3d':
    case 'audio':
      return { data: outputs.map((output) => fileOf(output, link)) };
    default:
      return view.scene satisfies never;
  }
}

/**
 * Returns an image with its URL. The record of a task has no Base64 (spec: Image generation, rule
 * 5).
 */
export function imageOf({ file, revised_prompt }: StoredOutput, link: Link) {
  return {
    ...(file === undefined ? {} : { url: link(file) }),
    ...(revised_prompt === undefined ? {} : { revised_prompt }),
  };
}

function videoResults(outputs: readonly StoredOutput[], link: Link): object {
  const videos = outputs.map(({ file, duration, width, height }) => ({
    ...(file === undefined ? {} : { url: link(file) }),
    ...(duration === undefined ? {} : { duration }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
  }));
  const [video] = videos;
  return {
    data: videos.map(({ url }) => ({ url })),
    ...(video ? { video_url: video.url, video } : {}),
    ...(videos.length > 1 ? { videos } : {}),
  };
}

/** Returns a 3D object or a sound: its URL, and its duration if known. */
function fileOf({ file, duration }: StoredOutput, link: Link) {
  return {
    ...(file === undefined ? {} : { url: link(file) }),
    ...(duration === undefined ? {} : { duration }),
  };
}

/**
 * Returns a song with its URL, or lyrics with their text. To continue a song, a client sends its
 * `id` as `continue_clip_id`.
 */
function songOf(output: StoredOutput, link: Link) {
  const { file, text, title, duration, clip_id, kind } = output;
  return {
    ...(clip_id === undefined ? {} : { id: clip_id }),
    type: kind === 'text' ? 'lyrics' : kind,
    ...(title === undefined ? {} : { title }),
    ...(file === undefined ? {} : { url: link(file) }),
    ...(duration === undefined ? {} : { duration }),
    ...(text === undefined ? {} : { text }),
  };
}
