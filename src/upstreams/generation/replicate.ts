import {
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
  type UpstreamOutput,
} from './contract.ts';
import {
  asObject,
  asText,
  failed,
  isModerated,
  type JsonObject,
  queryJob,
  submitJob,
} from './exchange.ts';
import { replicateInput } from './replicate-request.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });

/**
 * Replicate's predictions (Replicate docs: HTTP API). The physical model is `owner/name` for an official
 * model, else `owner/name:version`.
 */
export const replicateProtocol: GenerationProtocol = {
  name: 'replicate',
  idempotent: false,

  async submit(call) {
    const [model = '', version] = call.physical_model.split(':');
    const input = replicateInput(model, call.input);
    const answer = await submitJob(call, {
      path: version ? '/predictions' : `/models/${model}/predictions`,
      headers: keyOf(call),
      body: version ? { version, input } : { input },
    });
    if ('type' in answer) return answer;
    const id = asText(answer.body['id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    // The output does not tell whether it is an image, a video or audio. So `path` stores the
    // scene, the kind of generation that was requested.
    return { type: 'accepted', job: { id, path: call.input.scene } };
  },

  async poll(call, { id, path: scene = '' }) {
    const path = `/predictions/${encodeURIComponent(id)}`;
    const { status, body } = await queryJob(call, { path, headers: keyOf(call) }, [200, 404]);
    return status === 404
      ? { type: 'missing', message: 'no such prediction' }
      : progressOf(body, scene);
  },

  async cancel(call, { id }) {
    const path = `/predictions/${encodeURIComponent(id)}/cancel`;
    await queryJob(call, { method: 'POST', path, headers: keyOf(call) }, [200, 404, 422]);
  },
};

function progressOf(prediction: JsonObject, scene: string): Progress {
  switch (prediction['status']) {
    case 'starting':
      return { type: 'running', status: 'queued' };
    case 'processing':
      return { type: 'running', status: 'processing' };
    case 'succeeded': {
      const outputs = outputsIn(prediction['output'], scene);
      if (outputs.length === 0) return failed('succeeded without an output', 'upstream');
      return { type: 'produced', outputs, usage: {} };
    }
    case 'failed':
    case 'canceled':
    case 'aborted': {
      const message = asText(prediction['error']) ?? String(prediction['status']);
      return failed(message, isModerated(message) ? 'moderation' : 'upstream');
    }
    default:
      return { type: 'unknown', message: `status ${String(prediction['status'])}` };
  }
}

const KINDS = {
  image: 'image',
  video: 'video',
  music: 'audio',
  '3d': 'model',
  audio: 'audio',
} as const;

/**
 * Returns the URLs in a prediction's output. The model decides whether the output is a URL, a list
 * of URLs, or an object with URLs.
 */
function outputsIn(output: unknown, scene: string): UpstreamOutput[] {
  const kind = KINDS[scene as keyof typeof KINDS] ?? 'image';
  const all = Array.isArray(output)
    ? output
    : typeof output === 'string'
      ? [output]
      : Object.values(asObject(output));
  const urls = all.filter((each): each is string => /^https?:/.test(String(each)));
  return urls.map((url) => ({ kind, url }));
}
