import type { MusicInput } from '../../catalogue/inputs.ts';
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
  askAbout,
  failed,
  given,
  type Json,
  listOf,
  messageIn,
  numberOf,
  objectOf,
  refusedInside,
  submitJob,
  textOf,
} from './exchange.ts';

const keyOf = ({ target }: JobCall) => ({ authorization: `Bearer ${target.api_key}` });
/** How relays say that a submission was taken. */
const TAKEN = ['success', '1', '200'];

/** Suno by the submit/fetch protocol of relays (Suno publishes no API of its own). */
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
    if (code === undefined) throw new LostSubmissionError('a submission without a code');
    if (!TAKEN.includes(String(code).toLowerCase())) {
      const refusal = refusedInside(call, 400, messageIn(answer));
      if ('type' in refusal) return refusal;
      throw refusal;
    }
    const id = textOf(data) ?? textOf(objectOf(data)['task_id']);
    if (!id) throw new LostSubmissionError('a submission without an id');
    return { type: 'accepted', job: { id } };
  },

  async poll(call, { id }) {
    const path = `/suno/fetch/${encodeURIComponent(id)}`;
    const { status, body } = await askAbout(call, { path, headers: keyOf(call) }, [200, 404]);
    const task = objectOf(body['data']);
    if (status === 404) return { type: 'unknown', message: 'no such job' };
    return progressOf(id, task);
  },
};

function progressOf(id: string, task: Json): Progress {
  switch (String(task['status']).toUpperCase()) {
    case 'NOT_START':
    case 'SUBMITTED':
    case 'QUEUED':
      return { type: 'running', status: 'queued' };
    case 'IN_PROGRESS':
      return { type: 'running', status: 'processing' };
    case 'FAILURE':
      return failed(textOf(task['fail_reason']) ?? 'failed');
    case 'SUCCESS':
      return produced(id, task['data']);
    default:
      return { type: 'unknown', message: `status ${String(task['status'])}` };
  }
}

function produced(id: string, data: unknown): Progress {
  const lyrics = objectOf(data);
  const text = textOf(lyrics['text']);
  if (text !== undefined) {
    const output = { kind: 'text', text, ...given({ title: textOf(lyrics['title']) }) } as const;
    return { type: 'produced', outputs: [output], usage: { songs: 1 } };
  }
  const clips = listOf(data).map(objectOf);
  // While it streams, a clip's address is a live stream and no file yet.
  if (clips.some((clip) => textOf(clip['status']) === 'streaming')) {
    return { type: 'running', status: 'processing' };
  }
  const outputs = clips.flatMap((clip) => songOf(id, clip) ?? []);
  if (outputs.length > 0) return { type: 'produced', outputs, usage: { songs: outputs.length } };
  const [first] = clips.map((clip) => textOf(objectOf(clip['metadata'])['error_message']));
  return failed(first ?? 'finished without a song');
}

function songOf(task_id: string, clip: Json): UpstreamOutput | undefined {
  const url = textOf(clip['audio_url']);
  const clip_id = textOf(clip['id']);
  if (!url || textOf(clip['status']) === 'error') return undefined;
  return {
    kind: 'audio',
    url,
    // A continuation needs the task that made the clip as well.
    ...(clip_id ? { continuation_id: `${task_id}/${clip_id}` } : {}),
    ...given({
      title: textOf(clip['title']),
      duration: numberOf(objectOf(clip['metadata'])['duration']),
    }),
  };
}

function musicOf({ input }: GenerationCall): MusicInput {
  if (input.scene !== 'music')
    throw new RetryableUpstreamError('server', 'only music is made here');
  return input;
}

/** With a title or tags the prompt is the lyrics; without, it says what the song is like. */
function songBody({ physical_model }: GenerationCall, input: MusicInput): Json {
  const { prompt, title, tags, continue_clip_id, continue_at } = input;
  const isCustom = title !== undefined || tags !== undefined;
  const [task_id, clip_id] = continue_clip_id?.split('/') ?? [];
  return given({
    ...(isCustom ? { prompt } : { gpt_description_prompt: prompt }),
    mv: input.mv ?? physical_model,
    title,
    tags,
    ...(clip_id ? { continue_clip_id: clip_id, task_id, continue_at } : {}),
  });
}
