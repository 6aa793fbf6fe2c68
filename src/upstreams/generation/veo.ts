import type { VideoInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
} from './contract.ts';
import {
  asList,
  asObject,
  asText,
  failed,
  type JsonObject,
  messageIn,
  queryJob,
  submitJob,
} from './exchange.ts';
import { inlineImage } from './inline-media.ts';

const keyOf = ({ target }: Pick<JobCall, 'target'>) => ({ 'x-goog-api-key': target.api_key });

/** Veo's long-running operations (Gemini API docs: Veo). */
export const veoProtocol: GenerationProtocol = {
  name: 'veo',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'video')
      throw new RetryableUpstreamError('server', 'this protocol makes only videos');
    const path = `/models/${call.physical_model}:predictLongRunning`;
    const body = await bodyFor(call, input);
    const answer = await submitJob(call, { path, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const blocked = asText(asObject(answer.body['promptFeedback'])['blockReason']);
    if (blocked) return failed(blocked, 'moderation');
    const id = asText(answer.body['name']);
    if (!id) throw new LostSubmissionError('the response has no operation name');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const { status, body } = await queryJob(
      call,
      { path: `/${id}`, headers: keyOf(call) },
      [200, 404],
    );
    if (status === 404) return { type: 'missing', message: 'no such operation' };
    if (body['done'] !== true) return { type: 'running', status: 'processing' };
    return resultOf(body);
  },

  /** Veo's files can be downloaded only with the account's key. */
  downloadHeaders: (target) => keyOf({ target }),
};

function resultOf(operation: JsonObject): Progress {
  if (operation['error']) {
    return failed(messageIn({ body: asObject(operation['error']), bytes: new Uint8Array() }));
  }
  const response = asObject(asObject(operation['response'])['generateVideoResponse']);
  const samples = asList(response['generatedSamples']).map((each) =>
    asObject(asObject(each)['video']),
  );
  const outputs = samples.flatMap(({ uri }) => {
    const url = asText(uri);
    return url ? [{ kind: 'video' as const, url, needs_key: true, continuation_id: url }] : [];
  });
  if (outputs.length > 0) return { type: 'produced', outputs, usage: {} };
  const [reason] = asList(response['raiMediaFilteredReasons']).map(String);
  return reason ? failed(reason, 'moderation') : failed('done without a video', 'upstream');
}

async function bodyFor({ signal }: GenerationCall, input: VideoInput): Promise<JsonObject> {
  const picture = async (reference: string | undefined) => {
    if (reference === undefined) return undefined;
    const { mime_type, base64 } = await inlineImage(reference, signal);
    return { bytesBase64Encoded: base64, mimeType: mime_type };
  };
  const referenceImages = await Promise.all(
    (input.reference_images ?? []).map(async (each) => ({
      image: await picture(each),
      referenceType: input.reference_image_type ?? 'asset',
    })),
  );
  const instance = withoutUndefined({
    prompt: input.prompt,
    image: await picture(input.start_image ?? input.image),
    lastFrame: await picture(input.end_image),
    referenceImages: referenceImages.length > 0 ? referenceImages : undefined,
    video: input.continued_job ? { uri: input.continued_job } : undefined,
  });
  // `seed`, `fps` and `output_audio` are not sent: of Google's APIs, only Vertex AI accepts them.
  const parameters = withoutUndefined({
    aspectRatio: input.aspect_ratio,
    resolution: input.resolution,
    durationSeconds: input.duration,
    negativePrompt: input.negative_prompt,
  });
  return { instances: [instance], parameters };
}
