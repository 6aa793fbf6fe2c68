import type { ImageInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
} from './contract.ts';
import {
  asObject,
  asText,
  failed,
  type JsonObject,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';
import { pixelsOf, ratioOf } from './pixels.ts';

/** Polling URLs are on regional hosts, e.g. `api.us1.bfl.ai` (BFL docs: API endpoints). */
const OWN_DOMAIN = 'bfl.ai';
/** The status of a job that does not exist (BFL docs: Get result). */
const NOT_FOUND = 'Task not found';

const keyOf = ({ target }: JobCall) => ({ 'x-key': target.api_key });

/** FLUX images of Black Forest Labs, as jobs (BFL docs: Image generation). One job makes one image. */
export const bflProtocol: GenerationProtocol = {
  name: 'bfl',
  idempotent: false,

  async submit(call) {
    const path = `/${call.physical_model}`;
    const answer = await submitJob(call, { path, headers: keyOf(call), body: bodyFor(call) });
    if ('type' in answer) return answer;
    const [id, poll_url] = [asText(answer.body['id']), asText(answer.body['polling_url'])];
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id, ...(poll_url ? { poll_url } : {}) } };
  },

  async poll(call, { id, poll_url = '/get_result' }) {
    // Some polling URLs do not contain the job's id, so it is added.
    const path = /[?&]id=/.test(poll_url) ? poll_url : `${poll_url}?id=${encodeURIComponent(id)}`;
    const ask = { path, own_domain: OWN_DOMAIN, headers: keyOf(call) };
    const { status, body } = await queryJob(call, ask, [200, 404]);
    // In some responses, the member is named `state` instead of `status`.
    const state = asText(body['status']) ?? asText(body['state']) ?? '';
    if (status === 404 || state === NOT_FOUND) return { type: 'missing', message: NOT_FOUND };
    switch (state) {
      case 'Pending':
      case 'Queued':
      case 'Processing':
        return { type: 'running', status: 'processing', ...progressIn(body['progress'], 1) };
      case 'Ready': {
        const sample = asText(asObject(body['result'])['sample']);
        if (!sample) return failed('ready without a sample', 'upstream');
        return {
          type: 'produced',
          outputs: [{ kind: 'image', url: sample }],
          usage: { images: 1 },
        };
      }
      case 'Request Moderated':
      case 'Content Moderated':
        return failed(state, 'moderation');
      case 'Error':
      case 'Failed':
        return failed(JSON.stringify(body['details'] ?? state), 'upstream');
      default:
        return { type: 'unknown', message: `status ${state}` };
    }
  },
};

function bodyFor({ physical_model, input }: GenerationCall): JsonObject {
  if (input.scene !== 'image')
    throw new RetryableUpstreamError('server', 'this protocol makes only images');
  const image: ImageInput = input;
  const byRatio = /kontext|ultra/.test(physical_model);
  return withoutUndefined({
    prompt: image.prompt,
    seed: image.seed,
    output_format: image.output_format,
    ...(byRatio ? { aspect_ratio: ratioOf(image) } : pixelsOf(image)),
    // The API accepts Base64 without a prefix, or a URL.
    input_image: image.images?.[0]?.replace(/^data:[^,]*,/, ''),
  });
}
