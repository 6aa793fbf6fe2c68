import { editItems } from '../../json/items.ts';
import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { responsesFitness } from '../../protocols/fitness.ts';
import { responsesUsage, writeResponsesUsage } from '../../protocols/responses-usage.ts';
import type { UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { isForeignReasoning } from '../pass-through/foreign-signatures.ts';
import { publishAnswer } from '../pass-through/publish.ts';
import { ItemPublisher } from '../pass-through/publish-items.ts';
import { wholeUsage } from '../pass-through/reported-usage.ts';
import {
  commonEdits,
  loweredLimit,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { responseSearchLimits } from '../pass-through/web-search.ts';
import { classifyInlineError } from '../transport/failures.ts';
import { asEnvelope, producedByItems, webSearchesIn } from './openai-responses-answer.ts';
import { ResponseStream } from './openai-responses-stream.ts';

/**
 * OpenAI responses (OpenAI docs: Responses). Weir stores conversations itself and tells the
 * upstream to store nothing. Each call carries the whole conversation, so any channel can serve it.
 */
export const openaiResponsesProtocol: UpstreamProtocol = {
  name: 'openai-responses',

  complete: (call) =>
    requestAnswer(call, requestOf(call), (text, answer) => {
      const { output, status, error } = answer;
      if (status === 'failed') throw classifyInlineError(call, asEnvelope(error));
      if (!Array.isArray(output)) {
        throw new RetryableUpstreamError('malformed', 'a response without output');
      }
      const published = publishAnswer(text, answer, call);
      const body_text = new ItemPublisher(call).response(published, answer);
      return {
        body_text,
        ...wholeUsage(responsesUsage(answer['usage'], webSearchesIn(answer)), call, (usage) =>
          editMembers(body_text, { usage: JSON.stringify(writeResponsesUsage(usage)) }),
        ),
        is_fit: responsesFitness.isFit(answer),
        web_searches: webSearchesIn(answer),
        produced: () => producedByItems(output),
      };
    }),

  stream: (call) => requestStream(call, requestOf(call), new ResponseStream(call)),
};

function requestOf(call: UpstreamCall): UpstreamRequest {
  const { body, max_output_tokens: limit, target } = call;
  const edits: Record<string, Edit> = {
    ...commonEdits(call),
    ...responseSearchLimits(body),
    store: 'false',
    previous_response_id: null,
  };
  const { input, max_output_tokens: requested } = body;
  if (Array.isArray(input)) {
    edits['input'] = (text) => editItems(text, (item, at) => withoutOwnId(item, input[at]));
  }
  if (limit !== undefined) {
    edits['max_output_tokens'] = loweredLimit(requested, limit);
  }
  return { path: '/responses', headers: { authorization: `Bearer ${target.api_key}` }, edits };
}

/** Types of input items whose `id` can be removed, because no other item refers to it. */
const PLAIN_ITEMS = [
  ...['message', 'function_call', 'function_call_output', 'reasoning'],
  ...['custom_tool_call', 'custom_tool_call_output', 'web_search_call'],
];

/**
 * Returns the text of an item for the upstream. An item of a type in `PLAIN_ITEMS` loses its id,
 * because the upstream stores no items. Returns null for a reasoning item without encrypted content:
 * the upstream could find it only by its id (OpenAI docs: Reasoning, stateless). Also returns null for
 * reasoning of another provider.
 */
function withoutOwnId(text: string, item: unknown): string | null {
  if (!isObject(item) || !PLAIN_ITEMS.includes(String(item['type'] ?? 'message'))) return text;
  if (item['type'] === 'reasoning') {
    if (typeof item['encrypted_content'] !== 'string' || isForeignReasoning(item)) return null;
  }
  return editMembers(text, { id: null });
}
