/**
 * One call of each kind through the official packages of OpenAI, Anthropic and Google. Each call is
 * known by the request id that its package shows, and by what its record must say.
 */
import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { failureOf } from './failure-of.ts';
import { until } from './until.ts';

/** What a record must say: the members of the answer, the stages in order, and failed attempts. */
export interface RecordedCall {
  /** The client's `user` or `metadata.user_id`; the simulator's books have it as reference. */
  name: string;
  request_id: string;
  record: Record<string, unknown>;
  stages: string[];
  /** The result of each attempt. */
  results?: (string | null)[];
}

export interface Keys {
  rich: string;
  /** Its cap is used up. */
  poor: string;
  /** It may call no model of these calls. */
  narrow: string;
}

const HEAD = ['arrived', 'authenticated'];
const CALLED = [...HEAD, 'reserved', 'attempt_1'];
const PAID = ['ended', 'settled'];
const SERVED = { outcome: 'completed', status: 200, fault: null, error_code: null };

/** The kinds of calls that every package makes, with what their records say. */
const KINDS = {
  plain: { record: { ...SERVED, stream: false }, stages: [...CALLED, ...PAID] },
  streamed: { record: { ...SERVED, stream: true }, stages: [...CALLED, 'first_token', ...PAID] },
  aborted: {
    record: { outcome: 'partial', fault: 'caller', error_code: 'client_left', stream: true },
    stages: [...CALLED, 'first_token', ...PAID],
  },
  wrong: {
    record: { outcome: 'refused', status: 400, fault: 'caller', amount: 0, attempts: 0 },
    stages: [...HEAD, 'ended'],
  },
  capped: {
    record: { outcome: 'refused', status: 402, fault: 'cap', error_code: 'quota_exceeded' },
    stages: [...HEAD, 'ended'],
  },
  forbidden: {
    record: { outcome: 'refused', status: 403, fault: 'caller', error_code: 'model_not_allowed' },
    stages: [...HEAD, 'ended'],
  },
  unknown: {
    record: { outcome: 'refused', status: 400, fault: 'caller', error_code: 'model_not_found' },
    stages: [...HEAD, 'ended'],
  },
  moved: {
    record: { ...SERVED, attempts: 2 },
    stages: [...CALLED, 'attempt_2', ...PAID],
    results: ['server', null],
  },
  failed: {
    record: { outcome: 'failed', status: 503, fault: 'provider', attempts: 2, amount: 0 },
    stages: [...CALLED, 'attempt_2', 'ended'],
    results: ['server', 'server'],
  },
};
type Kind = keyof typeof KINDS;

/** Makes a call of one kind, and returns its request id. */
type Make = (name: string) => Promise<string>;

const say = (directives = '') => `Say hello. [[sim tokens=12]] ${directives}`;
const SLOW = '[[sim tokens=400 chunk_ms=20]]';
const firstFails = (channel: string) => `[[sim status=500 channel=${channel}]]`;
/** No provider has this model. */
const UNKNOWN = 'no-such-model';
const BOTH_FAIL = '[[sim status=500]]';
/** So many pieces are read before the client leaves. */
const READ_PIECES = 5;

async function makeAll(client: string, makes: Record<Kind, Make>): Promise<RecordedCall[]> {
  const calls: RecordedCall[] = [];
  for (const [kind, make] of Object.entries(makes)) {
    const name = `${client} ${kind}`;
    const request_id = await make(name).catch((cause: unknown) => {
      throw new Error(name, { cause });
    });
    calls.push({ name, request_id, ...KINDS[kind as Kind] });
  }
  return calls;
}

/** Returns the request id of a package's error. */
async function refusedId(call: PromiseLike<unknown>): Promise<string> {
  const error = (await failureOf(call)) as { requestID?: string | null };
  if (!error.requestID) throw error;
  return error.requestID;
}

/** Reads a stream; leaves after some pieces if `leaves`. */
async function read(stream: AsyncIterable<unknown>, leave?: () => void): Promise<void> {
  let pieces = 0;
  try {
    for await (const _ of stream) {
      pieces += 1;
      if (leave && pieces === READ_PIECES) leave();
    }
  } catch (error) {
    if (!leave || pieces < READ_PIECES) throw error;
  }
}

