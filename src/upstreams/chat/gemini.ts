import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { geminiFitness } from '../../protocols/fitness.ts';
import { geminiUsage, usageMetadata } from '../../protocols/gemini-usage.ts';
import type { ChatProtocol } from '../../protocols/names.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamProtocol } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { withSignedCalls } from '../pass-through/foreign-signatures.ts';
import { checkedUsage, wholeUsage } from '../pass-through/reported-usage.ts';
import {
  loweredLimit,
  type MeteredStreamProtocol,
  requestAnswer,
  requestStream,
  type UpstreamRequest,
} from '../pass-through/request.ts';
import { geminiErrorEvent } from '../stream/error-events.ts';
import { withoutLineBreaks } from '../stream/events.ts';
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
        const body_text = publish(text, answer, call);
        return {
          body_text,
          ...wholeUsage(geminiUsage(answer['usageMetadata']), call, (usage) =>
            withUsageMetadata(body_text, usage),
          ),
          is_fit: geminiFitness.isFit(answer),
          produced: () => producedText(answer),
        };
      }),

    stream: (call) =>
      requestStream(
        call,
        requestTo(call, 'streamGenerateContent?alt=sse'),
        new ContentStream(call),
      ),
  };
}

/** The member with the output limit. Gemini accepts each name in two forms (protobuf: JSON mapping). */
const CONFIGS = ['generationConfig', 'generation_config'];
const LIMITS = ['maxOutputTokens', 'max_output_tokens'];

function requestOf(call: UpstreamCall, method: string): UpstreamRequest {
  const { body, max_output_tokens: limit, physical_model } = call;
  // Gemini's body has none of these members. The path contains the model, and tells whether the
  // answer is a stream.
  const edits: Record<string, Edit> = { model: null, stream: null, cache_control: null };
  const configs = CONFIGS.filter((name) => isObject(body[name]));
  for (const name of configs) {
    // Without limits, `editMembers` still removes repeated members of the config. Only the last of
    // them stays, because the budget was computed from it.
    const limits = limit === undefined ? {} : limitEdits(body[name], limit);
    edits[name] = (text) => editMembers(text, limits);
  }
  if (limit !== undefined && configs.length === 0) {
    edits['generationConfig'] = `{"maxOutputTokens":${limit}}`;
  }
  const contents = call.model_abilities?.signatures.needed
    ? withSignedCalls(body['contents'])
    : undefined;
  if (contents !== undefined) edits['contents'] = contents;
  return {
    path: `/models/${encodeURIComponent(physical_model)}:${method}`,
    headers: {},
    edits,
  };
}

/** Returns the edits of a config that lower each name of the limit, or add the limit. */
function limitEdits(config: unknown, limit: number): Record<string, Edit> {
  const read = (name: string) => (isObject(config) ? config[name] : undefined);
  const named = LIMITS.filter((name) => read(name) !== undefined);
  return Object.fromEntries(
    (named.length > 0 ? named : LIMITS.slice(0, 1)).map((name) => [
      name,
      loweredLimit(read(name), limit),
    ]),
  );
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

function withUsageMetadata(text: string, usage: TokenUsage): string {
  return editMembers(text, { usageMetadata: JSON.stringify(usageMetadata(usage)) });
}

function partsOf(answer: Readonly<Record<string, unknown>>): unknown[] {
  const candidates: unknown[] = Array.isArray(answer['candidates']) ? answer['candidates'] : [];
  return candidates.flatMap((candidate) => {
    const content = isObject(candidate) ? candidate['content'] : undefined;
    return isObject(content) && Array.isArray(content['parts']) ? content['parts'] : [];
  });
}

/** Returns all text that is charged: answers, thoughts and function calls. */
function producedText(answer: Readonly<Record<string, unknown>>): string {
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
export class ContentStream implements MeteredStreamProtocol {
  private counted: TokenUsage | null = null;
  private isImpossible = false;
  private finished = false;
  private done = false;
  readonly errorEvents = geminiErrorEvent;

  constructor(private readonly call: UpstreamCall) {}

  usage(): TokenUsage | null {
    return this.finished && !this.isImpossible ? this.counted : null;
  }

  inputUsage(): TokenUsage | null {
    return this.counted;
  }

  hasImpossibleUsage(): boolean {
    return this.isImpossible;
  }

  hasEnded(): boolean {
    return this.done;
  }

  take({ data }: { data: string }): StreamEvent {
    const chunk = parseObject(data);
    if (chunk['error']) throw classifyInlineError(this.call, data);
    const report = checkedUsage(geminiUsage(chunk['usageMetadata']), this.call);
    if (report === 'impossible') this.isImpossible = true;
    else this.counted = report ?? this.counted;
    const candidates: unknown[] = Array.isArray(chunk['candidates']) ? chunk['candidates'] : [];
    const isBlocked = isObject(chunk['promptFeedback']) && chunk['promptFeedback']['blockReason'];
    this.finished ||=
      Boolean(isBlocked) || candidates.some((each) => isObject(each) && each['finishReason']);
    const text = withoutLineBreaks(publish(data, chunk, this.call));
    const event = {
      produced: producedText(chunk),
      final: this.finished,
      value: chunk,
      is_fit: geminiFitness.judge(chunk),
    };
    if (report !== 'impossible') return { text: `data: ${text}\n\n`, ...event };
    // Until the last chunk, the client gets no usage. Counting for each chunk would be slow.
    const hidden = `data: ${editMembers(text, { usageMetadata: null })}\n\n`;
    if (!this.finished) return { text: hidden, ...event };
    const withUsage = (usage: TokenUsage) => `data: ${withUsageMetadata(text, usage)}\n\n`;
    return { text: hidden, withUsage, ...event };
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
      candidates: [
        // Google's SDKs drop the whole turn of a chat if a chunk has no part.
        { content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'MAX_TOKENS', index: 0 },
      ],
      usageMetadata: usageMetadata(usage),
      modelVersion: public_model,
      responseId: answer_id,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
