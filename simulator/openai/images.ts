import type { Simulator } from '../exchange.ts';
import { disconnectsWithin } from '../shared/waiting.ts';
import { accountOrRefusal, bodyOf, submitJob, textIn, type Wording } from '../tasks/desk.ts';
import { fileUrl } from '../tasks/files.ts';
import type { Job } from '../tasks/jobs.ts';
import { imageIn } from '../tasks/media.ts';

/**
 * OpenAI's images (OpenAI docs: Images, create). The response to the submission contains the images:
 * a URL for each image of a DALL-E model, Base64 for each image of a token-priced model.
 */
const wording: Wording = {
  wrongKey: () =>
    error(401, 'Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'),
  refusal(status, why) {
    switch (why) {
      case 'moderation':
        return error(
          400,
          'Your request was rejected by the safety system.',
          'user_error',
          'moderation_blocked',
        );
      case 'throttle':
        return error(
          429,
          'Rate limit reached for images.',
          'rate_limit_error',
          'rate_limit_exceeded',
        );
      case 'quota':
        return error(
          429,
          'You exceeded your current quota.',
          'insufficient_quota',
          'insufficient_quota',
        );
      case 'input':
        return error(400, 'Invalid value for prompt.', 'invalid_request_error', 'invalid_value');
      default:
        return error(status, 'The server had an error.', 'server_error', 'server_error');
    }
  },
};

const TOKEN_PRICED = [
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'user',
  'background',
  'output_format',
  'output_compression',
  'moderation',
  'stream',
  'partial_images',
];
const CLASSIC = ['model', 'prompt', 'n', 'size', 'quality', 'user', 'style', 'response_format'];
const TOKENS_PER_IMAGE = 1_056;
const TOKENS_PER_INPUT = 323;
const TOKENS_PER_PARTIAL = 100;
const DEFAULT_IMAGE_MS = 50;

/** Serves the image routes. The caller reads `key`: OpenAI's and Azure's headers for it differ. */
export async function openaiImages(
  sim: Simulator,
  request: Request,
  key: string | undefined,
): Promise<Response> {
  const account = accountOrRefusal(sim, key, wording);
  if (account instanceof Response) return account;
  const isEdit = new URL(request.url).pathname.endsWith('/edits');
  const form = isEdit ? await request.formData() : undefined;
  const pictures = form?.getAll('image[]') ?? [];
  if (isEdit && !pictures.every((each) => typeof each !== 'string' && each.size > 0)) {
    return error(400, 'image: a file is required', 'invalid_request_error', 'invalid_value');
  }
  const body = form ? fieldsOf(form) : await bodyOf(request);
  const model = textIn(body, 'model');
  const isClassic = model.startsWith('dall-e');
  const unknown = Object.keys(body).find(
    (field) => !(isClassic ? CLASSIC : TOKEN_PRICED).includes(field),
  );
  if (unknown !== undefined) {
    return error(
      400,
      `Unknown parameter: '${unknown}'.`,
      'invalid_request_error',
      'unknown_parameter',
    );
  }
  const prompt = textIn(body, 'prompt');
  if (prompt === '') return wording.refusal(400, 'input');
  const [width = 1_024, height = 1_024] = sizeIn(textIn(body, 'size'));
  const outputs = Number(body['n'] ?? 1);
  const isStreamed = String(body['stream']) === 'true';
  // theopenco/llmgateway issue 3963.
  if (isStreamed && outputs !== 1) {
    const message = 'Streaming is only supported with n=1.';
    return error(400, message, 'invalid_request_error', 'invalid_value');
  }
  const order = {
    protocol: 'openai-images',
    model,
    prompt,
    kind: 'image' as const,
    outputs,
    width,
    height,
  };
  const accepted = await submitJob(sim, account, order, wording, request.signal);
  if ('answer' in accepted) return accepted.answer;
  const { job, script } = accepted;
  const wait = /task_ms=/.test(prompt) ? script.task_ms : DEFAULT_IMAGE_MS;
  if (isStreamed) {
    const partials = Number(body['partial_images'] ?? 0);
    const text_tokens = Math.ceil(prompt.length / 4);
    const image_tokens = TOKENS_PER_INPUT * pictures.length;
    const output = TOKENS_PER_IMAGE + TOKENS_PER_PARTIAL * partials;
    const order = { body, job, width, height, partials, wait_ms: wait };
    const prefix = isEdit ? 'image_edit' : 'image_generation';
    job.tokens = { text_input: text_tokens, image_input: image_tokens, output };
    return streamedImage(order, prefix, script.fail !== undefined, request.signal);
  }
  if (await disconnectsWithin(request.signal, wait)) return new Response(null, { status: 499 });
  if (script.fail === 'moderation') return wording.refusal(400, 'moderation');
  if (script.fail)
    return wording.refusal(
      script.fail === 'input' ? 400 : 500,
      script.fail === 'input' ? 'input' : 'server',
    );
  const { origin } = new URL(request.url);
  const count = script.no_url ? 0 : outputs;
  const output_format = textIn(body, 'output_format') || 'png';
  const data = Array.from({ length: count }, (_, index) =>
    isClassic
      ? { url: fileUrl(origin, job, index), revised_prompt: `${prompt}, in detail` }
      : {
          b64_json: imageIn(output_format, `${job.id}${index}`, width, height),
        },
  );
  const text_tokens = Math.ceil(prompt.length / 4);
  const image_tokens = TOKENS_PER_INPUT * pictures.length;
  const output_tokens = TOKENS_PER_IMAGE * count;
  if (!isClassic) {
    job.tokens = { text_input: text_tokens, image_input: image_tokens, output: output_tokens };
  }
  const usage = {
    input_tokens: text_tokens + image_tokens,
    input_tokens_details: { text_tokens, image_tokens },
    output_tokens,
    total_tokens: text_tokens + image_tokens + output_tokens,
  };
  const created = Math.floor(Date.now() / 1_000);
  return Response.json(isClassic ? { created, data } : { created, output_format, data, usage });
}

