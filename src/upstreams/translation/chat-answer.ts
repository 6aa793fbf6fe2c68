/** Answers of OpenAI chat completions, read and written (contracts 1.2). */
import { isObject } from '../../json/object.ts';
import { openaiUsage } from '../../protocols/openai-usage.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { Assembly } from './assembly.ts';
import { writeCall } from './chat-write.ts';
import type {
  AnswerNames,
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  OpenedPart,
  StopReason,
  StreamReader,
  StreamWriter,
} from './neutral.ts';
import { defined, listOrEmpty, type ReadonlyJsonObject } from './reading.ts';

const STOPS: Record<string, StopReason> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filter',
};
const REASONS: Record<StopReason, string> = {
  end: 'stop',
  sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
};

/** Of a tool that was forced by name the vendor says `stop` (OpenAI docs: Function calling). */
function stopOf(reason: unknown, hasCalls: boolean): StopReason {
  const stop = STOPS[String(reason)] ?? 'end';
  return stop === 'end' && hasCalls ? 'calls' : stop;
}

function usageIn(value: unknown): AnswerUsage | null {
  const usage = openaiUsage(value);
  if (!usage || !isObject(value)) return null;
  const details = value['completion_tokens_details'];
  const reasoning = isObject(details) ? details['reasoning_tokens'] : undefined;
  return typeof reasoning === 'number' ? { ...usage, reasoning_tokens: reasoning } : usage;
}

function chatUsage(usage: AnswerUsage): object {
  const prompt_tokens = usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens;
  const { output_tokens, reasoning_tokens } = usage;
  return {
    prompt_tokens,
    completion_tokens: output_tokens,
    total_tokens: prompt_tokens + output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
    ...(reasoning_tokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens } }),
  };
}

export function readChatAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  const [choice] = listOrEmpty(answer['choices']);
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) {
    throw new RetryableUpstreamError('malformed', 'an answer without a message');
  }
  const parts: AssistantPart[] = [];
  const thought = message['reasoning_content'] ?? message['reasoning'];
  if (typeof thought === 'string' && thought !== '')
    parts.push({ type: 'reasoning', text: thought });
  const { content, refusal } = message;
  if (typeof content === 'string' && content !== '') parts.push({ type: 'text', text: content });
  if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', text: refusal });
  for (const call of listOrEmpty(message['tool_calls'])) {
    const called = isObject(call) ? call['function'] : undefined;
    if (!isObject(call) || !isObject(called)) continue;
    parts.push({
      type: 'call',
      id: String(call['id']),
      name: String(called['name']),
      arguments: String(called['arguments'] ?? ''),
    });
  }
  const hasCalls = parts.some(({ type }) => type === 'call');
  const stop = stopOf(choice['finish_reason'], hasCalls);
  return { parts, stop, usage: usageIn(answer['usage']) };
}

export function writeChatAnswer(answer: NeutralAnswer, names: AnswerNames): object {
  const { id, model, created } = names;
  const { usage } = answer;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: messageOf(answer.parts),
        logprobs: null,
        finish_reason: REASONS[answer.stop],
      },
    ],
    ...(usage ? { usage: chatUsage(usage) } : {}),
  };
}

