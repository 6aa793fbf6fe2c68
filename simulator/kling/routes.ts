import type { Simulator } from '../exchange.ts';
import { newId } from '../shared/random.ts';
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

/** The `code` in the body of each refusal. A success has the code 0. */
const CODES = { input: 1201, moderation: 1301, throttle: 1303, quota: 1102, server: 5000 };
const STATUSES = { input: 400, moderation: 400, throttle: 429, quota: 429, server: 500 };
const wording: Wording = {
  wrongKey: () => answer(401, { code: 1002, message: 'access key not found' }),
  refusal(status, why) {
    const message = {
      input: 'invalid parameter: prompt',
      moderation: 'risk control: the content is sensitive',
      throttle: 'parallel task over resource pack limit',
      quota: 'resource pack depleted',
      server: 'internal error',
    }[why];
    return answer(why === 'server' ? status : STATUSES[why], { code: CODES[why], message });
  },
};
const ELEMENTS = '/v1/general/advanced-custom-elements';
const VIDEOS =
  /^(\/v1\/videos\/(?:text2video|image2video|multi-image2video|motion-control|video-extend))(?:\/([^/]+))?$/;
const LISTED = 100;

export async function klingRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const account = accountOrRefusal(sim, keyIn(request), wording);
  if (account instanceof Response) return account;
  const url = new URL(request.url);
  if (path.startsWith(ELEMENTS)) return element(path.slice(ELEMENTS.length + 1));
  const [, kind, id] = VIDEOS.exec(path) ?? [];
  if (!kind) return answer(404, { code: 1202, message: 'invalid path' });
  if (request.method === 'GET' && id) {
    const job = jobs.find(account.id, id);
    if (!job) return answer(404, { code: 1203, message: 'no such task' });
    return refusalOfPoll(job, wording) ?? succeeded(taskOf(job, url.origin));
  }
  if (request.method === 'GET') {
    const account_jobs = jobs
      .of(account.id, 'kling')
      .filter((job) => job.details?.['path'] === kind);
    const page = Number(url.searchParams.get('pageNum') ?? 1);
    const listed = account_jobs.reverse().slice((page - 1) * LISTED, page * LISTED);
    return succeeded(listed.map((job) => taskOf(job, url.origin)));
  }
  const body = await bodyOf(request);
  const prompt = textIn(body, 'prompt');
  const isWrong =
    (prompt === '' && !kind.endsWith('motion-control')) ||
    ('duration' in body && typeof body['duration'] !== 'string') ||
    Number(body['cfg_scale'] ?? 0) > 1 ||
    textIn(body, 'image').startsWith('data:');
  if (isWrong) return wording.refusal(400, 'input');
  const order = {
    protocol: 'kling',
    model: textIn(body, 'model_name'),
    prompt,
    kind: 'video' as const,
    outputs: 1,
    duration: Number(body['duration'] ?? 5),
    details: { path: kind, external_task_id: body['external_task_id'] },
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  return 'answer' in accepted ? accepted.answer : succeeded(taskOf(accepted.job, url.origin));
}

/**
 * Returns the bearer key. If the key is a JWT, returns its `iss`, or undefined if the JWT has
 * expired. The signature is not checked.
 */
function keyIn(request: Request): string | undefined {
  const token = request.headers.get('authorization')?.slice('Bearer '.length);
  const [, claims] = token?.split('.') ?? [];
  if (!claims) return token;
  const { iss, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return exp * 1_000 > Date.now() ? iss : undefined;
}

function element(id: string): Response {
  if (id === '') return succeeded({ task_id: newId(''), task_status: 'submitted' });
  const elements = [{ element_id: id }];
  return succeeded({ task_id: id, task_status: 'succeed', task_result: { elements } });
}

const STATUS = {
  queued: 'submitted',
  processing: 'processing',
  done: 'succeed',
  failed: 'failed',
  cancelled: 'failed',
};

function taskOf(job: Job, origin: string): object {
  const state = stateOf(job);
  const videos = addressesOf(origin, job).map((url, index) => ({
    id: `${job.id}-${index}`,
    url,
    duration: String(job.duration),
  }));
  const reason = job.script.fail === 'moderation' ? 'failed by risk control' : 'internal failure';
  return {
    task_id: job.id,
    task_info: { external_task_id: job.details?.['external_task_id'] },
    task_status: job.script.unknown ? 'dreaming' : STATUS[state],
    ...(state === 'failed' ? { task_status_msg: reason } : {}),
    ...(state === 'done' ? { task_result: { videos }, final_unit_deduction: '1' } : {}),
    created_at: job.began_at,
    updated_at: Date.now(),
  };
}

function succeeded(data: unknown): Response {
  return answer(200, { code: 0, message: 'SUCCEED', data });
}

function answer(status: number, body: object): Response {
  return Response.json({ ...body, request_id: newId('') }, { status });
}
