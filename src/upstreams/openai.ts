import type {
  StreamEvent,
  TokenUsage,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamProtocol,
  UpstreamStream,
} from './contract.ts';
import { RetryableUpstreamError } from './contract.ts';
import { type Dialect, readEvents } from './events.ts';
import { failureInside, failureOf } from './failures.ts';
import { count, isObject, parseObject, post, readAll } from './http.ts';
import { editMembers, replaceStringMember } from './json-members.ts';

/** Values of `cache_control.type` that are Weir's own and not for an upstream (spec: Cache controls). */
const OWN_CACHE_TYPES = ['no_cache', 'no_store', 'response_only', 'semantic_only'];
const DONE = 'data: [DONE]\n\n';

/** OpenAI chat completions (OpenAI docs: Chat Completions; Streaming). */
export const openaiProtocol: UpstreamProtocol = {
  name: 'openai',

  async complete(call) {
    const exchange = await post(call, '/chat/completions', headersOf(call), requestBody(call));
    const text = await readAll(exchange);
    if (!exchange.response.ok) {
      throw failureOf(call, exchange.response.status, exchange.response.headers, text);
    }
    const answer = parseObject(text);
    if (isObject(answer['error'])) throw failureInside(call, text);
    if (!Array.isArray(answer['choices'])) {
      throw new RetryableUpstreamError('malformed', 'an answer without choices');
    }
    return {
      body_text: publish(text, answer, call),
      usage: usageOf(answer['usage']),
      produced: () => producedBy(answer['choices'], 'message'),
    } satisfies UpstreamAnswer;
  },

  async stream(call) {
    const exchange = await post(call, '/chat/completions', headersOf(call), requestBody(call));
    if (!exchange.response.ok) {
      const text = await readAll(exchange);
      throw failureOf(call, exchange.response.status, exchange.response.headers, text);
    }
    const dialect = new ChatStream(call);
    return {
      events: readEvents(exchange, dialect),
      usage: () => dialect.usage,
      inputUsage: () => dialect.usage,
      cutShort: (usage) => dialect.cutShort(usage),
    } satisfies UpstreamStream;
  },

  errorEvent({ type, code, message }) {
    return `data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\n${DONE}`;
  },
};

function headersOf(call: UpstreamCall): Record<string, string> {
  return { authorization: `Bearer ${call.target.api_key}` };
}

function requestBody(call: UpstreamCall): string {
  const { body } = call;
  const edits: Record<string, string | null> = { model: JSON.stringify(call.physical_model) };
  if (body['stream'] === true) {
    // Billing needs the usage whether the client asked for it or not.
    const options = isObject(body['stream_options']) ? body['stream_options'] : {};
    edits['stream_options'] = JSON.stringify({ ...options, include_usage: true });
  }
  if (call.max_output_tokens !== undefined) {
    const named = typeof body['max_tokens'] === 'number' ? 'max_tokens' : 'max_completion_tokens';
    edits[named] = String(call.max_output_tokens);
  }
  const cache = body['cache_control'];
  if (isObject(cache) && OWN_CACHE_TYPES.includes(String(cache['type']))) {
    edits['cache_control'] = null;
  }
  return editMembers(call.body_text, edits);
}

/** The answer with our id and the public model name; every other byte as it came. */
function publish(text: string, answer: Record<string, unknown>, call: UpstreamCall): string {
  let result = text;
  const { id, model } = answer;
  if (typeof id === 'string') result = replaceStringMember(result, 'id', id, call.answer_id);
  if (typeof model === 'string' && model !== call.public_model) {
    result = replaceStringMember(result, 'model', model, call.public_model);
  }
  return result;
}

