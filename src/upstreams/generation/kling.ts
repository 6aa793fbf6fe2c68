import { createHmac } from 'node:crypto';
import type { KlingElement, VideoInput } from '../../catalogue/inputs.ts';
import { asInteger } from '../../json/exact-integers.ts';
import { withoutUndefined } from '../../json/object.ts';
import { readSeconds } from '../../protocols/generation-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type GenerationCall,
  type GenerationProtocol,
  type JobCall,
  LostSubmissionError,
  type Progress,
  type UpstreamOutput,
} from './contract.ts';
import { nameElements } from './elements.ts';
import {
  asList,
  asNumber,
  asObject,
  asText,
  classifyRefusalInBody,
  failed,
  type JsonObject,
  messageIn,
  type ProviderAnswer,
  queryJob,
  refusalOfQuery,
  submitJob,
} from './exchange.ts';

const TOKEN_LIFE_S = 1_800;
const CLOCK_SKEW_S = 5;
const ELEMENTS = '/v1/general/advanced-custom-elements';
const ELEMENT_POLLS = 30;
const ELEMENT_POLL_MS = 1_000;
const MAX_ELEMENT_NAME = 20;
const MAX_ELEMENT_DESCRIPTION = 100;
/** Weir searches this many pages of the newest tasks for a lost submission. */
const SEARCHED_PAGES = 3;
const PAGE_SIZE = 100;