function messageOf(parts: readonly AssistantPart[]): object {
  const text = (type: 'text' | 'refusal' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.flatMap((part) => (part.type === 'call' ? [writeCall(part)] : []));
  const [content, refusal, thought] = [text('text'), text('refusal'), text('reasoning')];
  return defined({
    role: 'assistant',
    content: content === '' ? null : content,
    refusal: refusal === '' ? null : refusal,
    // Not of the vendor's contract; what others that speak it send.
    reasoning_content: thought === '' ? undefined : thought,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

/** Deltas of chat say no end of a part: another one's beginning does. */
export class ChatReader implements StreamReader {
  private open: 'text' | 'reasoning' | 'refusal' | number | undefined;
  private begun = false;
  private hasCalls = false;

  read(_: string | undefined, data: string): NeutralEvent[] {
    if (data === '[DONE]') return [...this.close(), { type: 'end' }];
    const chunk: unknown = JSON.parse(data);
    if (!isObject(chunk)) return [];
    const events: NeutralEvent[] = this.begun ? [] : [{ type: 'start' }];
    this.begun = true;
    const [choice] = listOrEmpty(chunk['choices']);
    if (isObject(choice)) {
      const { delta, finish_reason } = choice;
      if (isObject(delta)) events.push(...this.delta(delta));
      if (typeof finish_reason === 'string') {
        events.push(...this.close(), { type: 'stop', stop: stopOf(finish_reason, this.hasCalls) });
      }
    }
    const usage = usageIn(chunk['usage']);
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  private delta(delta: ReadonlyJsonObject): NeutralEvent[] {
    const events: NeutralEvent[] = [];
    const say = (kind: 'text' | 'reasoning' | 'refusal', text: unknown) => {
      if (typeof text !== 'string' || text === '') return;
      if (this.open !== kind) events.push(...this.opened(kind, { type: kind }));
      events.push({ type: 'delta', text });
    };
    say('reasoning', delta['reasoning_content'] ?? delta['reasoning']);
    say('text', delta['content']);
    say('refusal', delta['refusal']);
    for (const call of listOrEmpty(delta['tool_calls'])) {
      if (!isObject(call)) continue;
      const called = isObject(call['function']) ? call['function'] : {};
      this.hasCalls = true;
      const index = Number(call['index'] ?? 0);
      if (this.open !== index) {
        const [id, name] = [String(call['id'] ?? ''), String(called['name'] ?? '')];
        events.push(...this.opened(index, { type: 'call', id, name }));
      }
      const text = called['arguments'];
      if (typeof text === 'string' && text !== '') events.push({ type: 'delta', text });
    }
    return events;
  }

  private opened(open: typeof this.open, part: OpenedPart): NeutralEvent[] {
    const closed = this.close();
    this.open = open;
    return [...closed, { type: 'open', part }];
  }

  private close(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }
}

const DELTAS = { text: 'content', reasoning: 'reasoning_content', refusal: 'refusal' } as const;

export class ChatWriter implements StreamWriter {
  private readonly whole = new Assembly();
  private calls = 0;
  private readonly wantsUsage: boolean;

  constructor(private readonly names: AnswerNames) {
    const options = names.request['stream_options'];
    this.wantsUsage = isObject(options) && options['include_usage'] === true;
  }

  write(event: NeutralEvent): string {
    this.whole.take(event);
    switch (event.type) {
      case 'start':
        return this.chunk({ role: 'assistant', content: '' });
      case 'open':
        return this.opened(event.part);
      case 'delta':
        return this.delta(event.text);
      case 'end':
        return this.end();
      case 'close':
      case 'usage':
      case 'stop':
      case 'signature':
        return '';
      default:
        return event satisfies never;
    }
  }

  answer(): object {
    return writeChatAnswer(this.whole.answer(), this.names);
  }

  private opened(part: OpenedPart): string {
    if (part.type !== 'call') return '';
    const call = { id: part.id, type: 'function', function: { name: part.name, arguments: '' } };
    const index = this.calls;
    this.calls += 1;
    return this.chunk({ tool_calls: [{ index, ...call }] });
  }

  private delta(text: string): string {
    const type = this.whole.open;
    if (type === 'call') {
      return this.chunk({
        tool_calls: [{ index: this.calls - 1, function: { arguments: text } }],
      });
    }
    return type && type in DELTAS ? this.chunk({ [DELTAS[type as 'text']]: text }) : '';
  }

  private end(): string {
    const { stop, usage } = this.whole.answer();
    const finish = this.chunk({}, REASONS[stop]);
    const counted =
      this.wantsUsage && usage ? this.frame({ choices: [], usage: chatUsage(usage) }) : '';
    return `${finish}${counted}data: [DONE]\n\n`;
  }

  private chunk(delta: object, finish_reason: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return this.frame({ choices, ...(this.wantsUsage ? { usage: null } : {}) });
  }

  private frame(rest: object): string {
    const { id, created, model } = this.names;
    const chunk = { id, object: 'chat.completion.chunk', created, model, ...rest };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
