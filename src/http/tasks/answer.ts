import type { StoredOutput, TaskView } from '../../inference/tasks/port.ts';
import { json, publicOrigin } from '../endpoint.ts';
import type { GenerationPorts } from './ports.ts';

/** Which URL a client polls; the same one from every route (P11). */
function pollUrl({ id, scene }: Pick<TaskView, 'id' | 'scene'>): string {
  return scene === 'music' ? `/v1/music/generations/${id}` : `/v1/tasks/${id}`;
}

/** A task as an answer: its record, when to come back, and its bill once there is one. */
export function taskAnswer(view: TaskView, request: Request, ports: GenerationPorts): Response {
  const response = json(taskRecord(view, createLinker(request, ports)));
  if (view.status === 'pending' || view.status === 'processing') {
    response.headers.set('retry-after', String(Math.max(1, Math.ceil(view.retry_after_s))));
  }
  return withBill(response, view);
}

/** The billing header of every answer about a settled task (spec: Async task polling). */
export function withBill(response: Response, view: TaskView): Response {
  if (view.billing_transaction_id !== null) {
    response.headers.set('x-weir-billing-transaction-id', view.billing_transaction_id);
  }
  response.headers.set('cache-control', 'no-store');
  return response;
}

/** The absolute address of a stored file: clients fetch it as it stands. */
export function createLinker(request: Request, ports: GenerationPorts): (name: string) => string {
  const origin = publicOrigin(request, ports.public_url);
  return (name) => origin + ports.filePath(name);
}

/** The async task record (spec: Resources), with the members of its scene. */
export function taskRecord(view: TaskView, link: (name: string) => string): object {
  return {
    id: view.id,
    task_id: view.id,
    poll_url: pollUrl(view),
    status: view.status,
    created: view.created,
    model: view.model,
    ...results(view, link),
    ...(view.status === 'failed' ? { error: errorOf(view) } : {}),
    ...(view.billing_transaction_id === null
      ? {}
      : { billing_transaction_id: view.billing_transaction_id }),
  };
}

/** A string; a video's is structured (spec: Async task record, `error`). */
function errorOf({ scene, error }: TaskView): unknown {
  const said = error ?? { code: 'upstream_error', message: 'The generation failed.' };
  return scene === 'video' ? said : said.message;
}

function results(view: TaskView, link: (name: string) => string): object {
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

/** A picture by its URL: tasks have no Base64, whatever was asked (spec: Image generation, rule 5). */
export function imageOf({ file, revised_prompt }: StoredOutput, link: (name: string) => string) {
  return {
    ...(file === undefined ? {} : { url: link(file) }),
    ...(revised_prompt === undefined ? {} : { revised_prompt }),
  };
}

function videoResults(outputs: readonly StoredOutput[], link: (name: string) => string): object {
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

/** What is a file and nothing else. */
function fileOf({ file, duration }: StoredOutput, link: (name: string) => string) {
  return {
    ...(file === undefined ? {} : { url: link(file) }),
    ...(duration === undefined ? {} : { duration }),
  };
}

/** A song by its URL, lyrics by their text. `id` is what `continue_clip_id` takes. */
function songOf(output: StoredOutput, link: (name: string) => string) {
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
