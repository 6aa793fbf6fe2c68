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

/**
 * The proxy's code for each kind of refusal. Every response of `/submit` has the HTTP status 200, so
 * only the code shows a refusal (midjourney-proxy: ReturnCode).
 */
const CODES = { input: 4, moderation: 24, throttle: 23, quota: 9, server: 9 };
const wording: Wording = {
  wrongKey: () => new Response(null, { status: 401 }),
  refusal(status, why) {
    const description = {
      input: 'prompt cannot be empty',
      moderation: 'may contain banned prompt',
      throttle: 'queue is full, try again later',
      quota: 'account has no fast hours left',
      server: 'submit failed',
    }[why];
    if (why === 'server') return new Response('Internal Server Error', { status });
    return Response.json({ code: CODES[why], description, properties: {} });
  },
};

export async function midjourneyRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const account = accountOrRefusal(sim, request.headers.get('mj-api-secret'), wording);
  if (account instanceof Response) return account;
  const { origin } = new URL(request.url);
  const fetched = /^\/task\/([^/]+)\/fetch$/.exec(path)?.[1];
  if (fetched) {
    const job = jobs.find(account.id, decodeURIComponent(fetched));
    if (!job) return Response.json(null);
    return refusalOfPoll(job, wording) ?? Response.json(taskOf(job, origin));
  }
  if (path === '/task/list') {
    return Response.json(jobs.of(account.id, 'midjourney').map((job) => taskOf(job, origin)));
  }
  if (path !== '/submit/imagine') return new Response(null, { status: 404 });
  const body = await bodyOf(request);
  const prompt = textIn(body, 'prompt');
  if (prompt === '') return wording.refusal(200, 'input');
  const order = {
    protocol: 'midjourney',
    model: textIn(body, 'botType') || 'MID_JOURNEY',
    prompt,
    kind: 'image' as const,
    outputs: 1,
    width: 512,
    height: 512,
    details: { state: body['state'] },
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { id } = accepted.job;
  return Response.json({ code: 1, description: 'Submit success', result: id, properties: {} });
}

const STATUS = {
  queued: 'SUBMITTED',
  processing: 'IN_PROGRESS',
  done: 'SUCCESS',
  failed: 'FAILURE',
  cancelled: 'CANCEL',
};

function taskOf(job: Job, origin: string): object {
  const { id, prompt, script, began_at, details } = job;
  const state = stateOf(job);
  const [imageUrl] = state === 'done' ? addressesOf(origin, job) : [];
  return {
    id,
    action: 'IMAGINE',
    status: script.unknown ? 'DREAMING' : STATUS[state],
    prompt,
    promptEn: prompt,
    state: details?.['state'],
    submitTime: began_at,
    progress: `${Math.floor(progressOf(job) * 100)}%`,
    ...(imageUrl ? { imageUrl } : {}),
    failReason:
      state === 'failed' ? (script.fail === 'moderation' ? 'banned prompt' : 'Timeout') : null,
    properties: { finalPrompt: prompt },
  };
}
