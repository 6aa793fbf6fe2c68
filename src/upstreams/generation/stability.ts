import type { ImageInput } from '../../catalogue/inputs.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type Failed,
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type UpstreamOutput,
} from './contract.ts';
import { asText, failed, submitJob } from './exchange.ts';

/**
 * Stable Diffusion 3.5 (Stability docs: Stable Image). Each HTTP request returns one image inline,
 * so `submit` sends one request for each image.
 */
export const stabilityProtocol: GenerationProtocol = {
  name: 'stability',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'image')
      throw new RetryableUpstreamError('server', 'this protocol makes only images');
    const pictures = await Promise.all(
      Array.from({ length: input.n }, (_, index) => onePicture(call, input, index)),
    );
    const outputs = pictures.filter((each): each is UpstreamOutput => 'kind' in each);
    const [refused] = pictures.filter((each): each is Failed => 'type' in each);
    if (outputs.length === 0) return refused ?? failed('no pictures', 'upstream');
    return { type: 'produced', outputs, usage: { images: outputs.length } };
  },
};

async function onePicture(
  call: GenerationCall,
  input: ImageInput,
  index: number,
): Promise<UpstreamOutput | Failed> {
  // The API accepts only multipart forms, even without a file.
  const body = new FormData();
  body.set('prompt', input.prompt);
  body.set('model', call.physical_model);
  if (input.negative_prompt) body.set('negative_prompt', input.negative_prompt);
  if (input.aspect_ratio) body.set('aspect_ratio', input.aspect_ratio);
  if (input.seed !== undefined) body.set('seed', String(input.seed + index));
  if (input.output_format) body.set('output_format', input.output_format);
  const answer = await submitJob(call, {
    path: '/v2beta/stable-image/generate/sd3',
    headers: { authorization: `Bearer ${call.target.api_key}`, accept: 'application/json' },
    body,
  });
  if ('type' in answer) return answer;
  if (answer.body['finish_reason'] === 'CONTENT_FILTERED') {
    return failed('CONTENT_FILTERED', 'moderation');
  }
  const base64 = asText(answer.body['image']);
  if (!base64) throw new LostSubmissionError('a response without an image');
  return { kind: 'image', base64, content_type: `image/${input.output_format ?? 'png'}` };
}
