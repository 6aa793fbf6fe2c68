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

/**
 * Simulates ByteDance's Ark. The tasks of Ark report token usage. A request may have a first and a
 * last frame, or references (images, videos and sounds to imitate), but not both.
 */
const wording: Wording = {
  wrongKey: () => error(401, 'AuthenticationError', 'The API key is invalid.'),
  refusal(status, why) {
    switch (why) {
      case 'input':
        return error(400, 'InvalidParameter', 'The parameter content is invalid.');
      case 'moderation':
        return error(400, 'InputTextSensitiveContentDetected', 'The input may be sensitive.');
      case 'throttle':
        return error(429, 'RateLimitExceeded.EndpointRPMExceeded', 'Requests per minute exceeded.');
      case 'quota':
        return error(403, 'AccountOverdueError', 'The account has an overdue balance.');
      default:
        return error(status, 'InternalServiceError', 'The service met an internal error.');
    }
  },
};
const TASKS = /^\/contents\/generations\/tasks(?:\/([^/]+))?$/;
const LIMITS = { image_url: 9, video_url: 3, audio_url: 3 };
const TOKENS_PER_SECOND = 21_780;
const FRAMES = ['first_frame', 'last_frame'];

export async function arkRoute(sim: Simulator, path: string, request: Request): Promise<Response> {
  const account = accountOrRefusal(
    sim,
    request.headers.get('authorization')?.slice('Bearer '.length),
    wording,
  );
  if (account instanceof Response) return account;
  const match = TASKS.exec(path);
  if (!match) return error(404, 'NotFound', 'No such path.');
  if (match[1]) {
    const job = jobs.find(account.id, match[1]);
    if (!job) return error(404, 'ResourceNotFound', 'The task is not found.');
    if (request.method === 'DELETE') {
      if (stateOf(job) !== 'queued') return error(409, 'InvalidAction', 'The task is running.');
      job.cancelled = true;
      return new Response(null, { status: 204 });
    }
    return refusalOfPoll(job, wording) ?? Response.json(taskOf(job, new URL(request.url).origin));
  }
  const body = await bodyOf(request);
  const content = (Array.isArray(body['content']) ? body['content'] : []) as Part[];
  if (content.length === 0 || isWrong(content)) return wording.refusal(400, 'input');
  const order = {
    protocol: 'ark',
    model: textIn(body, 'model'),
    prompt: content.find(({ type }) => type === 'text')?.text ?? '',
    kind: 'video' as const,
    outputs: 1,
    duration: Number(body['duration'] ?? 5),
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  return 'answer' in accepted ? accepted.answer : Response.json({ id: accepted.job.id });
}

interface Part {
  type: string;
  text?: string;
  role?: string;
}

function isWrong(content: readonly Part[]): boolean {
  const roles = content.flatMap(({ role }) => role ?? []);
  const frames = roles.filter((role) => FRAMES.includes(role)).length;
  if (frames > 0 && frames < roles.length) return true;
  return Object.entries(LIMITS).some(
    ([type, maximum]) => content.filter((part) => part.type === type).length > maximum,
  );
}

const STATUS = {
  queued: 'queued',
  processing: 'running',
  done: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

function taskOf(job: Job, origin: string): object {
  const state = stateOf(job);
  const [video_url] = addressesOf(origin, job);
  const completion_tokens = (job.duration ?? 5) * TOKENS_PER_SECOND;
  const failure =
    job.script.fail === 'moderation'
      ? { code: 'OutputVideoSensitiveContentDetected', message: 'The output may be sensitive.' }
      : { code: 'InternalServiceError', message: 'The service met an internal error.' };
  return {
    id: job.id,
    model: job.model,
    status: job.script.unknown ? 'dreaming' : STATUS[state],
    error: state === 'failed' ? failure : null,
    ...(state === 'done'
      ? {
          content: video_url ? { video_url } : {},
          usage: { completion_tokens, total_tokens: completion_tokens },
          duration: job.duration,
        }
      : {}),
    created_at: Math.floor(job.began_at / 1_000),
  };
}

function error(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message, type: code } }, { status });
}
