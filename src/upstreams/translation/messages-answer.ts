/** Answers of Anthropic messages, read and written (contracts 1.4). */
import { isObject } from '../../json/object.ts';
import { anthropicUsage } from '../../protocols/anthropic-usage.ts';
import type { AnswerUsage, TokenUsage } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { Assembly } from './assembly.ts';
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
import { argumentsOf, type ReadonlyJsonObject } from './reading.ts';

const STOPS: Record<string, StopReason> = {
  end_turn: 'end',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'calls',
  stop_sequence: 'sequence',
  refusal: 'filter',
};
const REASONS: Record<StopReason, string> = {
  end: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  sequence: 'stop_sequence',
  filter: 'refusal',
};

function stopIn(said: ReadonlyJsonObject): Pick<NeutralAnswer, 'stop' | 'stop_sequence'> {
  const stop = STOPS[String(said['stop_reason'])] ?? 'end';
  const sequence = said['stop_sequence'];
  return { stop, ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}) };
}

function usageIn(value: unknown, before: TokenUsage | null): AnswerUsage | null {
  const usage = anthropicUsage(value, before);
  const details = isObject(value) ? value['output_tokens_details'] : undefined;
  const thinking = isObject(details) ? details['thinking_tokens'] : undefined;
  return usage && typeof thinking === 'number' ? { ...usage, reasoning_tokens: thinking } : usage;
}

function messagesUsage(usage: AnswerUsage | null): object {
  return {
    input_tokens: usage?.input_tokens ?? 0,
    cache_creation_input_tokens: usage?.cache_write_tokens ?? 0,
    cache_read_input_tokens: usage?.cached_input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
  };
}

export function readMessagesAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  if (!Array.isArray(answer['content'])) {
    throw new RetryableUpstreamError('malformed', 'an answer without content');
  }
  const parts = answer['content'].flatMap((block) => (isObject(block) ? readBlock(block) : []));
  return { parts, ...stopIn(answer), usage: usageIn(answer['usage'], null) };
}

function readBlock(block: ReadonlyJsonObject): AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: String(block['text'] ?? '') }];
    case 'thinking': {
      const signature = block['signature'];
      const signed = typeof signature === 'string' ? { signature } : {};
      return [{ type: 'reasoning', text: String(block['thinking'] ?? ''), ...signed }];
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', redacted: String(block['data'] ?? '') }];
    case 'tool_use': {
      const [id, name] = [String(block['id']), String(block['name'])];
      return [{ type: 'call', id, name, arguments: JSON.stringify(block['input'] ?? {}) }];
    }
    default:
      return [];
  }
}

export function writeMessagesAnswer(answer: NeutralAnswer, { id, model }: AnswerNames): object {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: answer.parts.flatMap(writeBlock),
    stop_reason: REASONS[answer.stop],
    stop_sequence: answer.stop_sequence ?? null,
    usage: messagesUsage(answer.usage),
  };
}

function writeBlock(part: AssistantPart): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      return part.redacted === undefined
        ? [{ type: 'thinking', thinking: part.text, signature: part.signature ?? '' }]
        : [{ type: 'redacted_thinking', data: part.redacted }];
    case 'call': {
      const { id, name } = part;
      return [{ type: 'tool_use', id, name, input: argumentsOf(part.arguments) }];
    }
    default:
      return part satisfies never;
  }
}

export class MessagesReader implements StreamReader {
  private usage: AnswerUsage | null = null;

  read(_: string | undefined, data: string): NeutralEvent[] {
    const event: unknown = JSON.parse(data);
    if (!isObject(event)) return [];
    switch (event['type']) {
      case 'message_start':
        return [{ type: 'start' }, ...this.counted(event['message'])];
      case 'content_block_start':
        return isObject(event['content_block']) ? opening(event['content_block']) : [];
      case 'content_block_delta':
        return isObject(event['delta']) ? delta(event['delta']) : [];
      case 'content_block_stop':
        return [{ type: 'close' }];
      case 'message_delta': {
        const said = event['delta'];
        const stop =
          isObject(said) && said['stop_reason'] ? [{ type: 'stop', ...stopIn(said) } as const] : [];
        return [...stop, ...this.counted(event)];
      }
      case 'message_stop':
        return [{ type: 'end' }];
      default:
        return [];
    }
  }