/** Kling's v1 task API (Kling docs: API overview, video generation, elements). */
export const klingProtocol: GenerationProtocol = {
  name: 'kling',
  // Kling does not document what happens if two submissions have the same `external_task_id`. So
  // Weir uses it only to find a task.
  idempotent: false,

  async submit(call) {
    const input = videoOf(call);
    const elements = await makeElements(call, input.kling_elements ?? []);
    if ('type' in elements) return elements;
    const path = pathOf(input);
    const body = { ...bodyFor(call, input, elements.ids), external_task_id: call.idempotency_key };
    const answer = await submitJob(call, { path, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const refused = refusalIn(call, answer);
    if (refused) return refused;
    const id = asText(asObject(answer.body['data'])['task_id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id, path } };
  },

  async poll(call, { id, path = '' }) {
    const at = `${path}/${encodeURIComponent(id)}`;
    const answer = await queryJob(call, { path: at, headers: keyOf(call) }, [200, 404]);
    if (answer.status === 404) return { type: 'missing', message: 'no such task' };
    const code = asNumber(answer.body['code']) ?? 0;
    if (code !== 0) throw refusalOfQuery(call, answer, statusOf(code));
    return progressOf(asObject(answer.body['data']));
  },

  async find(call) {
    const path = pathOf(videoOf(call));
    for (let page = 1; page <= SEARCHED_PAGES; page += 1) {
      const at = `${path}?pageNum=${page}&pageSize=${PAGE_SIZE}`;
      const { body } = await queryJob(call, { path: at, headers: keyOf(call) });
      const tasks = asList(body['data']).map(asObject);
      const own = tasks.find(
        (task) => asObject(task['task_info'])['external_task_id'] === call.idempotency_key,
      );
      const id = asText(own?.['task_id']);
      if (id) return { id, path };
      if (tasks.length < PAGE_SIZE) return undefined;
    }
    return undefined;
  },
};

/**
 * Returns the authorization header. If the channel's key is a pair `access:secret`, the header has
 * a JWT that is signed with the secret (HS256). Any other key is itself the token.
 */
function keyOf({ target }: JobCall): Record<string, string> {
  const [access, secret] = target.api_key.split(':');
  if (!secret) return { authorization: `Bearer ${target.api_key}` };
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = part({ alg: 'HS256', typ: 'JWT' });
  const claims = part({ iss: access, exp: now + TOKEN_LIFE_S, nbf: now - CLOCK_SKEW_S });
  const signature = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url');
  return { authorization: `Bearer ${head}.${claims}.${signature}` };
}

/**
 * Returns undefined if Kling accepted the request (`code` 0). Returns `Failed` if it refused the
 * content, and throws for every other refusal. Throws LostSubmissionError if the response has no
 * code.
 */
function refusalIn(call: GenerationCall, answer: ProviderAnswer) {
  const code = Number(answer.body['code']);
  if (code === 0) return undefined;
  if (!Number.isFinite(code)) throw new LostSubmissionError('the response has no code');
  const refusal = classifyRefusalInBody(call, statusOf(code), messageIn(answer));
  if ('type' in refusal) return refusal;
  throw refusal;
}

/** Returns the HTTP status with the same meaning as Kling's `code`. */
function statusOf(code: number): number {
  if (code >= 1_000 && code < 1_005) return 401;
  if (code === 1_101 || code === 1_102 || code === 1_103) return 402;
  if (code >= 1_302 && code <= 1_304) return 429;
  return code >= 5_000 ? 503 : 400;
}

function progressOf(data: JsonObject): Progress {
  switch (asText(data['task_status'])) {
    case 'submitted':
      return { type: 'running', status: 'queued' };
    case 'processing':
      return { type: 'running', status: 'processing' };
    // v1 writes `succeed`, and 3.x writes `succeeded`.
    case 'succeed':
    case 'succeeded':
      return produced(data);
    case 'failed':
      return failed(asText(data['task_status_msg']) ?? 'failed');
    default:
      return { type: 'unknown', message: `status ${String(data['task_status'])}` };
  }
}

function produced(data: JsonObject): Progress {
  const videos = asList(asObject(data['task_result'])['videos']).map(asObject);
  const outputs = videos.flatMap(({ id, url, duration }): UpstreamOutput[] => {
    const address = asText(url);
    if (!address) return [];
    const more = withoutUndefined({ duration: readSeconds(duration), continuation_id: asText(id) });
    return [{ kind: 'video', url: address, ...more }];
  });
  if (outputs.length === 0) return failed('succeeded without a video', 'upstream');
  const seconds = outputs.reduce((sum, { duration }) => sum + Number(duration ?? 0), 0);
  return { type: 'produced', outputs, usage: seconds > 0 ? { seconds } : {} };
}

function videoOf({ input }: GenerationCall): VideoInput {
  if (input.scene !== 'video')
    throw new RetryableUpstreamError('server', 'this protocol makes only videos');
  return input;
}

function pathOf({ operation }: VideoInput): string {
  switch (operation) {
    case 'image-to-video':
    case 'start-end-to-video':
      return '/v1/videos/image2video';
    case 'reference-to-video':
      return '/v1/videos/multi-image2video';
    case 'motion-control':
      return '/v1/videos/motion-control';
    case 'video-extension':
      return '/v1/videos/video-extend';
    case 'text-to-video':
      return '/v1/videos/text2video';
    default:
      throw new RetryableUpstreamError('server', `${operation} is not offered`);
  }
}

const MAX_CFG_SCALE = 20;
const withoutDataPrefix = (media?: string) => media?.replace(/^data:[^,]*,/, '');

function bodyFor(
  call: GenerationCall,
  input: VideoInput,
  element_ids: readonly string[],
): JsonObject {
  const { operation, resolution, cfg_scale, output_audio, kling_elements = [] } = input;
  const prompt = nameElements(input.prompt, kling_elements, (at) => `<<<element_${at}>>>`);
  const common = {
    model_name: call.physical_model,
    prompt,
    mode: resolution === '1080p' ? 'pro' : 'std',
    watermark_info: input.watermark === undefined ? undefined : { enabled: input.watermark },
    element_list: element_ids.length
      ? // An int64 (docs.comfy.org, models/kling/kling-v3-omni: `element_list`).
        element_ids.map((element_id) => ({ element_id: asInteger(element_id) }))
      : undefined,
  };
  if (operation === 'motion-control') {
    const { image: image_url, video_url } = input;
    return withoutUndefined({ ...common, image_url, video_url, character_orientation: 'video' });
  }
  const { negative_prompt } = input;
  // `cfg_scale` is 0–20 for Weir's clients and 0–1 for Kling.
  const scale = cfg_scale === undefined ? undefined : cfg_scale / MAX_CFG_SCALE;
  if (operation === 'video-extension') {
    // The extended video decides the model, the mode and the sound.
    const video_id = input.continued_job;
    return withoutUndefined({ video_id, prompt, negative_prompt, cfg_scale: scale });
  }
  const first = input.start_image ?? input.image;
  return withoutUndefined({
    ...common,
    ...{ negative_prompt, cfg_scale: scale },
    sound: output_audio === undefined ? undefined : output_audio ? 'on' : 'off',
    duration: input.duration === undefined ? undefined : String(input.duration),
    ...(operation === 'text-to-video' || operation === 'reference-to-video'
      ? { aspect_ratio: input.aspect_ratio }
      : {}),
    ...(operation === 'reference-to-video'
      ? {
          image_list: input.reference_images?.map((image) => ({ image: withoutDataPrefix(image) })),
        }
      : { image: withoutDataPrefix(first), image_tail: withoutDataPrefix(input.end_image) }),
  });
}

/**
 * Creates the elements, the named subjects of the prompt, and returns their ids, or `Failed` if
 * Kling refused one. Each element needs its own task at Kling. The first image of an element is the
 * frontal one.
 */
async function makeElements(call: GenerationCall, elements: readonly KlingElement[]) {
  const ids: string[] = [];
  for (const element of elements) {
    const [frontal_image, ...others] = element.element_input_urls;
    const body = {
      element_name: element.name.slice(0, MAX_ELEMENT_NAME),
      element_description: (element.description ?? element.name).slice(0, MAX_ELEMENT_DESCRIPTION),
      reference_type: 'image_refer',
      element_image_list: {
        frontal_image,
        refer_images: others.map((image_url) => ({ image_url })),
      },
    };
    const answer = await submitJob(call, { path: ELEMENTS, headers: keyOf(call), body });
    const refused = 'type' in answer ? answer : refusalIn(call, answer);
    if (refused) return refused;
    const task = asText(asObject((answer as ProviderAnswer).body['data'])['task_id']) ?? '';
    ids.push(await elementId(call, task));
  }
  return { ids };
}

async function elementId(call: GenerationCall, task: string): Promise<string> {
  const path = `${ELEMENTS}/${encodeURIComponent(task)}`;
  for (let poll = 0; poll < ELEMENT_POLLS; poll += 1) {
    const { body } = await queryJob(call, { path, headers: keyOf(call) });
    const data = asObject(body['data']);
    const [element] = asList(asObject(data['task_result'])['elements']).map(asObject);
    const id = asText(element?.['element_id']) ?? asNumber(element?.['element_id'])?.toString();
    if (id) return id;
    if (data['task_status'] === 'failed') {
      throw new RetryableUpstreamError('server', 'creating one of the kling_elements failed');
    }
    await Bun.sleep(ELEMENT_POLL_MS);
  }
  const message = `one of the kling_elements was not created within ${ELEMENT_POLLS} polls`;
  throw new RetryableUpstreamError('server', message);
}
