import type { Simulator } from '../exchange.ts';
import {
  accountOrRefusal,
  bodyOf,
  jobs,
  refusalOfPoll,
  submitJob,
  textIn,
  type Wording,
} from '../tasks/desk.ts';
import { addressesOf } from '../tasks/files.ts';
import { type Job, stateOf } from '../tasks/jobs.ts';
import { MEDIA_TYPES, type MediaKind } from '../tasks/media.ts';

/**
 * Simulates fal's queue. While a job runs, its status route returns HTTP 202. Another route returns
 * the result. The body of an error has the member `detail`: a list if the prompt was refused,
 * otherwise a text.
 */
const wording: Wording = {
  wrongKey: () => Response.json({ detail: 'Cannot access application' }, { status: 401 }),
  refusal(status, why) {
    if (why === 'input')
      return Response.json({ detail: [detailOf('value_error')] }, { status: 422 });
    if (why === 'moderation') {
      return Response.json({ detail: [detailOf('content_policy_violation')] }, { status: 422 });
    }
    const detail = {
      throttle: 'Too many requests',
      quota: 'User is locked. Reason: Exhausted balance, insufficient credit.',
      server: 'Internal Server Error',
    }[why];
    return Response.json({ detail }, { status: why === 'quota' ? 403 : status });
  },
};

const detailOf = (type: string) => ({ loc: ['body', 'prompt'], msg: `The prompt: ${type}`, type });

export async function falRoute(sim: Simulator, path: string, request: Request): Promise<Response> {
  const account = accountOrRefusal(
    sim,
    request.headers.get('authorization')?.slice('Key '.length),
    wording,
  );
  if (account instanceof Response) return account;
  const { origin } = new URL(request.url);
  const [, id, step] = /\/requests\/([^/]+)(\/status|\/cancel)?$/.exec(path) ?? [];
  if (id !== undefined) return about(jobs.find(account.id, id), step, origin);
  if (request.method !== 'POST') return new Response(null, { status: 405 });
  const body = await bodyOf(request);
  const kind = kindOf(path);
  const isUpscaler = path.includes('upscale');
  const prompt = textIn(body, 'prompt') || textIn(body, 'text');
  const source = SOURCES.map((name) => textIn(body, name)).find((url) => url !== '') ?? '';
  const needsWords = !isUpscaler && kind !== 'model';
  if ((needsWords && prompt === '') || prompt + source === '') return wording.refusal(422, 'input');
  const order = {
    protocol: 'fal',
    model: path.slice(1),
    prompt: prompt || source,
    kind,
    outputs: kind === 'image' ? Number(body['num_images'] ?? 1) : 1,
    duration: Number.parseInt(String(body['duration'] ?? body['duration_seconds'] ?? 5), 10),
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const app = path.split('/').slice(1, 3).join('/');
  const at = `${origin}/fal/${app}/requests/${accepted.job.id}`;
  return Response.json({
    status: 'IN_QUEUE',
    request_id: accepted.job.id,
    response_url: at,
    status_url: `${at}/status`,
    cancel_url: `${at}/cancel`,
    queue_position: 0,
  });
}

/** The names that fal's models have for their source. */
const SOURCES = ['video_url', 'image_url', 'input_image_url'];

function kindOf(path: string): MediaKind {
  if (/trellis|3d/.test(path)) return 'model';
  if (/music|lyria|ace-step|audio|sound/.test(path)) return 'audio';
  return /video|veo|seedance|kling|wan|speech|infinitalk/.test(path) ? 'video' : 'image';
}

function about(job: Job | undefined, step: string | undefined, origin: string): Response {
  if (!job) return Response.json({ detail: 'Request not found' }, { status: 404 });
  if (step === '/cancel') {
    job.cancelled = true;
    return Response.json({ status: 'CANCELLATION_REQUESTED' }, { status: 202 });
  }
  const refused = refusalOfPoll(job, wording);
  if (refused) return refused;
  const state = stateOf(job);
  const isOver = state !== 'queued' && state !== 'processing';
  if (step === '/status') {
    if (job.script.unknown) return Response.json({ status: 'DAYDREAMING' });
    if (isOver) return Response.json({ status: 'COMPLETED', metrics: { inference_time: 1 } });
    const status = state === 'queued' ? 'IN_QUEUE' : 'IN_PROGRESS';
    return Response.json({ status, queue_position: 0 }, { status: 202 });
  }
  if (!isOver) return Response.json({ detail: 'Request is still in progress' }, { status: 400 });
  if (state === 'done') return Response.json(outputOf(job, origin));
  if (job.script.fail === 'moderation') return wording.refusal(422, 'moderation');
  return job.script.fail === 'input' ? wording.refusal(422, 'input') : downstream();
}

function downstream(): Response {
  const detail = [
    { loc: ['body'], msg: 'A downstream service failed', type: 'downstream_service_error' },
  ];
  return Response.json({ detail }, { status: 400 });
}

function outputOf(job: Job, origin: string): object {
  const content_type = MEDIA_TYPES[job.kind];
  const files = addressesOf(origin, job).map((url) => ({ url, content_type }));
  if (job.kind === 'image') {
    return { images: files.map((file) => ({ ...file, width: 256, height: 256 })), seed: 7 };
  }
  if (job.kind === 'audio') return files[0] ? { audio: files[0] } : {};
  if (job.kind === 'model') return files[0] ? { model_mesh: { ...files[0], file_size: 1 } } : {};
  // The upscalers report a file without its length.
  if (job.model.includes('upscale')) return files[0] ? { video: files[0] } : {};
  return files[0] ? { video: { ...files[0], duration: job.duration }, seed: 7 } : {};
}
