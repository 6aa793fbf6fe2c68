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
 * Black Forest Labs (BFL docs: API reference). The header `x-key` has the key. A task makes one
 * image and has a polling URL.
 */
const wording: Wording = {
  wrongKey: () => Response.json({ detail: 'Not authenticated' }, { status: 403 }),
  refusal(status, why) {
    const detail = {
      input: [
        { loc: ['body', 'prompt'], msg: 'Input should be a valid string', type: 'value_error' },
      ],
      moderation: 'Request Moderated',
      throttle: 'Rate limit exceeded: too many active tasks',
      quota: 'Insufficient credits',
      server: 'Internal server error',
    }[why];
    return Response.json({ detail }, { status });
  },
};

const ACCEPTED_FIELDS = [
  'prompt',
  'seed',
  'output_format',
  'width',
  'height',
  'aspect_ratio',
  'input_image',
  'steps',
  'guidance',
  'prompt_upsampling',
  'safety_tolerance',
];
const UNPROCESSABLE = 422;

export async function bflRoute(sim: Simulator, path: string, request: Request): Promise<Response> {
  const account = accountOrRefusal(sim, request.headers.get('x-key'), wording);
  if (account instanceof Response) return account;
  const url = new URL(request.url);
  if (path === '/get_result') {
    const job = jobs.find(account.id, url.searchParams.get('id') ?? '');
    if (!job) return Response.json({ status: 'Task not found', result: null }, { status: 404 });
    return refusalOfPoll(job, wording) ?? Response.json(resultOf(job, url.origin));
  }
  if (request.method !== 'POST') return new Response('Not Found', { status: 404 });
  const body = await bodyOf(request);
  const unknown = Object.keys(body).find((field) => !ACCEPTED_FIELDS.includes(field));
  const isWrong = textIn(body, 'prompt') === '' || unknown !== undefined;
  if (isWrong) return wording.refusal(UNPROCESSABLE, 'input');
  const order = {
    protocol: 'bfl',
    model: path.slice(1),
    prompt: textIn(body, 'prompt'),
    kind: 'image' as const,
    outputs: 1,
    width: Number(body['width'] ?? 1_024),
    height: Number(body['height'] ?? 768),
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { id } = accepted.job;
  return Response.json({ id, polling_url: `${url.origin}/bfl/v1/get_result?id=${id}`, cost: 4 });
}

function resultOf(job: Job, origin: string): object {
  const { id, prompt, script } = job;
  const pending = { id, status: 'Pending', result: null, progress: progressOf(job) };
  if (script.unknown) return { ...pending, status: 'Reticulating' };
  const state = stateOf(job);
  if (state === 'queued' || state === 'processing') return pending;
  if (state !== 'done') {
    const status = script.fail === 'moderation' ? 'Content Moderated' : 'Error';
    return { id, status, result: null, details: { reason: script.fail } };
  }
  const [sample] = addressesOf(origin, job);
  return { id, status: 'Ready', result: { ...(sample ? { sample } : {}), prompt, seed: 7 } };
}
