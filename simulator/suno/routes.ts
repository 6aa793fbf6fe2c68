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

/** The submit and fetch routes of Suno proxies. */
const wording: Wording = {
  wrongKey: () =>
    Response.json({ code: 'unauthorized', message: 'invalid token' }, { status: 401 }),
  refusal(status, why) {
    const message = {
      input: 'invalid prompt',
      moderation: 'prompt contains sensitive words',
      throttle: 'too many tasks, retry later',
      quota: 'insufficient quota',
      server: 'internal error',
    }[why];
    return Response.json({ code: 'invalid_request', message, data: null }, { status });
  },
};

const SECONDS = 184;
const CLIPS = 2;

export async function sunoRoute(sim: Simulator, path: string, request: Request): Promise<Response> {
  const account = accountOrRefusal(
    sim,
    request.headers.get('authorization')?.slice('Bearer '.length),
    wording,
  );
  if (account instanceof Response) return account;
  const fetched = /^\/suno\/fetch\/([^/]+)$/.exec(path)?.[1];
  if (fetched) {
    const job = jobs.find(account.id, decodeURIComponent(fetched));
    if (!job) return wording.refusal(404, 'input');
    const refused = refusalOfPoll(job, wording);
    if (refused) return refused;
    return Response.json({
      code: 'success',
      message: '',
      data: taskOf(job, new URL(request.url).origin),
    });
  }
  const action = /^\/suno\/submit\/(music|lyrics)$/.exec(path)?.[1];
  if (!action) return new Response(null, { status: 404 });
  const body = await bodyOf(request);
  const prompt = textIn(body, 'prompt') || textIn(body, 'gpt_description_prompt');
  const continues = textIn(body, 'continue_clip_id');
  // A continuation must name the task that created the clip.
  const isWrong =
    prompt === '' || (continues !== '' && !jobs.find(account.id, textIn(body, 'task_id')));
  if (isWrong) return wording.refusal(400, 'input');
  const order = {
    protocol: 'suno',
    model: textIn(body, 'mv') || 'chirp-v3-0',
    prompt,
    kind: 'audio' as const,
    outputs: CLIPS,
    details: { action, title: textIn(body, 'title'), tags: textIn(body, 'tags') },
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  return Response.json({ code: 'success', message: '', data: accepted.job.id });
}

const STATUS = {
  queued: 'QUEUED',
  processing: 'IN_PROGRESS',
  done: 'SUCCESS',
  failed: 'FAILURE',
  cancelled: 'FAILURE',
};

function taskOf(job: Job, origin: string): object {
  const state = stateOf(job);
  const isLyrics = job.details?.['action'] === 'lyrics';
  const reason =
    job.script.fail === 'moderation' ? 'sensitive words detected' : 'generation failed';
  return {
    task_id: job.id,
    action: isLyrics ? 'LYRICS' : 'MUSIC',
    status: job.script.unknown ? 'HUMMING' : STATUS[state],
    fail_reason: state === 'failed' ? reason : '',
    submit_time: Math.floor(job.began_at / 1_000),
    progress: `${Math.floor(progressOf(job) * 100)}%`,
    data: state === 'done' ? (isLyrics ? lyricsOf(job) : clipsOf(job, origin)) : null,
  };
}

function lyricsOf({ id, script }: Job): object {
  const text = script.no_url ? '' : '[Verse]\nA light upon the water\nA word upon the wind';
  return { id: `${id}-lyrics`, title: 'A light', text, status: 'complete' };
}

function clipsOf(job: Job, origin: string): object[] {
  return addressesOf(origin, job).map((audio_url, index) => ({
    id: `${job.id}-clip-${index}`,
    title: job.details?.['title'] || 'Untitled',
    status: 'complete',
    audio_url,
    image_url: '',
    model_name: job.model,
    metadata: { tags: job.details?.['tags'], prompt: job.prompt, duration: SECONDS },
  }));
}
