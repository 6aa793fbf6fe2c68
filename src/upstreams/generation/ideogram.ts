import { withoutUndefined } from '../../json/object.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { type GenerationProtocol, LostSubmissionError } from './contract.ts';
import { asList, asObject, asText, failed, submitJob } from './exchange.ts';

/**
 * Ideogram 3 (Ideogram docs: Generate v3). The response to the submission already has the URLs of
 * the images, so there is no job to poll.
 */
export const ideogramProtocol: GenerationProtocol = {
  name: 'ideogram',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'image')
      throw new RetryableUpstreamError('server', 'this protocol makes only images');
    const fields = withoutUndefined({
      prompt: input.prompt,
      negative_prompt: input.negative_prompt,
      seed: input.seed,
      // The API takes `16x9`, not `16:9`.
      aspect_ratio: input.aspect_ratio?.replace(':', 'x'),
      resolution: input.aspect_ratio ? undefined : input.size,
      num_images: input.n,
    });
    // The API documents forms only, even without a file.
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, String(value));
    const answer = await submitJob(call, {
      path: '/v1/ideogram-v3/generate',
      headers: { 'api-key': call.target.api_key },
      body,
    });
    if ('type' in answer) return answer;
    const pictures = asList(answer.body['data']).map(asObject);
    if (pictures.length === 0) throw new LostSubmissionError('a response without images');
    // An image that Ideogram refused has no URL, although the HTTP status is 200.
    const safe = pictures.filter((each) => each['is_image_safe'] !== false && asText(each['url']));
    if (safe.length === 0) return failed('no safe picture', 'moderation');
    const outputs = safe.map(({ url, prompt }) => ({
      kind: 'image' as const,
      url: String(url),
      ...withoutUndefined({ revised_prompt: prompt === input.prompt ? undefined : asText(prompt) }),
    }));
    return { type: 'produced', outputs, usage: { images: outputs.length } };
  },
};
