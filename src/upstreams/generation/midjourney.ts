import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
} from './contract.ts';
import {
  asText,
  failed,
  type JsonObject,
  messageIn,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ 'mj-api-secret': target.api_key });

/**
 * Values of `code` in the proxy's response (midjourney-proxy: ReturnCode). Refusals also have the
 * HTTP status 200, so only `code` tells them apart. These values mean: the task is accepted.
 */
const ACCEPTED_CODES = [1, 21, 22];
const INVALID_INPUT_CODE = 4;
const QUEUE_FULL_CODE = 23;
const BANNED_CONTENT_CODE = 24;

/** Midjourney through midjourney-proxy. One task makes one image: a grid of four pictures. */
export const midjourneyProtocol: GenerationProtocol = {
  name: 'midjourney',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'image')
      throw new RetryableUpstreamError('server', 'this protocol makes only images');
    const ratio = input.aspect_ratio ? ` --ar ${input.aspect_ratio}` : '';
    const body = {
      prompt: input.prompt + ratio,
      botType: call.physical_model,
      base64Array: input.images ?? [],
      // The proxy lists `state` with each task. `find` uses it to find a lost submission.
      state: call.idempotency_key,
    };
    const answer = await submitJob(call, { path: '/submit/imagine', headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const code = Number(answer.body['code']);
    const id = asText(answer.body['result']);
    if (ACCEPTED_CODES.includes(code) && id) return { type: 'accepted', job: { id } };
    const message = messageIn(answer);
    if (code === BANNED_CONTENT_CODE) return failed(message, 'moderation');
    if (code === INVALID_INPUT_CODE) return failed(message, 'input');
    if (code === QUEUE_FULL_CODE) throw new RetryableUpstreamError('throttle', message);
    if (!Number.isFinite(code)) throw new LostSubmissionError(message);
    throw new RetryableUpstreamError('server', message);
  },

  async poll(call, { id }) {
    const path = `/task/${encodeURIComponent(id)}/fetch`;
    const { status, body } = await queryJob(call, { path, headers: keyOf(call) }, [200, 404]);
    // For an unknown task, the body of the response is `null`.
    if (status === 404 || body['status'] === undefined) {
      return { type: 'missing', message: 'no such job' };
    }
    return progressOf(body);
  },

  async find(call) {
    const { bytes } = await queryJob(call, { path: '/task/list', headers: keyOf(call) });
    const tasks: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const own = (Array.isArray(tasks) ? (tasks as JsonObject[]) : []).find(
      (task) => task['state'] === call.idempotency_key,
    );
    const id = asText(own?.['id']);
    return id ? { id } : undefined;
  },
};

function progressOf(task: JsonObject): Progress {
  switch (task['status']) {
    case 'NOT_START':
    case 'SUBMITTED':
      return { type: 'running', status: 'queued' };
    case 'IN_PROGRESS':
      return { type: 'running', status: 'processing', ...progressIn(task['progress']) };
    case 'SUCCESS': {
      const url = asText(task['imageUrl']);
      if (!url) return failed('finished without a picture', 'upstream');
      return { type: 'produced', outputs: [{ kind: 'image', url }], usage: { images: 1 } };
    }
    case 'FAILURE':
      return failed(asText(task['failReason']) ?? 'failed');
    case 'MODAL':
    case 'CANCEL':
      return failed(`status ${task['status']}`, 'upstream');
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}
