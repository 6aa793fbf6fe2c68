/** Reads and writes answers of Anthropic messages. */
import { isObject } from '../../json/object.ts';
import {
  anthropicUsage,
  writeAnthropicDeltaUsage,
  writeAnthropicUsage,
} from '../../protocols/anthropic-usage.ts';
import { type AnswerUsage, possible } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { messagesErrorEvent } from '../stream/error-events.ts';
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
import { parseArguments, type ReadonlyJsonObject } from './reading.ts';

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

function readStop(source: ReadonlyJsonObject): Pick<NeutralAnswer, 'stop' | 'stop_sequence'> {
  const stop = STOPS[String(source['stop_reason'])] ?? 'end';
  const sequence = source['stop_sequence'];
  return { stop, ...(typeof sequence === 'string' ? { stop_sequence: sequence } : {}) };
}

/** Reads a whole answer. Throws RetryableUpstreamError if the answer has no content. */
export function readMessagesAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  if (!Array.isArray(answer['content'])) {
    throw new RetryableUpstreamError('malformed', 'the answer has no content');
  }
  const parts = answer['content'].flatMap((block) => (isObject(block) ? readBlock(block) : []));
  return { parts, ...readStop(answer), usage: possible(anthropicUsage(answer['usage'], null)) };
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

/** Returns the answer as a message. */
export function writeMessagesAnswer(answer: NeutralAnswer, { id, model }: AnswerNames): object {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: answer.parts.flatMap(writeBlock),
    stop_reason: REASONS[answer.stop],
    stop_sequence: answer.stop_sequence ?? null,
    ...UNUSED_MEMBERS,
    diagnostics: null,
    usage: writeAnthropicUsage(answer.usage),
  };
}

/**
 * Members that Anthropic's types require of a message and of its end. They are about features that
 * no translated call has. Strict clients, e.g. anthropic-java, fail without them.
 */
const UNUSED_MEMBERS = { container: null, stop_details: null };
/** Who called a tool: always the model itself, because no translated call runs code. */
const CALLER = { type: 'direct' };

function writeBlock(part: AssistantPart): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, citations: null }];
    case 'reasoning':
      return part.redacted === undefined
        ? [{ type: 'thinking', thinking: part.text, signature: part.signature ?? '' }]
        : [{ type: 'redacted_thinking', data: part.redacted }];
    case 'call': {
      const { id, name } = part;
      const input = parseArguments(part.arguments);
      return [{ type: 'tool_use', id, caller: CALLER, name, input }];
    }
    default:
      return part satisfies never;
  }
}

/** Reads the events of a streamed message. */
export class MessagesReader implements StreamReader {
  private usage: AnswerUsage | null = null;
  /** True inside a block that other protocols do not have, e.g. a web search of the provider. */
  private isSkipping = false;

  read(event: ReadonlyJsonObject | null): NeutralEvent[] {
    if (!event) return [];
    switch (event['type']) {
      case 'message_start':
        return [{ type: 'start' }, ...this.readUsage(event['message'])];
      case 'content_block_start': {
        const { content_block: block } = event;
        this.isSkipping = !isObject(block) || !OPENED_BLOCKS.includes(String(block['type']));
        return isObject(block) ? openEvents(block) : [];
      }
      case 'content_block_delta':
        return isObject(event['delta']) && !this.isSkipping ? deltaEvents(event['delta']) : [];
      case 'content_block_stop': {
        const wasSkipping = this.isSkipping;
        this.isSkipping = false;
        return wasSkipping ? [] : [{ type: 'close' }];
      }
      case 'message_delta': {
        const delta = event['delta'];
        const stop =
          isObject(delta) && delta['stop_reason']
            ? [{ type: 'stop', ...readStop(delta) } as const]
            : [];
        return [...stop, ...this.readUsage(event)];
      }
      case 'message_stop':
        return [{ type: 'end' }];
      default:
        return [];
    }
  }

  private readUsage(source: unknown): NeutralEvent[] {
    if (isObject(source)) this.usage = possible(anthropicUsage(source['usage'], this.usage));
    return this.usage ? [{ type: 'usage', usage: this.usage }] : [];
  }
}

const OPENED_BLOCKS = ['text', 'thinking', 'redacted_thinking', 'tool_use'];

function openEvents(block: ReadonlyJsonObject): NeutralEvent[] {
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

function deltaEvents(delta: ReadonlyJsonObject): NeutralEvent[] {
  if (typeof delta['signature'] === 'string') {
    return [{ type: 'signature', signature: delta['signature'] }];
  }
  const text = delta['text'] ?? delta['thinking'] ?? delta['partial_json'];
  return typeof text === 'string' && text !== '' ? [{ type: 'delta', text }] : [];
}

const DELTAS: Record<OpenedPart['type'], [type: string, member: string]> = {
  text: ['text_delta', 'text'],
  refusal: ['text_delta', 'text'],
  reasoning: ['thinking_delta', 'thinking'],
  redacted: ['text_delta', 'text'],
  call: ['input_json_delta', 'partial_json'],
};

/** Converts neutral events to the server-sent events of a streamed message, as text. */
export class MessagesWriter implements StreamWriter {
  readonly errorEvents = messagesErrorEvent;
  private readonly assembly = new Assembly();
  private index = -1;

  constructor(private readonly names: AnswerNames) {}

  write(event: NeutralEvent): string {
    const { openType } = this.assembly;
    this.assembly.add(event);
    switch (event.type) {
      case 'start':
        return this.writeStart();
      case 'open':
        this.index += 1;
        return formatEvent('content_block_start', {
          index: this.index,
          content_block: emptyBlock(event.part),
        });
      case 'delta': {
        const [type, member] = DELTAS[openType ?? 'text'];
        return this.writeDelta({ type, [member]: event.text });
      }
      case 'signature':
        return this.writeDelta({ type: 'signature_delta', signature: event.signature });
      case 'close':
        return formatEvent('content_block_stop', { index: this.index });
      case 'end':
        return this.writeEnd();
      case 'usage':
      case 'stop':
        return '';
      default:
        return event satisfies never;
    }
  }

  answer(): object {
    return writeMessagesAnswer(this.assembly.answer(), this.names);
  }

  private writeStart(): string {
    const { id, model } = this.names;
    const message = {
      ...{ id, type: 'message', role: 'assistant', model, content: [] },
      ...{ stop_reason: null, stop_sequence: null, ...UNUSED_MEMBERS, diagnostics: null },
      usage: writeAnthropicUsage(this.assembly.answer().usage),
    };
    return formatEvent('message_start', { message });
  }

  private writeDelta(delta: object): string {
    return formatEvent('content_block_delta', { index: this.index, delta });
  }

  private writeEnd(): string {
    const { stop, stop_sequence, usage } = this.assembly.answer();
    const stopped = { stop_reason: REASONS[stop], stop_sequence: stop_sequence ?? null };
    const delta = { ...stopped, ...UNUSED_MEMBERS };
    return (
      formatEvent('message_delta', { delta, usage: writeAnthropicDeltaUsage(usage) }) +
      formatEvent('message_stop', {})
    );
  }
}

function emptyBlock(part: OpenedPart): object {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '', citations: null };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted':
      return { type: 'redacted_thinking', data: part.data };
    case 'call':
      return { type: 'tool_use', id: part.id, caller: CALLER, name: part.name, input: {} };
    default:
      return part satisfies never;
  }
}

function formatEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
