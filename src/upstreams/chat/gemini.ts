import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { geminiUsage, usageMetadata } from '../../protocols/gemini-usage.ts';
import type { ChatProtocol } from '../../protocols/names.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type MeteredStreamProtocol,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { withoutLineBreaks } from '../stream/events.ts';
import { geminiErrorEvent } from '../translation/gemini-answer.ts';
import { parseObject } from '../transport/exchange.ts';
import { classifyInlineError } from '../transport/failures.ts';

/** Gemini's generateContent (Gemini API docs: generateContent, streamGenerateContent). */
export const geminiChatProtocol = geminiChat('gemini', async ({ target }) => ({
  'x-goog-api-key': target.api_key,
}));

type Credentials = (call: UpstreamCall) => Promise<Record<string, string>>;

/**
 * Returns the protocol of generateContent for the Gemini API or for Vertex AI. They differ only in
 * `credentials`, the headers that authorize a call.
 */
export function geminiChat(name: ChatProtocol, credentials: Credentials): UpstreamProtocol {
  const requestTo = (call: UpstreamCall, method: string): UpstreamRequest => ({
    ...requestOf(call, method),
    authorize: () => credentials(call),
  });
  return { name, ...methods(requestTo) };
}

function methods(
  requestTo: (call: UpstreamCall, method: string) => UpstreamRequest,
): Omit<UpstreamProtocol, 'name'> {
  return {
    complete: (call) =>
      requestAnswer(call, requestTo(call, 'generateContent'), (text, answer) => {
        if (!Array.isArray(answer['candidates']) && !isObject(answer['promptFeedback'])) {
          throw new RetryableUpstreamError('malformed', 'an answer without candidates');
        }
        return {
          body_text: publish(text, answer, call),
          usage: geminiUsage(answer['usageMetadata']),
          produced: () => producedBy(answer),
        };
      }),

    stream: (call) =>
      requestStream(
        call,
        requestTo(call, 'streamGenerateContent?alt=sse'),
        new ContentStream(call),
      ),

    errorEvent: geminiErrorEvent,
  };
}

function requestOf(call: UpstreamCall, method: string): UpstreamRequest {
  const { body, max_output_tokens: limit, physical_model } = call;
  // Gemini's body has none of these members. The path contains the model, and tells whether the
  // answer is a stream.
  const edits: Record<string, Edit> = { model: null, stream: null, cache_control: null };
  if (limit !== undefined) {
    const config = isObject(body['generationConfig']) ? body['generationConfig'] : undefined;
    const requested = config?.['maxOutputTokens'];
    const bound = String(typeof requested === 'number' ? Math.min(requested, limit) : limit);
    edits['generationConfig'] = config
      ? (text) => editMembers(text, { maxOutputTokens: bound })
      : `{"maxOutputTokens":${bound}}`;
  }
  return {
    path: `/models/${encodeURIComponent(physical_model)}:${method}`,
    headers: {},
    edits,
  };
}

function publish(
  text: string,
  answer: Readonly<Record<string, unknown>>,
  call: UpstreamCall,
): string {
  const edits: Record<string, Edit> = {};
  if ('modelVersion' in answer) edits['modelVersion'] = JSON.stringify(call.public_model);
  if ('responseId' in answer) edits['responseId'] = JSON.stringify(call.answer_id);
  return editMembers(text, edits);
}

function partsOf(answer: Readonly<Record<string, unknown>>): unknown[] {
  const candidates: unknown[] = Array.isArray(answer['candidates']) ? answer['candidates'] : [];
  return candidates.flatMap((candidate) => {
    const content = isObject(candidate) ? candidate['content'] : undefined;
    return isObject(content) && Array.isArray(content['parts']) ? content['parts'] : [];
  });
}

/** Returns all text that is charged: answers, thoughts and function calls. */
function producedBy(answer: Readonly<Record<string, unknown>>): string {
  return partsOf(answer)
    .map((part) => {
      if (!isObject(part)) return '';
      if (typeof part['text'] === 'string') return part['text'];
      return part['functionCall'] ? JSON.stringify(part['functionCall']) : '';
    })
    .join('');
}

/**
 * The chunks of one streamed answer. Each chunk has the members of a whole answer, but only a part
 * of its content.
 */
class ContentStream implements MeteredStreamProtocol {
  private counted: TokenUsage | null = null;
  private finished = false;
  private done = false;

  constructor(private readonly call: UpstreamCall) {}

  usage(): TokenUsage | null {
    return this.finished ? this.counted : null;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  hasEnded(): boolean {
    return this.done;
  }

  take({ data }: { data: string }): StreamEvent {
    const chunk = parseObject(data);
    if (chunk['error']) throw classifyInlineError(this.call, data);
    this.counted = geminiUsage(chunk['usageMetadata']) ?? this.counted;
    const candidates: unknown[] = Array.isArray(chunk['candidates']) ? chunk['candidates'] : [];
    const isBlocked = isObject(chunk['promptFeedback']) && chunk['promptFeedback']['blockReason'];
    this.finished ||=
      Boolean(isBlocked) || candidates.some((each) => isObject(each) && each['finishReason']);
    const text = withoutLineBreaks(publish(data, chunk, this.call));
    return { text: `data: ${text}\n\n`, produced: producedBy(chunk), final: this.finished };
  }

  /**
   * Returns no events, because the protocol has no event that ends a stream. Throws if no chunk had
   * a finish reason: then the answer was cut off.
   */
  atEnd(): StreamEvent[] {
    if (!this.finished) {
      throw new RetryableUpstreamError('malformed', 'the stream ended before its last event');
    }
    this.done = true;
    return [];
  }

  cutShort(usage: TokenUsage): string {
    const { public_model, answer_id } = this.call;
    const chunk = {
      candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'MAX_TOKENS', index: 0 }],
      usageMetadata: usageMetadata(usage),
      modelVersion: public_model,
      responseId: answer_id,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
