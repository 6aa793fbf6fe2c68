import { editMembers } from '../../json/members.ts';
import { chatFitness } from '../../protocols/fitness.ts';
import type { ChatProtocol } from '../../protocols/names.ts';
import { openaiUsage, writeOpenaiUsage } from '../../protocols/openai-usage.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { wholeUsage } from '../pass-through/reported-usage.ts';
import { requestAnswer, requestStream } from '../pass-through/request.ts';
import { AZURE, OPENAI, type OpenaiAddress } from '../transport/openai-address.ts';
import { producedText } from './openai-answer.ts';
import { chatRequest } from './openai-request.ts';
import { ChatStream } from './openai-stream.ts';

/** OpenAI chat completions (OpenAI docs: Chat Completions; Streaming). */
export const openaiProtocol = chatProtocol('openai', OPENAI);

/**
 * OpenAI chat completions on Azure. The channel's `base_url` ends in `/openai/v1` (Azure OpenAI
 * docs: v1 API), or in `/openai` and has an `api_version`.
 */
export const azureOpenaiProtocol = chatProtocol('azure-openai', AZURE);

function chatProtocol(name: ChatProtocol, address: OpenaiAddress): UpstreamProtocol {
  return {
    name,

    complete: (call) => requestAnswer(call, chatRequest(call, address), answerOf),

    stream: (call) => requestStream(call, chatRequest(call, address), new ChatStream(call)),
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
    is_fit: chatFitness.isFit(answer),
    produced: () => producedText(choices, 'message'),
  };
}
