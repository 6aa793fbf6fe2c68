import type { Simulator } from '../exchange.ts';
import { accountOrRefusal, submitJob, type Wording } from '../tasks/desk.ts';
import { imageIn } from '../tasks/media.ts';

/** Stability. It accepts multipart requests only, and returns Base64. */
const wording: Wording = {
  wrongKey: () => error(401, 'unauthorized', 'authorization: invalid'),
  refusal(status, why) {
    const detail = {
      input: 'prompt: cannot be empty',
      moderation: 'Your request was flagged by our content moderation system',
      throttle: 'You have exceeded the rate limit',
      quota: 'insufficient credits',
      server: 'An unexpected server error has occurred',
    }[why];
    if (why === 'moderation') return error(403, 'content_moderation', detail);
    return error(why === 'quota' ? 402 : status, 'bad_request', detail);
  },
};
const PATH = /^\/v2beta\/stable-image\/generate\/(?:sd3|core|ultra)$/;

export async function stabilityRoute(
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
  if (!PATH.test(path)) return error(404, 'not_found', 'no such endpoint');
  const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data');
  if (!isForm) return error(400, 'bad_request', 'content-type: must be multipart/form-data');
  const form = await request.formData();
  const prompt = String(form.get('prompt') ?? '');
  if (prompt === '') return wording.refusal(400, 'input');
  const model = String(form.get('model') ?? 'sd3.5-large');
  const order = { protocol: 'stability', model, prompt, kind: 'image' as const, outputs: 1 };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { job, script } = accepted;
  if (script.fail === 'upstream') return wording.refusal(500, 'server');
  if (script.fail === 'input') return wording.refusal(400, 'input');
  const filtered = script.fail === 'moderation';
  const seed = String(form.get('seed') ?? job.id);
  const image = imageIn(String(form.get('output_format') ?? 'png'), seed, 512, 512);
  const finish_reason = filtered ? 'CONTENT_FILTERED' : 'SUCCESS';
  return Response.json({ ...(script.no_url ? {} : { image }), finish_reason, seed: 7 });
}

function error(status: number, name: string, message: string): Response {
  return Response.json({ id: 'SIM', name, errors: [message], message }, { status });
}
