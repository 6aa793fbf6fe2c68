import type { MusicInput } from '../../catalogue/inputs.ts';
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
import {
  asList,
  asObject,
  asText,
  classifyRefusalInBody,
  failed,
  type JsonObject,
  messageIn,
  progressIn,
  queryJob,
  submitJob,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });
/** Values of `code` in a relay's response that mean: the submission is accepted. */
const ACCEPTED_CODES = ['success', '1', '200'];

/** The value of `code` for a job that does not exist. Some relays send it with status 400. */
const NOT_FOUND_CODE = 'task_not_exist';

/**
 * The protocol of relays. A relay is a third party's server that makes songs with Suno. Suno itself
 * publishes no API.
 */
export const sunoProtocol: GenerationProtocol = {
  name: 'suno',
  idempotent: false,

  async submit(call) {
    const input = musicOf(call);
    const path = input.action === 'LYRICS' ? '/suno/submit/lyrics' : '/suno/submit/music';
    const body = input.action === 'LYRICS' ? { prompt: input.prompt } : songBody(call, input);
    const answer = await submitJob(call, { path, headers: keyOf(call), body });
    if ('type' in answer) return answer;
    const { code, data } = answer.body;
    if (code === undefined) throw new LostSubmissionError('the response has no code');
    if (!ACCEPTED_CODES.includes(String(code).toLowerCase())) {
      const refusal = classifyRefusalInBody(call, 400, messageIn(answer));
      if ('type' in refusal) return refusal;
      throw refusal;
    }
    const id = asText(data) ?? asText(asObject(data)['task_id']);
    if (!id) throw new LostSubmissionError('the response has no job id');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const path = `/suno/fetch/${encodeURIComponent(id)}`;
    const readable = [200, 400, 404];
    const answer = await queryJob(call, { path, headers: keyOf(call) }, readable);
    const { status, body } = answer;
    if (status === 404 || body['code'] === NOT_FOUND_CODE) {
      return { type: 'missing', message: 'no such job' };
    }
    if (status === 400) return { type: 'unknown', message: messageIn(answer) };
    return progressOf(id, asObject(body['data']));
  },
};

function progressOf(id: string, task: JsonObject): Progress {
  switch (String(task['status']).toUpperCase()) {
    case 'NOT_START':
    case 'SUBMITTED':
    case 'QUEUED':
      return { type: 'running', status: 'queued' };
    case 'IN_PROGRESS':
      return { type: 'running', status: 'processing', ...progressIn(task['progress']) };
    case 'FAILURE':
      return failed(asText(task['fail_reason']) ?? 'failed');
    case 'SUCCESS':
      return produced(id, task['data']);
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}

function produced(id: string, data: unknown): Progress {
  const lyrics = asObject(data);
  const text = asText(lyrics['text']);
  if (text !== undefined) {
    const output = {
      kind: 'text',
      text,
      ...withoutUndefined({ title: asText(lyrics['title']) }),
    } as const;
    return { type: 'produced', outputs: [output], usage: { songs: 1 } };
  }
  const clips = asList(data).map(asObject);
  // While a clip has the status `streaming`, its URL is a live stream and not a file.
  if (clips.some((clip) => asText(clip['status']) === 'streaming')) {
    return { type: 'running', status: 'processing' };
  }
  const outputs = clips.flatMap((clip) => songOf(id, clip) ?? []);
  if (outputs.length > 0) return { type: 'produced', outputs, usage: { songs: outputs.length } };
  const [first] = clips.map((clip) => asText(asObject(clip['metadata'])['error_message']));
  return failed(first ?? 'finished without a song');
}

function songOf(task_id: string, clip: JsonObject): UpstreamOutput | undefined {
  const url = asText(clip['audio_url']);
  const clip_id = asText(clip['id']);
  if (!url || asText(clip['status']) === 'error') return undefined;
  return {
    kind: 'audio',
    url,
    // A request to continue a clip needs the clip's id and the id of the task that made it.
    ...(clip_id ? { continuation_id: `${task_id}/${clip_id}` } : {}),
    ...withoutUndefined({
      title: asText(clip['title']),
      duration: readSeconds(asObject(clip['metadata'])['duration']),
    }),
  };
}

function musicOf({ input }: GenerationCall): MusicInput {
  if (input.scene !== 'music')
    throw new RetryableUpstreamError('server', 'this protocol makes only music');
  return input;
}

/**
 * Returns the body for a song. If the client sent a title or tags, its prompt is the lyrics.
 * Otherwise the prompt describes the song.
 */
function songBody({ physical_model }: GenerationCall, input: MusicInput): JsonObject {
  const { prompt, title, tags, continue_clip_id, continue_at } = input;
  const isCustom = title !== undefined || tags !== undefined;
  const [task_id, clip_id] = continue_clip_id?.split('/') ?? [];
  return withoutUndefined({
    ...(isCustom ? { prompt } : { gpt_description_prompt: prompt }),
    mv: input.mv ?? physical_model,
    title,
    tags,
    ...(clip_id ? { continue_clip_id: clip_id, task_id, continue_at } : {}),
  });
}