  private counted(said: unknown): NeutralEvent[] {
    if (isObject(said)) this.usage = usageIn(said['usage'], this.usage);
    return this.usage ? [{ type: 'usage', usage: this.usage }] : [];
  }
}

function opening(block: ReadonlyJsonObject): NeutralEvent[] {
  const text = (value: unknown): NeutralEvent[] =>
    typeof value === 'string' && value !== '' ? [{ type: 'delta', text: value }] : [];
  switch (block['type']) {
    case 'text':
      return [{ type: 'open', part: { type: 'text' } }, ...text(block['text'])];
    case 'thinking':
      return [{ type: 'open', part: { type: 'reasoning' } }, ...text(block['thinking'])];
    case 'redacted_thinking':
      return [{ type: 'open', part: { type: 'redacted', data: String(block['data'] ?? '') } }];
    case 'tool_use': {
      const [id, name] = [String(block['id']), String(block['name'])];
      return [{ type: 'open', part: { type: 'call', id, name } }];
    }
    default:
      return [];
  }
}

function delta(said: ReadonlyJsonObject): NeutralEvent[] {
  if (typeof said['signature'] === 'string') {
    return [{ type: 'signature', signature: said['signature'] }];
  }
  const text = said['text'] ?? said['thinking'] ?? said['partial_json'];
  return typeof text === 'string' && text !== '' ? [{ type: 'delta', text }] : [];
}

const DELTAS: Record<OpenedPart['type'], [type: string, member: string]> = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  redacted: ['text_delta', 'text'],
  call: ['input_json_delta', 'partial_json'],
};

export class MessagesWriter implements StreamWriter {
  private readonly whole = new Assembly();
  private index = -1;

  constructor(private readonly names: AnswerNames) {}

  write(event: NeutralEvent): string {
    const { open } = this.whole;
    this.whole.take(event);
    switch (event.type) {
      case 'start':
        return this.begin();
      case 'open':
        this.index += 1;
        return sse('content_block_start', { index: this.index, content_block: opened(event.part) });
      case 'delta': {
        const [type, member] = DELTAS[open ?? 'text'];
        return this.delta({ type, [member]: event.text });
      }
      case 'signature':
        return this.delta({ type: 'signature_delta', signature: event.signature });
      case 'close':
        return sse('content_block_stop', { index: this.index });
      case 'end':
        return this.end();
      case 'usage':
      case 'stop':
        return '';
      default:
        return event satisfies never;
    }
  }

  answer(): object {
    return writeMessagesAnswer(this.whole.answer(), this.names);
  }

  private begin(): string {
    const { id, model } = this.names;
    const message = {
      ...{ id, type: 'message', role: 'assistant', model, content: [] },
      ...{ stop_reason: null, stop_sequence: null },
      usage: messagesUsage(this.whole.answer().usage),
    };
    return sse('message_start', { message });
  }

  private delta(delta: object): string {
    return sse('content_block_delta', { index: this.index, delta });
  }

  private end(): string {
    const { stop, stop_sequence, usage } = this.whole.answer();
    const delta = { stop_reason: REASONS[stop], stop_sequence: stop_sequence ?? null };
    return sse('message_delta', { delta, usage: messagesUsage(usage) }) + sse('message_stop', {});
  }
}

function opened(part: OpenedPart): object {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted':
      return { type: 'redacted_thinking', data: part.data };
    case 'call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} };
    default:
      return part satisfies never;
  }
}

function sse(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
