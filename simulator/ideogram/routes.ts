import type { Simulator } from '../exchange.ts';
import { accountOrRefusal, submitJob, type Wording } from '../tasks/desk.ts';
import { addressesOf } from '../tasks/files.ts';

/**
 * Ideogram 3. It accepts multipart requests only (developer.ideogram.ai: Generate with Ideogram 3.0). It
 * returns images inline, and errors in the format of RFC 7807. An image that moderation refuses has no
 * URL.
 */
const wording: Wording = {
  wrongKey: () => problem(401, 'Unauthorized'),
  refusal(status, why) {
    const title = {
      input: 'Invalid prompt',
      moderation: 'Prompt failed the safety check',
      throttle: 'Too many requests',
      quota: 'insufficient credits',
      server: 'Internal error',
    }[why];
    return problem(why === 'moderation' ? 422 : status, title);
  },
};

export async function ideogramRoute(
  sim: Simulator,
  path: string,
  request: Request,
): Promise<Response> {
  const account = accountOrRefusal(sim, request.headers.get('api-key'), wording);
  if (account instanceof Response) return account;
  if (path !== '/v1/ideogram-v3/generate') return problem(404, 'Not found');
  const isForm = request.headers.get('content-type')?.startsWith('multipart/form-data');
  if (!isForm) return problem(415, 'Unsupported media type');
  const form = await request.formData();
  const prompt = String(form.get('prompt') ?? '');
  const ratio = String(form.get('aspect_ratio') ?? '');
  if (prompt === '' || (ratio !== '' && !/^\d+x\d+$/.test(ratio)))
    return wording.refusal(400, 'input');
  const outputs = Number(form.get('num_images') ?? 1);
  const order = {
    protocol: 'ideogram',
    model: 'ideogram-v3',
    prompt,
    kind: 'image' as const,
    outputs,
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { job, script } = accepted;
  if (script.fail === 'upstream') return wording.refusal(500, 'server');
  if (script.fail === 'input') return wording.refusal(400, 'input');
  const safe = script.fail !== 'moderation';
  const { origin } = new URL(request.url);
  const data = addressesOf(origin, job).map((url) => ({
    prompt,
    resolution: '1024x1024',
    is_image_safe: safe,
    seed: 7,
    url: safe ? url : '',
    style_type: 'GENERAL',
  }));
  return Response.json({ created: new Date().toISOString(), data });
}

function problem(status: number, title: string): Response {
  return Response.json({ type: 'about:blank', title, detail: title, status }, { status });
}
