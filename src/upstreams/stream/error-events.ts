/**
 * The events with which a broken stream ends, in each protocol. They have the same members as the
 * error of a whole response. They also have the request id, because the code that reads the events
 * often does not see the headers.
 */
import { errorBody } from '../../errors/render.ts';
import type { WeirError } from '../../errors/weir-error.ts';

/**
 * Returns the last events of a broken stream of chat completions. OpenAI's packages throw for a
 * chunk with the member `error`.
 */
export function chatErrorEvents(error: WeirError, request_id: string): string {
  const chunk = { error: { ...openaiError(error), request_id } };
  return `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
}

/** Returns the last event of a broken stream of messages (Anthropic docs: Streaming, error events). */
export function messagesErrorEvent(error: WeirError, request_id: string): string {
  return `event: error\ndata: ${JSON.stringify(errorBody(error, 'native', request_id))}\n\n`;
}

/** Returns the last event of a broken stream of a Gemini client. */
export function geminiErrorEvent(error: WeirError, request_id: string): string {
  return `data: ${JSON.stringify(errorBody(error, 'gemini', request_id))}\n\n`;
}

/**
 * Returns the last events of a broken stream of responses: `error`, then `response.failed`, as
 * OpenAI sends them. OpenAI documents `code`, `message` and `param` as top-level members of the
 * event `error`. But its packages throw only if the event has a member `error`. So the event has
 * both. `sequence_number` is the number of the first event. `response` is the response so far.
 */
export function responsesErrorEvents(
  error: WeirError,
  request_id: string,
  sequence_number: number,
  response: object,
): string {
  const { code, message, param, ...others } = openaiError(error);
  const failed = {
    ...response,
    status: 'failed',
    error: { code: failureCode(error.entry.status), message },
  };
  return (
    event('error', {
      ...{ sequence_number, code, message, param },
      error: { code, message, param, ...others, request_id },
    }) + event('response.failed', { sequence_number: sequence_number + 1, response: failed })
  );
}

function openaiError(error: WeirError): Record<string, unknown> {
  return errorBody(error, 'openai', '').error as Record<string, unknown>;
}

/**
 * Returns the code of a failed response. OpenAI's type of a response allows only some codes, and
 * typed clients refuse others. The event `error` has the exact code.
 */
function failureCode(status: number): string {
  if (status === 429) return 'rate_limit_exceeded';
  return status < 500 ? 'invalid_prompt' : 'server_error';
}

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
