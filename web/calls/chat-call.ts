import { unreachable } from '../api/error.ts';
import { readEvents } from './event-reader.ts';
import { errorIn, isObject, type KeyCall, requestIdOf, sendWithKey } from './key-call.ts';

/** The path of chat calls. */
export const CHAT_PATH = '/v1/chat/completions';

/** What a chat call tells while it runs. */
export interface ChatListener {
  /** Called once, before the first text. */
  readonly onBegin: (request_id: string | undefined) => void;
  readonly onText: (text: string) => void;
}

/**
 * Streams a chat call and resolves when its answer is complete. Throws ApiError if the call was refused or
 * its stream broke, or the signal's reason.
 */
export async function streamChat(
  call: Pick<KeyCall, 'body' | 'key_id' | 'signal'>,
  { onBegin, onText }: ChatListener,
): Promise<void> {
  const answer = await sendWithKey({ ...call, path: CHAT_PATH });
  const request_id = requestIdOf(answer);
  onBegin(request_id);
  if (!answer.body) return;
  let isComplete = false;
  try {
    for await (const { data } of readEvents(answer.body)) {
      if (data === '[DONE]') {
        isComplete = true;
        continue;
      }
      const chunk = parsed(data);
      const error = errorIn(chunk, request_id);
      if (error) throw error;
      const text = textOf(chunk);
      if (text !== '') onText(text);
    }
  } catch (error) {
    throw call.signal.aborted || !(error instanceof TypeError) ? error : unreachable(error);
  }
  if (!isComplete && !call.signal.aborted) throw unreachable(new Error('the stream ended early'));
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

/** The text of a chunk (OpenAI API reference: chat completion chunk object). */
function textOf(chunk: unknown): string {
  const choices = isObject(chunk) ? chunk['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const delta = isObject(choice) ? choice['delta'] : undefined;
  if (!isObject(delta)) return '';
  const { content, refusal } = delta;
  return typeof content === 'string' ? content : typeof refusal === 'string' ? refusal : '';
}
