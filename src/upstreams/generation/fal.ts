import { withoutUndefined } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import type { GenerationProtocol, JobCall, UpstreamOutput } from './contract.ts';
import { LostSubmissionError } from './contract.ts';
import {
  asNumber,
  asObject,
  asText,
  failed,
  isModerated,
  type JsonObject,
  messageIn,
  queryJob,
  submitJob,
} from './exchange.ts';
import { falRequest } from './fal-request.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Key ${target.api_key}` });

/** Jobs in fal's queue, for every kind of generation (fal docs: Queue API). */
export const falProtocol: GenerationProtocol = {
  name: 'fal',
  idempotent: false,

  async submit(call) {
    const { path, body } = falRequest(call.physical_model, call.input);
    const answer = await submitJob(call, { path, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const { request_id, status_url, response_url } = answer.body;
    const [id, poll_url, result] = [request_id, status_url, response_url].map(asText);
    if (!id || !poll_url || !result)
      throw new LostSubmissionError('the response lacks the job id or a polling URL');
    // The polling URL and the result URL do not contain the sub-path of the model. So Weir cannot
    // build them from the model id, and stores the URLs that fal returned.
    return { type: 'accepted', job: { id, poll_url, path: result } };
  },

  async poll(call, { poll_url = '', path = '' }) {
    const headers = keyOf(call);
    const { status, body } = await queryJob(call, { path: poll_url, headers }, [200, 202, 404]);
    if (status === 404) return { type: 'missing', message: messageIn({ body, bytes: NO_BYTES }) };
    switch (body['status']) {
      case 'IN_QUEUE':
        return { type: 'running', status: 'queued' };
      case 'IN_PROGRESS':
        return { type: 'running', status: 'processing' };
      case 'COMPLETED':
        return result(call, path);
      default:
        return { type: 'unknown', message: `status ${String(body['status'])}` };
    }
  },

  async cancel(call, { poll_url = '' }) {
    const path = poll_url.replace(/\/status$/, '/cancel');
    await queryJob(call, { method: 'PUT', path, headers: keyOf(call) }, [200, 202, 400, 404]);
  },
};

const NO_BYTES = new Uint8Array();

/**
 * Statuses of a result. The status is the one that the model itself answered with, so a 5xx is as
 * final as a 422 (fal docs: Queue API). All others concern the account or its rate, not the job.
 */
const RESULT_STATUSES = [200, 400, 404, 409, 410, 413, 422, 500, 501, 502, 503, 504];
/**
 * The words before the result exists, with status 400 (fal docs: Queue API) or 500 (vercel/ai:
 * packages/fal/src/fal-video-model.test.ts).
 */
const IN_PROGRESS = /still in progress/i;

/**
 * Reads the result of a job with the status COMPLETED. This status does not mean success: only the
 * result tells whether the job succeeded.
 */
async function result(call: JobCall, path: string) {
  const answer = await queryJob(call, { path, headers: keyOf(call) }, RESULT_STATUSES);
  const { status, body } = answer;
  if (status !== 200) {
    const message = messageIn(answer);
    if (status === 404) return { type: 'missing', message } as const;
    if (IN_PROGRESS.test(message)) {
      return { type: 'running', status: 'processing' } as const;
    }
    return failed(
      message,
      isModerated(message) ? 'moderation' : status === 422 ? 'input' : 'upstream',
    );
  }
  const outputs = outputsIn(body);
  if (outputs.length === 0) return failed('completed without a result', 'upstream');
  // Some models report the duration of a file. The sum is used only if every file has one.
  const durations = outputs.flatMap(({ duration }) => duration ?? []);
  const isWhole = durations.length === outputs.length;
  const seconds = isWhole ? durations.reduce((sum, each) => sum + each, 0) : undefined;
  return { type: 'produced', outputs, usage: withoutUndefined({ seconds }) } as const;
}

const KINDS = {
  images: 'image',
  image: 'image',
  video: 'video',
  videos: 'video',
  audio: 'audio',
  audio_file: 'audio',
  model_mesh: 'model',
  model_glb: 'model',
} as const;

function outputsIn(body: JsonObject): UpstreamOutput[] {
  const outputs: UpstreamOutput[] = [];
  for (const [member, kind] of Object.entries(KINDS)) {
    const value = body[member];
    for (const file of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      const { url, content_type, width, height, duration } = asObject(file);
      const address = asText(url);
      if (!address) continue;
      outputs.push({
        kind,
        url: address,
        ...withoutUndefined({
          content_type: asText(content_type),
          width: asNumber(width),
          height: asNumber(height),
          duration: readSeconds(duration),
        }),
      });
    }
  }
  return outputs;
}
