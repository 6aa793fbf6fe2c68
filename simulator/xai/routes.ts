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
import { type Job, progressOf, stateOf } from '../tasks/jobs.ts';

/** xAI. Its errors have three shapes. It returns images inline, and finds videos by request id. */
const wording: Wording = {
  wrongKey: () =>
    Response.json({ code: 'unauthenticated', error: 'Incorrect API key' }, { status: 401 }),
  refusal(status, why) {
    const message = {
      input: 'Invalid prompt',
      moderation: 'The prompt was rejected by content moderation',
      throttle: 'Too many requests',
      quota: 'insufficient credits',
      server: 'Internal error',
    }[why];
    if (why === 'server') return Response.json({ error: message }, { status });
    return Response.json({ error: { message, type: 'invalid_request', code: why } }, { status });
  },
};
const UNKNOWN_FIELDS = ['seed', 'fps', 'size', 'negative_prompt'];
const TICKS_PER_IMAGE = 200_000_000;

export async function xaiRoute(sim: Simulator, path: string, request: Request): Promise<Response> {
  const account = accountOrRefusal(
    sim,
    request.headers.get('authorization')?.slice('Bearer '.length),
    wording,
  );
  if (account instanceof Response) return account;
  const { origin } = new URL(request.url);
  const id = /^\/videos\/([^/]+)$/.exec(path)?.[1];
  if (id && request.method === 'GET') {
    const job = jobs.find(account.id, id);
    if (!job) return Response.json({ error: 'not found' }, { status: 404 });
    return refusalOfPoll(job, wording) ?? videoAnswer(job, origin);
  }
  const scene = /^\/(images|videos)\/(?:generations|edits|extensions)$/.exec(path)?.[1];
  if (!scene) return new Response(null, { status: 404 });
  const body = await bodyOf(request);
  const prompt = textIn(body, 'prompt');
  if (prompt === '' || UNKNOWN_FIELDS.some((field) => field in body))
    return wording.refusal(400, 'input');
  const isImage = scene === 'images';
  const order = {
    protocol: 'xai',
    model: textIn(body, 'model'),
    prompt,
    kind: isImage ? ('image' as const) : ('video' as const),
    outputs: isImage ? Number(body['n'] ?? 1) : 1,
    duration: Number(body['duration'] ?? 6),
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { job, script } = accepted;
  if (!isImage) return Response.json({ request_id: job.id });
  if (script.fail === 'upstream') return wording.refusal(500, 'server');
  if (script.fail === 'input') return wording.refusal(400, 'input');
  const filtered = script.fail === 'moderation';
  const data = addressesOf(origin, { ...job, began_at: job.began_at - script.task_ms }).map(
    (url) => ({
      url: filtered ? '' : url,
      revised_prompt: prompt,
      respect_moderation: !filtered,
    }),
  );
  return Response.json({ data, usage: { cost_in_usd_ticks: TICKS_PER_IMAGE * data.length } });
}

function videoAnswer(job: Job, origin: string): Response {
  const state = stateOf(job);
  if (job.script.unknown) return Response.json({ status: 'imagining' });
  if (state === 'queued') return new Response(null, { status: 202 });
  if (state === 'processing') {
    return Response.json({ status: 'pending', progress: Math.floor(progressOf(job) * 100) });
  }
  if (state !== 'done') {
    if (job.script.fail === 'moderation') {
      return Response.json({ status: 'done', video: { url: '', respect_moderation: false } });
    }
    const error = { code: 'internal', message: 'The generation broke' };
    return Response.json({ status: 'failed', error });
  }
  const [url] = addressesOf(origin, job);
  const video = { ...(url ? { url } : {}), duration: job.duration, respect_moderation: true };
  return Response.json({ status: 'done', video, model: job.model });
}
