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
  type PartialImage,
  type SubmitResult,
  type UpstreamOutput,
} from './contract.ts';
import {
  asList,
  asNumber,
  asObject,
  asText,
  failed,
  type JsonObject,
  messageIn,
  submitJob,
} from './exchange.ts';
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
  const request = input.images
    ? {
        path: address.path(call, '/images/edits'),
        body: await formFor(body, input, call.signal),
      }
    : { path: address.path(call, '/images/generations'), body };
  const onEvent = (event: JsonObject) => {
    const partial = partialIn(event);
    if (partial) call.onPartial?.(partial);
  };
  const answer = await submitJob(call, {
    ...request,
    headers,
    ...(input.stream ? { onEvent } : {}),
  });
  if ('type' in answer) return answer;
  if (answer.body['error']) return failed(messageIn(answer));
  const { data, output_format } = input.stream ? inOnePiece(answer.body) : answer.body;
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
    stream: input.stream,
    partial_images: input.partial_images,
  });
}

/** Returns the preview in an event of a stream; undefined if the event has none. */
function partialIn(event: JsonObject): PartialImage | undefined {
  const [base64, index] = [asText(event['b64_json']), asNumber(event['partial_image_index'])];
  if (!base64 || index === undefined) return undefined;
  return {
    ...{ base64, index },
    ...withoutUndefined({
      background: asText(event['background']),
      output_format: asText(event['output_format']),
      quality: asText(event['quality']),
      size: asText(event['size']),
    }),
  };
}

/**
 * Returns the last event of a stream in the form of an answer that is not streamed. An upstream that
 * does not know `stream` sends such an answer. Without an image, the stream broke off.
 */
function inOnePiece(event: JsonObject): JsonObject {
  if (!String(event['type']).endsWith('.completed')) return event;
  return { data: [{ b64_json: event['b64_json'] }], output_format: event['output_format'] };
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
