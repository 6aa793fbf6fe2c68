import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { ChatProtocol } from '../../protocols/names.ts';
import { openaiUsage, writeOpenaiUsage } from '../../protocols/openai-usage.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { wholeUsage } from '../pass-through/reported-usage.ts';
import {
  commonEdits,
  loweredLimit,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { producedText } from './openai-answer.ts';
import { ChatStream } from './openai-stream.ts';

/** OpenAI chat completions (OpenAI docs: Chat Completions; Streaming). */
export const openaiProtocol = chatProtocol('openai', (key) => ({ authorization: `Bearer ${key}` }));

/**
 * OpenAI chat completions on Azure. The channel's `base_url` ends in `/openai/v1` (Azure OpenAI
 * docs: v1 API).
 */
export const azureOpenaiProtocol = chatProtocol('azure-openai', (key) => ({ 'api-key': key }));

type Credentials = (api_key: string) => Record<string, string>;

function chatProtocol(name: ChatProtocol, credentials: Credentials): UpstreamProtocol {
  return {
    name,

    complete: (call) => requestAnswer(call, requestOf(call, credentials), answerOf),

    stream: (call) => requestStream(call, requestOf(call, credentials), new ChatStream(call)),
  };
}

function answerOf(
  text: string,
  answer: Record<string, unknown>,
  call: UpstreamCall,
): UpstreamAnswer {
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0) {
    throw new RetryableUpstreamError('malformed', 'an answer without choices');
  }
  const body_text = publishAnswer(text, answer, call);
  const { usage, withUsage, has_impossible_usage } = wholeUsage(
    openaiUsage(answer['usage']),
    call,
    (counted) => editMembers(body_text, { usage: JSON.stringify(writeOpenaiUsage(counted)) }),
  );
  return {
    body_text,
    usage,
    withUsage,
    has_impossible_usage,
    produced: () => producedText(choices, 'message'),
  };
}

function requestOf(call: UpstreamCall, credentials: Credentials): UpstreamRequest {
  const { body } = call;
  const edits: Record<string, Edit> = commonEdits(call);
  if (body['stream'] === true) {
    // Weir needs the usage for the charge, even if the client did not request it.
    edits['stream_options'] = isObject(body['stream_options'])
      ? (options) => editMembers(options, { include_usage: 'true' })
      : '{"include_usage":true}';
  }
  limitOutput(call, edits);
  return {
    path: '/chat/completions',
    headers: credentials(call.target.api_key),
    edits,
  };
}

/** Members that limit the output in other protocols. */
const FOREIGN_LIMITS = ['max_output_tokens', 'generationConfig', 'generation_config'];

/**
 * Adds edits that limit the output. The limit is named `max_tokens` or `max_completion_tokens`, and
 * a server may obey only one of the names. So each name that the body has gets the lower limit. If
 * the body has neither, `max_completion_tokens` is added. Names of other protocols are removed,
 * because they could ask for more.
 */
function limitOutput(call: UpstreamCall, edits: Record<string, Edit>): void {
  const { body, max_output_tokens: limit } = call;
  if (limit === undefined) return;
  const named = ['max_tokens', 'max_completion_tokens'].filter(
    (name) => typeof body[name] === 'number',
  );
  for (const name of named) edits[name] = loweredLimit(body[name], limit);
  if (named.length === 0) edits['max_completion_tokens'] = String(limit);
  for (const name of FOREIGN_LIMITS) if (body[name] !== undefined) edits[name] = null;
}