export function openaiCalls(base_url: string, keys: Keys): Promise<RecordedCall[]> {
  const clientOf = (apiKey: string) =>
    new OpenAI({ baseURL: `${base_url}/v1`, apiKey, maxRetries: 0 });
  const client = clientOf(keys.rich);
  const body = (user: string, content = say()) => ({
    ...{ model: 'gpt-4o', user },
    messages: [{ role: 'user' as const, content }],
  });
  const chat = (name: string, content?: string, key = keys.rich, more: object = {}) =>
    clientOf(key).chat.completions.create({ ...body(name, content), ...more });
  const whole = async (name: string, content?: string) =>
    (await chat(name, content))._request_id ?? '';
  const stream = async (name: string, content?: string, leaves = false) => {
    const { data, request_id } = await client.chat.completions
      .create({ ...body(name, content), stream: true })
      .withResponse();
    await read(data, leaves ? () => data.controller.abort() : undefined);
    return request_id ?? '';
  };
  return makeAll('openai', {
    plain: whole,
    streamed: stream,
    aborted: (name) => stream(name, SLOW, true),
    wrong: (name) => refusedId(chat(name, say(), keys.rich, { temperature: 9 })),
    capped: (name) => refusedId(chat(name, say(), keys.poor)),
    forbidden: (name) => refusedId(chat(name, say(), keys.narrow)),
    unknown: (name) => refusedId(chat(name, say(), keys.rich, { model: UNKNOWN })),
    moved: (name) => whole(name, say(firstFails('openai-main'))),
    failed: (name) => refusedId(chat(name, say(BOTH_FAIL))),
  });
}

export function anthropicCalls(base_url: string, keys: Keys): Promise<RecordedCall[]> {
  const clientOf = (apiKey: string) => new Anthropic({ baseURL: base_url, apiKey, maxRetries: 0 });
  const client = clientOf(keys.rich);
  const body = (user_id: string, content = say()) => ({
    ...{ model: 'claude-haiku-4-5', max_tokens: 500, metadata: { user_id } },
    messages: [{ role: 'user' as const, content }],
  });
  const send = (name: string, content?: string, key = keys.rich, more: object = {}) =>
    clientOf(key).messages.create({ ...body(name, content), ...more });
  const whole = async (name: string, content?: string) =>
    (await send(name, content))._request_id ?? '';
  const stream = async (name: string, content?: string, leaves = false) => {
    const { data, request_id } = await client.messages
      .create({ ...body(name, content), stream: true })
      .withResponse();
    await read(data, leaves ? () => data.controller.abort() : undefined);
    return request_id ?? '';
  };
  return makeAll('anthropic', {
    plain: whole,
    streamed: stream,
    aborted: (name) => stream(name, SLOW, true),
    wrong: (name) => refusedId(send(name, say(), keys.rich, { temperature: 9 })),
    capped: (name) => refusedId(send(name, say(), keys.poor)),
    forbidden: (name) => refusedId(send(name, say(), keys.narrow)),
    unknown: (name) => refusedId(send(name, say(), keys.rich, { model: UNKNOWN })),
    moved: (name) => whole(name, say(firstFails('anthropic-main'))),
    failed: (name) => refusedId(send(name, say(BOTH_FAIL))),
  });
}

const MODEL = 'gemini-2.5-flash';
const idIn = (answer: { sdkHttpResponse?: { headers?: Record<string, string> } }) =>
  answer.sdkHttpResponse?.headers?.['x-request-id'] ?? '';