/** `prompt_tokens` includes what came from the cache; our counts never overlap. */
function usageOf(usage: unknown): TokenUsage | null {
  if (!isObject(usage)) return null;
  const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const prompt = count(usage['prompt_tokens']);
  const cached = Math.min(count(details['cached_tokens']), prompt);
  const written = Math.min(count(details['cache_write_tokens']), prompt - cached);
  return {
    input_tokens: prompt - cached - written,
    cached_input_tokens: cached,
    cache_write_tokens: written,
    output_tokens: count(usage['completion_tokens']),
  };
}

/** All text of a choice that was paid for: content, refusal, reasoning, tool calls. */
function producedBy(choices: unknown, part: 'message' | 'delta'): string {
  if (!Array.isArray(choices)) return '';
  let produced = '';
  for (const choice of choices) {
    const said = isObject(choice) ? choice[part] : undefined;
    if (!isObject(said)) continue;
    for (const key of ['content', 'refusal', 'reasoning_content', 'reasoning']) {
      if (typeof said[key] === 'string') produced += said[key];
    }
    if (!Array.isArray(said['tool_calls'])) continue;
    for (const tool of said['tool_calls']) {
      const called = isObject(tool) ? tool['function'] : undefined;
      if (!isObject(called)) continue;
      produced += `${called['name'] ?? ''}${called['arguments'] ?? ''}`;
    }
  }
  return produced;
}

class ChatStream implements Dialect {
  usage: TokenUsage | null = null;
  private readonly wantsUsage: boolean;
  private readonly choices: number;
  private readonly finished = new Set<unknown>();
  private created = 0;
  private done = false;

  constructor(private readonly call: UpstreamCall) {
    const options = call.body['stream_options'];
    this.wantsUsage = isObject(options) && options['include_usage'] === true;
    this.choices = typeof call.body['n'] === 'number' ? call.body['n'] : 1;
  }

  ended(): boolean {
    return this.done;
  }

  take({ data }: { data: string }): StreamEvent | undefined {
    if (data === '[DONE]') {
      this.done = true;
      return { text: DONE, produced: '', final: true };
    }
    const chunk = parseObject(data);
    if (isObject(chunk['error'])) throw failureInside(this.call, data);
    this.created ||= count(chunk['created']);
    const usage = usageOf(chunk['usage']);
    if (usage) this.usage = usage;
    const { choices } = chunk;
    if (usage && !this.wantsUsage && Array.isArray(choices) && choices.length === 0)
      return undefined;
    for (const choice of Array.isArray(choices) ? choices : []) {
      if (isObject(choice) && choice['finish_reason']) this.finished.add(choice['index'] ?? 0);
    }
    let text = publish(data, chunk, this.call);
    if (!this.wantsUsage && 'usage' in chunk) text = editMembers(text, { usage: null });
    return {
      text: `data: ${text}\n\n`,
      produced: producedBy(choices, 'delta'),
      final: this.finished.size >= this.choices,
    };
  }

  /** Some servers leave `[DONE]` out; without a finish reason the answer was cut off. */
  atEnd(): StreamEvent[] {
    if (this.finished.size < this.choices) {
      throw new RetryableUpstreamError('malformed', 'the stream ended in the middle');
    }
    return [{ text: DONE, produced: '', final: true }];
  }

  cutShort(usage: TokenUsage): string {
    const chunk = (choices: object[], rest: object = {}) =>
      `data: ${JSON.stringify({
        id: this.call.answer_id,
        object: 'chat.completion.chunk',
        created: this.created,
        model: this.call.public_model,
        choices,
        ...rest,
      })}\n\n`;
    const prompt = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
    const open = Array.from({ length: this.choices }, (_, index) => index).filter(
      (index) => !this.finished.has(index),
    );
    const finish = chunk(open.map((index) => ({ index, delta: {}, finish_reason: 'length' })));
    const counted = this.wantsUsage
      ? chunk([], {
          usage: {
            prompt_tokens: prompt,
            completion_tokens: usage.output_tokens,
            total_tokens: prompt + usage.output_tokens,
          },
        })
      : '';
    return finish + counted + DONE;
  }
}
