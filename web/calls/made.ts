import { ApiError } from '../api/error.ts';
import { readEvents } from './event-reader.ts';
import { errorIn, isObject, type KeyCall, requestIdOf, sendWithKey } from './key-call.ts';

/** The pause before the events of a task are opened again, ms. */
const RETRY_MS = 1_000;

/** A thing that a call made. */
export interface MadeOutput {
  /** The address of a stored file. */
  readonly url?: string | undefined;
  readonly text?: string | undefined;
  readonly title?: string | undefined;
  /** A file that came in the answer itself, and that only this page has. */
  readonly blob?: Blob | undefined;
}

/** What a call that makes something tells while it runs. */
export interface MakeListener {
  readonly onBegin: (begun: {
    request_id?: string | undefined;
    task_id?: string | undefined;
  }) => void;
  /** Percent; null if the provider reports none. */
  readonly onProgress: (progress: number | null) => void;
}

type Making = Pick<KeyCall, 'path' | 'body' | 'key_id' | 'signal'>;

/** Makes images, videos, music or speech, and returns them. Throws ApiError, or the signal's reason. */
export async function make(call: Making, listener: MakeListener): Promise<MadeOutput[]> {
  const answer = await sendWithKey(call);
  const request_id = requestIdOf(answer);
  const type = answer.headers.get('content-type') ?? '';
  if (!type.startsWith('application/json')) {
    listener.onBegin({ request_id });
    const blob = await answer.blob();
    // Only sound is played. Anything else could be a page of the provider.
    if (!type.startsWith('audio/')) {
      throw new ApiError(answer.status, 'unknown', `The answer is ${type || 'of no type'}.`);
    }
    return [{ blob }];
  }
  const record = (await answer.json()) as unknown;
  const task_id = runningTaskIn(record);
  listener.onBegin({ request_id, task_id });
  return outputsOf(
    task_id === undefined ? record : await followTask(task_id, call, listener),
    request_id,
  );
}

/** Returns the id of the task that an answer created, unless the task has ended. */
function runningTaskIn(record: unknown): string | undefined {
  if (!isObject(record)) return undefined;
  const { task_id, status } = record;
  const isRunning = status === 'pending' || status === 'processing';
  return isRunning && typeof task_id === 'string' ? task_id : undefined;
}

/** Follows a task until it ends, and returns its record. A stream that broke is resumed. */
async function followTask(
  task_id: string,
  { key_id, signal }: Making,
  { onProgress }: MakeListener,
): Promise<unknown> {
  const path = `/v1/tasks/${encodeURIComponent(task_id)}`;
  let last_id: string | undefined;
  for (;;) {
    try {
      const headers = last_id === undefined ? {} : { 'last-event-id': last_id };
      const call = { method: 'GET' as const, key_id, signal };
      const answer = await sendWithKey({ ...call, path: `${path}/events`, headers });
      // The task had ended, and all of its events were sent.
      if (answer.status === 204 || !answer.body) {
        return (await sendWithKey({ ...call, path })).json();
      }
      for await (const { event, data, id } of readEvents(answer.body)) {
        last_id = id ?? last_id;
        const record = JSON.parse(data) as unknown;
        if (event === 'completed' || event === 'failed') return record;
        const progress = isObject(record) ? record['progress'] : null;
        onProgress(typeof progress === 'number' ? progress : null);
      }
    } catch (error) {
      const mayPass = !(error instanceof ApiError) || error.status === 0 || error.status >= 500;
      if (signal.aborted || !mayPass) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    signal.throwIfAborted();
  }
}

/** The outputs of an answer or of a task's record. Throws ApiError if it failed. */
function outputsOf(record: unknown, request_id: string | undefined): MadeOutput[] {
  if (!isObject(record)) throw new ApiError(200, 'broken_answer', 'The answer is no JSON object.');
  if (record['status'] === 'failed') {
    // Only videos have an object as their error (spec: Async task record).
    const message = typeof record['error'] === 'string' ? record['error'] : undefined;
    throw (
      errorIn(record, request_id) ??
      new ApiError(200, 'failed', message ?? 'The generation failed.', { request_id })
    );
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const data = Array.isArray(record['data']) ? (record['data'] as unknown[]) : [];
  return data.filter(isObject).map(({ url, text: words, title }) => ({
    url: text(url),
    text: text(words),
    title: text(title),
  }));
}
