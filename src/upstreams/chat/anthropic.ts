import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { anthropicUsage, writeAnthropicUsage } from '../../protocols/anthropic-usage.ts';
import { messagesFitness } from '../../protocols/fitness.ts';
import type { UpstreamAnswer, UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { hasUnthoughtCalls, withoutForeignThinking } from '../pass-through/foreign-signatures.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { wholeUsage } from '../pass-through/reported-usage.ts';
import {
  commonEdits,
  loweredLimit,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { messageSearchLimits } from '../pass-through/web-search.ts';
import { isWebSearchBlock, MessageStream } from './anthropic-stream.ts';

/**
 * The `anthropic-version` that accepts `temperature`, `top_p` and `top_k`. Later versions refuse
 * them.
 */
const SAMPLING_VERSION = '2023-06-01';
const KNOWN_VERSIONS = [SAMPLING_VERSION, '2026-10-21'];
/** The smallest budget for thinking, in tokens (Anthropic docs: Extended thinking). */
const MIN_THINKING_TOKENS = 1_024;

/** Anthropic messages (Anthropic docs: Messages; Streaming). */
export const anthropicProtocol: UpstreamProtocol = {
  name: 'anthropic',

  complete: (call) => requestAnswer(call, requestOf(call), answerOfMessages),

  stream: (call) => requestStream(call, requestOf(call), new MessageStream(call)),
};

/**
 * Reads a complete answer in the format of Anthropic messages; Bedrock sends the same format.
 * Throws RetryableUpstreamError if the answer has no `content`.
 */
export function answerOfMessages(
  text: string,
  answer: Readonly<Record<string, unknown>>,
  call: UpstreamCall,
): UpstreamAnswer {
  const { content } = answer;
  if (!Array.isArray(content)) {
    throw new RetryableUpstreamError('malformed', 'an answer without content');
  }
  const body_text = publishAnswer(text, answer, call);
  return {
    body_text,
    ...wholeUsage(anthropicUsage(answer['usage'], null), call, (usage) =>
      editMembers(body_text, { usage: JSON.stringify(writeAnthropicUsage(usage)) }),
    ),
    is_fit: messagesFitness.isFit(answer),
    web_searches: content.filter(isWebSearchBlock).length,
    produced: () => content.map(producedByBlock).join(''),
  };
}

function requestOf(call: UpstreamCall): UpstreamRequest {
  const { body, headers, target } = call;
  const requested = headers['anthropic-version'] ?? '';
  const samples = ['temperature', 'top_p', 'top_k'].some((key) => body[key] !== undefined);
  const version = samples || !KNOWN_VERSIONS.includes(requested) ? SAMPLING_VERSION : requested;
  const beta = headers['anthropic-beta'];
  return {
    path: '/v1/messages',
    headers: {
      'x-api-key': target.api_key,
      'anthropic-version': version,
      ...(beta ? { 'anthropic-beta': beta } : {}),
    },
    edits: {
      ...commonEdits(call),
      ...messagesLimits(call),
      ...messageSearchLimits(body),
      ...withoutOwnMessage(body),
      ...ownThinkingOnly(call),
    },
  };
}

/**
 * Returns the edit that removes the id of an earlier answer. The id is Weir's own, so the provider
 * does not know it (Anthropic docs: Cache diagnostics).
 */
export function withoutOwnMessage({ diagnostics }: UpstreamCall['body']): Record<string, Edit> {
  const previous = isObject(diagnostics) ? diagnostics['previous_message_id'] : undefined;
  if (typeof previous !== 'string') return {};
  return { diagnostics: (text) => editMembers(text, { previous_message_id: 'null' }) };
}

/**
 * Returns edits that lower `max_tokens` to the output that the reservation covers. The upstream
 * refuses a thinking budget that is not smaller than `max_tokens`. So the edits also lower such a
 * budget, or disable thinking if `max_tokens` is too small for it.
 */
export function messagesLimits({ body, max_output_tokens }: UpstreamCall): Record<string, Edit> {
  if (max_output_tokens === undefined) return {};
  const max_tokens = loweredLimit(body['max_tokens'], max_output_tokens);
  const limit = Number(max_tokens);
  const edits: Record<string, Edit> = { max_tokens };
  const { thinking } = body;
  const budget = isObject(thinking) ? thinking['budget_tokens'] : undefined;
  if (typeof budget === 'number' && budget >= limit) {
    edits['thinking'] =
      limit > MIN_THINKING_TOKENS
        ? (text) => editMembers(text, { budget_tokens: String(limit - 1) })
        : '{"type":"disabled"}';
  }
  return edits;
}

/**
 * Returns the edits that remove the thinking of other providers, if there is any. If the last turn with
 * calls does not start with Claude's own thinking, a Claude that thinks with a budget goes on without
 * thinking, because it refuses such a turn (deepset-ai/haystack-core-integrations#2146).
 */
export function ownThinkingOnly({ body, model_abilities }: UpstreamCall): Record<string, Edit> {
  const { maker, needed } = model_abilities?.signatures ?? {};
  const isClaude = maker === 'anthropic';
  const messages = withoutForeignThinking(body['messages'], isClaude);
  const { thinking } = body;
  const isBudget = isObject(thinking) && thinking['type'] === 'enabled';
  const mustStop = isClaude && needed && isBudget && hasUnthoughtCalls(body['messages']);
  return {
    ...(messages === undefined ? {} : { messages }),
    ...(mustStop ? { thinking: '{"type":"disabled"}' } : {}),
  };
}

/** Returns the charged text of a complete content block. */
function producedByBlock(block: unknown): string {
  if (!isObject(block)) return '';
  const input = block['input'] === undefined ? '' : JSON.stringify(block['input']);
  return `${block['text'] ?? ''}${block['thinking'] ?? ''}${block['name'] ?? ''}${input}`;
}