export function googleCalls(base_url: string, keys: Keys): Promise<RecordedCall[]> {
  const clientOf = (apiKey: string) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base_url } }).models;
  const client = clientOf(keys.rich);
  const whole = async (_: string, contents = say()) =>
    idIn(await client.generateContent({ model: MODEL, contents }));
  /** The package's error has the body, but no headers. The body names the request. */
  const refused = async (contents: string, key = keys.rich, config: object = {}, model = MODEL) => {
    const error = await failureOf(clientOf(key).generateContent({ model, contents, config }));
    const id = error instanceof ApiError ? /req_[0-9a-f]{32}/.exec(error.message)?.[0] : undefined;
    if (id === undefined) throw error;
    return id;
  };
  const stream = async (_: string, contents = say(), leaves = false) => {
    const leaving = new AbortController();
    let id = '';
    const pieces = await client.generateContentStream({
      ...{ model: MODEL, contents, config: { abortSignal: leaving.signal } },
    });
    const noting = (async function* () {
      for await (const piece of pieces) {
        id = idIn(piece);
        yield piece;
      }
    })();
    await read(noting, leaves ? () => leaving.abort() : undefined);
    return id;
  };
  return makeAll('google', {
    plain: whole,
    streamed: stream,
    aborted: (name) => stream(name, SLOW, true),
    wrong: () => refused(say(), keys.rich, { responseModalities: ['AUDIO'] }),
    capped: () => refused(say(), keys.poor),
    forbidden: () => refused(say(), keys.narrow),
    unknown: () => refused(say(), keys.rich, {}, UNKNOWN),
    moved: (name) => whole(name, say(firstFails('gemini-main'))),
    failed: () => refused(say(BOTH_FAIL)),
  });
}

/** Embeddings, tasks and a batch of three. */
export async function otherCalls(base_url: string, { rich }: Keys): Promise<RecordedCall[]> {
  const openai = new OpenAI({ baseURL: `${base_url}/v1`, apiKey: rich, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: base_url, apiKey: rich, maxRetries: 0 });
  const paid = { record: { ...SERVED, scene: 'embedding' }, stages: [...CALLED, ...PAID] };
  const embedding = { model: 'text-embedding-3-small', input: 'One', user: 'openai embedding' };
  const { request_id } = await openai.embeddings.create(embedding).withResponse();
  const calls: RecordedCall[] = [
    { name: 'openai embedding', request_id: request_id ?? '', ...paid },
  ];
  const task = async (name: string, directives: string, status: string, record: object) => {
    const body = { model: 'midjourney', prompt: `A lighthouse [[sim ${directives}]]` };
    const { data, response } = await openai
      .post<{ id: string }>('/images/generations', { body })
      .withResponse();
    await until(`the ${name} has ended`, async () => {
      const now = await openai.get<{ status: string }>(`/images/generations/${data.id}`);
      return now.status === status;
    });
    calls.push({
      name,
      request_id: response.headers.get('x-request-id') ?? '',
      record: { scene: 'image', task_id: data.id, ...record },
      stages: [...CALLED, 'ended', ...(status === 'completed' ? ['settled'] : [])],
    });
  };
  await task('task', 'task_ms=10', 'completed', { outcome: 'completed' });
  await task('failed task', 'task_ms=10 fail=moderation', 'failed', {
    ...{ amount: 0, outcome: 'refused', status: 400, fault: 'caller' },
    error_code: 'content_policy_violation',
  });

  const creation = anthropic.messages.batches.create({
    requests: ['a', 'b', 'c'].map((custom_id) => ({
      custom_id,
      params: {
        ...{
          model: 'claude-haiku-4-5',
          max_tokens: 50,
          metadata: { user_id: `item ${custom_id}` },
        },
        messages: [{ role: 'user', content: say() }],
      },
    })),
  });
  const { data, request_id: creation_id } = await creation.withResponse();
  const { id } = data;
  calls.push({
    ...{ name: 'batch', request_id: creation_id ?? '' },
    record: { outcome: 'accepted', status: 200, fault: null, amount: 0, message_batch_id: id },
    stages: [...HEAD, 'ended'],
  });
  await until('the batch has ended', async () => {
    const batch = await anthropic.messages.batches.retrieve(id);
    return batch.processing_status === 'ended';
  });
  for await (const { custom_id, result } of await anthropic.messages.batches.results(id)) {
    if (result.type !== 'succeeded') throw new Error(`${custom_id}: ${JSON.stringify(result)}`);
    calls.push({
      name: `item ${custom_id}`,
      // The id of an answer contains the id of its request.
      request_id: result.message.id.replace('msg_', 'req_'),
      record: { ...SERVED, message_batch_id: id },
      stages: [...CALLED, ...PAID],
    });
  }
  return calls;
}
