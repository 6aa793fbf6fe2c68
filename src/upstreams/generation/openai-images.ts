import type { ImageInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { type GenerationUsage, readGenerationTokens } from '../../protocols/generation-usage.ts';
import { countIn } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { AZURE, OPENAI, type OpenaiAddress } from '../transport/openai-address.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type SubmitResult,
  type UpstreamOutput,
} from './contract.ts';
import { asList, asObject, asText, failed, type JsonObject, submitJob } from './exchange.ts';
import { inlineImage } from './inline-media.ts';

/** OpenAI images, returned inline (OpenAI docs: Create image, Create image edit). */
export const openaiImagesProtocol: GenerationProtocol = {
  name: 'openai-images',
  idempotent: false,
  submit: (call) => submit(call, OPENAI),
};

/**
 * OpenAI images on Azure (Azure docs: Image generation). Only the address and the header
 * with the key differ from `openaiImagesProtocol`. `response_format` is never forwarded (spec: Image
 * generation, 4).
 */
export const azureImagesProtocol: GenerationProtocol = {
  name: 'azure-images',
  idempotent: false,
  submit: (call) => submit(call, AZURE),
};

async function submit(call: GenerationCall, address: OpenaiAddress): Promise<SubmitResult> {
  const { input } = call;
  const headers = address.headers(call.target.api_key);
  if (input.scene !== 'image')
    throw new RetryableUpstreamError('server', 'this protocol makes only images');
  const body = bodyFor(call, input);
  const answer = await submitJob(
    call,
    input.images
      ? {
          path: address.path(call, '/images/edits'),
          headers,
          body: await formFor(body, input, call.signal),
        }
      : { path: address.path(call, '/images/generations'), headers, body },
  );
  if ('type' in answer) return answer;
  const { data, output_format } = answer.body;
  if (!Array.isArray(data)) throw new LostSubmissionError('a response without images');
  const outputs = asList(data).flatMap((each) => outputOf(asObject(each), output_format) ?? []);
  if (outputs.length === 0) return failed('the answer contains no images', 'upstream');
  return { type: 'produced', outputs, usage: usageOf(answer.body['usage'], outputs.length) };
}

/**
 * Returns the JSON body of a request. The contract has already refused parameters that the model's
 * family does not have, e.g. `style` for every family but DALL·E.
 */
function bodyFor({ physical_model }: GenerationCall, input: ImageInput): JsonObject {
  return withoutUndefined({
    model: physical_model,
    prompt: input.prompt,
    n: input.n,
    size: input.size,
    quality: input.quality,
    user: input.user,
    style: input.style,
    background: input.background,
    output_format: input.output_format,
    output_compression: input.output_compression,
    moderation: input.moderation,
  });
}

/**
 * Returns an edit request as a multipart body, with the input images and the mask as files (OpenAI
 * docs: Create image edit).
 */
async function formFor(
  body: JsonObject,
  { images = [], mask }: ImageInput,
  signal: AbortSignal,
): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  const files = await Promise.all(images.map((each) => fileOf(each, signal)));
  for (const [at, file] of files.entries()) form.append('image[]', file, nameOf('image', at, file));
  if (mask === undefined) return form;
  const cut = await fileOf(mask, signal);
  form.set('mask', cut, nameOf('mask', 0, cut));
  return form;
}

async function fileOf(reference: string, signal: AbortSignal): Promise<Blob> {
  const { mime_type, base64 } = await inlineImage(reference, signal);
  return new Blob([Buffer.from(base64, 'base64')], { type: mime_type });
}

/**
 * Returns a file name with an extension, because a provider may read the file type from the
 * extension.
 */
function nameOf(name: string, at: number, { type }: Blob): string {
  return `${name}-${at}.${type.replace('image/', '')}`;
}

function outputOf(picture: JsonObject, format: unknown): UpstreamOutput | undefined {
  const [base64, url] = [asText(picture['b64_json']), asText(picture['url'])];
  if (!base64 && !url) return undefined;
  return {
    kind: 'image',
    ...(base64 ? { base64 } : { url: url as string }),
    ...(typeof format === 'string' ? { content_type: `image/${format}` } : {}),
    ...withoutUndefined({ revised_prompt: asText(picture['revised_prompt']) }),
  };
}

/**
 * Returns the number of images, and the tokens if the model reports them. The reported
 * `input_tokens` includes image tokens and cached tokens, so both are subtracted.
 */
function usageOf(usage: unknown, images: number): GenerationUsage {
  const tokens = readGenerationTokens(usage, (reported) => {
    const details = reported['input_tokens_details'];
    const cached_input = countIn(details, 'cached_tokens');
    const image_input = countIn(details, 'image_tokens');
    return {
      // Negative, and so impossible, if the parts are more than the whole.
      text_input: countIn(reported, 'input_tokens') - image_input - cached_input,
      image_input,
      cached_input,
      output: countIn(reported, 'output_tokens'),
    };
  });
  const isReported = asObject(usage)['output_tokens'] !== undefined;
  return tokens && isReported ? { images, tokens } : { images };
}
