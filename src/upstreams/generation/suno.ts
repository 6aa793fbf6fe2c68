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
  refusalOfQuery,
  submitJob,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });
/** Values of `code` in a relay's response that mean: the submission is accepted. */
const ACCEPTED_CODES = ['success', '1', '200'];
const isAccepted = (code: unknown) => ACCEPTED_CODES.includes(String(code).toLowerCase());

/**
 * The code or the message for a job that does not exist, with status 400 (QuantumNous/new-api; Suno-API:
 * `FetchByID` in api.go).
 */
const NOT_FOUND = /^task[ _]not[ _]exist$/i;

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
    if (!isAccepted(code)) {
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
    if (status === 404 || [body['code'], body['message']].some((word) => isNotFound(word))) {
      return { type: 'missing', message: 'no such job' };
    }
    const isRefused = body['code'] !== undefined && !isAccepted(body['code']);
    if (status === 400 || isRefused) throw refusalOfQuery(call, answer, 400);
    return progressOf(id, taskOf(body['data']));
  },
};

const isNotFound = (word: unknown) => NOT_FOUND.test(asText(word) ?? '');

/**
 * Returns the task in the answer to a poll. Relays of the kind new-api send the task. Suno-API itself sends
 * only the task's data: the list of clips, or the lyrics (`FetchByID` in api.go).
 */
function taskOf(data: unknown): JsonObject {
  if (!Array.isArray(data)) {
    const task = asObject(data);
    return asText(task['text']) === undefined ? task : { status: task['status'], data };
  }
  const states = asList(data).map((clip) => stateOf(asObject(clip)['status']));
  const [running] = states.filter((state) => state !== 'SUCCESS' && state !== 'FAILURE');
  // If one clip failed and another one is complete, the task has a result.
  const ended = states.includes('SUCCESS') ? 'SUCCESS' : 'FAILURE';
  return { status: running ?? (states.length > 0 ? ended : 'NOT_START'), data };
}

/** Words of relays for the states of a task and of a clip, and the word of new-api for the same state. */
const STATES: Readonly<Record<string, string>> = {
  PENDING: 'QUEUED',
  STREAMING: 'IN_PROGRESS',
  PROCESSING: 'IN_PROGRESS',
  RUNNING: 'IN_PROGRESS',
  COMPLETE: 'SUCCESS',
  COMPLETED: 'SUCCESS',
  SUCCEEDED: 'SUCCESS',
  ERROR: 'FAILURE',
  FAILED: 'FAILURE',
};

function stateOf(status: unknown): string {
  const word = String(status).toUpperCase();
  return STATES[word] ?? word;
}

function progressOf(id: string, task: JsonObject): Progress {
  switch (stateOf(task['status'])) {
    case 'NOT_START':
    case 'SUBMITTED':
    case 'QUEUED':
      return { type: 'running', status: 'queued' };
    case 'IN_PROGRESS':
      return { type: 'running', status: 'processing', ...progressIn(task['progress']) };
    case 'FAILURE':
      return failed(asText(task['fail_reason']) ?? clipError(task['data']) ?? 'failed');
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
  return failed(clipError(data) ?? 'finished without a song');
}

/** Returns the error of the first clip that has one. */
function clipError(data: unknown): string | undefined {
  const clips = asList(data).map(asObject);
  const words = clips.map((clip) => asText(asObject(clip['metadata'])['error_message']));
  return words.find((each) => each !== undefined);
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
      duration: readSeconds(asObject(clip['metadata'])['duration'] ?? clip['duration']),
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
