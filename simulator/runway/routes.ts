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

/** Runway. Requests need a version header, ratios are in pixels, and failures have codes. */
const wording: Wording = {
  wrongKey: () => Response.json({ error: 'Invalid API key' }, { status: 401 }),
  refusal(status, why) {
    const error = {
      input: 'Validation of body failed',
      moderation: 'SAFETY.INPUT.TEXT',
      throttle: 'You have exceeded your daily task limit',
      quota: 'You do not have enough credits: insufficient credits',
      server: 'Internal error',
    }[why];
    return Response.json({ error, issues: [] }, { status });
  },
};
const CREATES = /^\/v1\/(text_to_video|image_to_video|video_to_video|character_performance)$/;

export async function runwayRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const account = accountOrRefusal(
    sim,
    request.headers.get('authorization')?.slice('Bearer '.length),
    wording,
  );
  if (account instanceof Response) return account;
  if (request.headers.get('x-runway-version') !== '2024-11-06') {
    return Response.json({ error: 'X-Runway-Version is required' }, { status: 400 });
  }
  const id = /^\/v1\/tasks\/([^/]+)$/.exec(path)?.[1];
  if (id) {
    const job = jobs.find(account.id, id);
    if (!job) return Response.json({ error: 'Not found' }, { status: 404 });
    if (request.method === 'DELETE') {
      job.cancelled = true;
      return new Response(null, { status: 204 });
    }
    return refusalOfPoll(job, wording) ?? Response.json(taskOf(job, new URL(request.url).origin));
  }
  if (!CREATES.test(path)) return Response.json({ error: 'Not found' }, { status: 404 });
  const body = await bodyOf(request);
  const ratio = textIn(body, 'ratio');
  if (textIn(body, 'model') === '' || (ratio !== '' && !/^\d+:\d+$/.test(ratio))) {
    return wording.refusal(400, 'input');
  }
  const order = {
    protocol: 'runway',
    model: textIn(body, 'model'),
    prompt: textIn(body, 'promptText'),
    kind: 'video' as const,
    outputs: 1,
    duration: Number(body['duration'] ?? 5),
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  return 'answer' in accepted ? accepted.answer : Response.json({ id: accepted.job.id });
}

const STATUS = {
  queued: 'PENDING',
  processing: 'RUNNING',
  done: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
};
const FAILURE_CODES = {
  moderation: 'SAFETY.OUTPUT.VIDEO',
  input: 'ASSET.INVALID',
  upstream: 'INTERNAL.BAD_OUTPUT.CODE01',
};

function taskOf(job: Job, origin: string): object {
  const state = stateOf(job);
  const { fail = 'upstream' } = job.script;
  return {
    id: job.id,
    createdAt: new Date(job.began_at).toISOString(),
    status: job.script.unknown ? 'DREAMING' : STATUS[state],
    ...(state === 'processing' ? { progress: progressOf(job) } : {}),
    ...(state === 'done' ? { output: addressesOf(origin, job) } : {}),
    ...(state === 'failed'
      ? { failure: 'The task failed.', failureCode: FAILURE_CODES[fail] }
      : {}),
  };
}
