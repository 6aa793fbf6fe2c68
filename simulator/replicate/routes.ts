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
import type { MediaKind } from '../tasks/media.ts';

/**
 * Replicate's predictions. A submission answers with 201 and a status in the body. Errors are
 * problem details.
 */
const wording: Wording = {
  wrongKey: () => problem(401, 'Unauthenticated', 'You did not pass a valid token'),
  refusal(status, why) {
    const detail = {
      input: 'input: prompt is required',
      moderation: 'The input or output was flagged as sensitive.',
      throttle: 'Request was throttled. Your rate limit resets in ~30s.',
      quota: 'You have insufficient credit to run this model.',
      server: 'Internal server error',
    }[why];
    return problem(why === 'quota' ? 402 : why === 'input' ? 422 : status, why, detail);
  },
};

export async function replicateRoute(
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
  const { origin } = new URL(request.url);
  const [, id, cancel] = /^\/predictions\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
  if (id) {
    const job = jobs.find(account.id, id);
    if (!job) return problem(404, 'Not found', 'The prediction does not exist');
    if (cancel) job.cancelled = true;
    return refusalOfPoll(job, wording) ?? Response.json(predictionOf(job, origin));
  }
  const model = /^\/models\/([^/]+\/[^/]+)\/predictions$/.exec(path)?.[1];
  const body = await bodyOf(request);
  const name = model ?? textIn(body, 'version');
  const input = (body['input'] ?? {}) as Record<string, unknown>;
  const prompt = textIn(input, 'prompt') || textIn(input, 'video');
  if (name === '' || prompt === '') return wording.refusal(422, 'input');
  const kind = kindOf(name);
  const order = {
    protocol: 'replicate',
    model: name,
    prompt,
    kind,
    outputs: kind === 'image' ? Number(input['num_outputs'] ?? 1) : 1,
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  return Response.json(predictionOf(accepted.job, origin), { status: 201 });
}

function kindOf(model: string): MediaKind {
  if (/music|audio|lyria/.test(model)) return 'audio';
  return /video|veo|kling|seedance|gen4|wan|upscale/.test(model) ? 'video' : 'image';
}

const STATUS = {
  queued: 'starting',
  processing: 'processing',
  done: 'succeeded',
  failed: 'failed',
  cancelled: 'canceled',
};

function predictionOf(job: Job, origin: string): object {
  const state = stateOf(job);
  const urls = addressesOf(origin, job);
  const at = `${origin}/replicate/v1/predictions/${job.id}`;
  const flagged = 'The input or output was flagged as sensitive. (E005)';
  return {
    id: job.id,
    model: job.model,
    status: job.script.unknown ? 'dreaming' : STATUS[state],
    // One output is a URL; several are a list.
    output: state === 'done' ? (job.outputs === 1 && job.kind !== 'image' ? urls[0] : urls) : null,
    error:
      state === 'failed'
        ? job.script.fail === 'moderation'
          ? flagged
          : 'Prediction failed'
        : null,
    urls: { get: at, cancel: `${at}/cancel` },
    created_at: new Date(job.began_at).toISOString(),
  };
}

function problem(status: number, title: string, detail: string): Response {
  return Response.json({ title, detail, status }, { status });
}