interface StreamedImage {
  readonly body: Record<string, unknown>;
  readonly job: Job;
  readonly width: number;
  readonly height: number;
  readonly partials: number;
  readonly wait_ms: number;
}

/**
 * The events of a streamed image (openai 7.55.0: `ImageGenPartialImageEvent`, `ImageGenCompletedEvent`).
 * The previews arrive in equal intervals.
 */
function streamedImage(
  { body, job, width, height, partials, wait_ms }: StreamedImage,
  prefix: string,
  fails: boolean,
  signal: AbortSignal,
): Response {
  const output_format = textIn(body, 'output_format') || 'png';
  const shared = {
    ...{ created_at: Math.floor(Date.now() / 1_000), output_format },
    background: textIn(body, 'background') || 'opaque',
    quality: textIn(body, 'quality').replace('auto', '') || 'high',
    size: textIn(body, 'size').replace('auto', '') || '1024x1024',
  };
  const event = (value: { type: string }) =>
    `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  async function* events() {
    for (let index = 0; index <= partials; index += 1) {
      if (await disconnectsWithin(signal, wait_ms / (partials + 1))) return;
      const b64_json = imageIn(output_format, `${job.id}${index}`, width, height);
      if (index < partials) {
        const type = `${prefix}.partial_image`;
        yield event({ type, b64_json, partial_image_index: index, ...shared } as { type: string });
      } else if (fails) {
        const words = { message: 'The server had an error.', type: 'server_error', code: null };
        yield event({ type: 'error', error: words } as { type: string });
      } else {
        const type = `${prefix}.completed`;
        yield event({ type, b64_json, usage: usageOf(job.tokens), ...shared } as { type: string });
      }
    }
  }
  return new Response(events() as unknown as ReadableStream, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
  });
}

function usageOf({ text_input = 0, image_input = 0, output = 0 }: Partial<Job['tokens']> = {}) {
  const input_tokens = text_input + image_input;
  return {
    ...{ input_tokens, output_tokens: output, total_tokens: input_tokens + output },
    input_tokens_details: { text_tokens: text_input, image_tokens: image_input },
  };
}

/** The text fields of an edit's form. */
function fieldsOf(form: Awaited<ReturnType<Request['formData']>>): Record<string, unknown> {
  const texts = [...form.entries()].filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts);
}

function sizeIn(size: string): number[] {
  const [width, height] = size.split('x').map(Number);
  return width && height ? [width, height] : [];
}

function error(status: number, message: string, type: string, code: string): Response {
  return Response.json({ error: { message, type, param: null, code } }, { status });
}
