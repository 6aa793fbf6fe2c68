/** Reads and writes answers of OpenAI chat completions. */

import { isObject, withoutUndefined } from '../../json/object.ts';
import { openaiUsage, writeOpenaiUsage } from '../../protocols/openai-usage.ts';
import { geminiSignature } from '../../protocols/signatures.ts';
import { possible } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { chatErrorEvents } from '../stream/error-events.ts';
import { Assembly } from './assembly.ts';
import { writeToolCall } from './chat-write.ts';
import { contentParts } from './content-parts.ts';
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
import { listOrEmpty, type ReadonlyJsonObject } from './reading.ts';
import { extraContent, readExtraContent, signatureIn } from './thought-signature.ts';

const STOPS: Record<string, StopReason> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filter',
  // The vendor broke the answer off: Mistral's context is full, or it failed (mistralai/platform-docs-public:
  // ChatCompletionChoice); DeepSeek had no capacity (api-docs.deepseek.com: Create chat completion).
  ...{ model_length: 'length', error: 'length', insufficient_system_resource: 'length' },
};
const REASONS: Record<StopReason, string> = {
  end: 'stop',
  sequence: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
};

/**
 * Returns the stop reason. If the request forced a tool by name, OpenAI sends `stop` after the tool
 * call (OpenAI docs: Function calling). So if the answer has tool calls, `calls` replaces `end`.
 */
function stopOf(reason: unknown, hasCalls: boolean): StopReason {
  const stop = STOPS[String(reason)] ?? 'end';
  return stop === 'end' && hasCalls ? 'calls' : stop;
}

/** Reads a whole answer. Throws RetryableUpstreamError if the answer has no message. */
export function readChatAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  const [choice] = listOrEmpty(answer['choices']);
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(choice) || !isObject(message)) {
    throw new RetryableUpstreamError('malformed', 'the answer has no message');
  }
  const parts: AssistantPart[] = [];
  const reasoning = message['reasoning_content'] ?? message['reasoning'];
  if (typeof reasoning === 'string' && reasoning !== '')
    parts.push({ type: 'reasoning', text: reasoning });
  const { content, refusal } = message;
  if (Array.isArray(content))
    parts.push(...contentParts(content).filter(({ text }) => text !== ''));
  if (typeof content === 'string' && content !== '') parts.push({ type: 'text', text: content });
  if (typeof refusal === 'string' && refusal !== '') parts.push({ type: 'refusal', text: refusal });
  for (const call of listOrEmpty(message['tool_calls'])) {
    const calledFunction = isObject(call) ? call['function'] : undefined;
    if (!isObject(call) || !isObject(calledFunction)) continue;
    parts.push(...readExtraContent(call), {
      type: 'call',
      id: String(call['id']),
      name: String(calledFunction['name']),
      arguments: String(calledFunction['arguments'] ?? ''),
    });
  }
  const hasCalls = parts.some(({ type }) => type === 'call');
  const stop = stopOf(choice['finish_reason'], hasCalls);
  return { parts, stop, usage: possible(openaiUsage(answer['usage'])) };
}

/** Returns the answer as a chat completion. */
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
        message: writeMessage(answer.parts),
        logprobs: null,
        finish_reason: REASONS[answer.stop],
      },
    ],
    ...(usage ? { usage: writeOpenaiUsage(usage) } : {}),
  };
}

function writeMessage(parts: readonly AssistantPart[]): object {
  const textOf = (type: 'text' | 'refusal' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.flatMap((part, at) =>
    part.type === 'call'
      ? [{ ...writeToolCall(part), ...extraContent(signatureIn(parts[at - 1])) }]
      : [],
  );
  const [content, refusal, reasoning] = [textOf('text'), textOf('refusal'), textOf('reasoning')];
  return withoutUndefined({
    role: 'assistant',
    content: content === '' ? null : content,
    refusal: refusal === '' ? null : refusal,
    // OpenAI's contract lacks this member, but other providers with this protocol send it.
    reasoning_content: reasoning === '' ? undefined : reasoning,
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

/**
 * Reads a stream of chat completion chunks. A part ends when the next part starts or the finish
 * reason arrives.
 */
export class ChatReader implements StreamReader {
  private open: 'text' | 'reasoning' | 'refusal' | number | undefined;
  private hasStarted = false;
  private hasCalls = false;

  read(chunk: ReadonlyJsonObject | null): NeutralEvent[] {
    if (!chunk) return [...this.closePart(), { type: 'end' }];
    const events: NeutralEvent[] = this.hasStarted ? [] : [{ type: 'start' }];
    this.hasStarted = true;
    const [choice] = listOrEmpty(chunk['choices']);
    if (isObject(choice)) {
      const { delta, finish_reason } = choice;
      if (isObject(delta)) events.push(...this.readDelta(delta));
      if (typeof finish_reason === 'string') {
        events.push(...this.closePart(), {
          type: 'stop',
          stop: stopOf(finish_reason, this.hasCalls),
        });
      }
    }
    const usage = possible(openaiUsage(chunk['usage']));
    if (usage) events.push({ type: 'usage', usage });
    return events;
  }

  /** Returns the events of a signature. It belongs to the reasoning before the call. */
  private sign(part: AssistantPart): NeutralEvent[] {
    if (part.type !== 'reasoning' || part.signature === undefined) return [];
    const opened =
      this.open === 'reasoning' ? [] : this.openPart('reasoning', { type: 'reasoning' });
    return [...opened, { type: 'signature', signature: part.signature }];
  }

  private readDelta(delta: ReadonlyJsonObject): NeutralEvent[] {
    const events: NeutralEvent[] = [];
    const addDelta = (kind: 'text' | 'reasoning' | 'refusal', text: unknown) => {
      if (typeof text !== 'string' || text === '') return;
      if (this.open !== kind) events.push(...this.openPart(kind, { type: kind }));
      events.push({ type: 'delta', text });
    };
    addDelta('reasoning', delta['reasoning_content'] ?? delta['reasoning']);
    const { content } = delta;
    if (Array.isArray(content))
      for (const { type, text } of contentParts(content)) addDelta(type, text);
    else addDelta('text', content);
    addDelta('refusal', delta['refusal']);
    for (const call of listOrEmpty(delta['tool_calls'])) {
      if (!isObject(call)) continue;
      const calledFunction = isObject(call['function']) ? call['function'] : {};
      this.hasCalls = true;
      const index = Number(call['index'] ?? 0);
      if (this.open !== index) {
        const [id, name] = [String(call['id'] ?? ''), String(calledFunction['name'] ?? '')];
        for (const part of readExtraContent(call)) events.push(...this.sign(part));
        events.push(...this.openPart(index, { type: 'call', id, name }));
      }
      const text = calledFunction['arguments'];
      if (typeof text === 'string' && text !== '') events.push({ type: 'delta', text });
    }
    return events;
  }

  private openPart(open: typeof this.open, part: OpenedPart): NeutralEvent[] {
    const closed = this.closePart();
    this.open = open;
    return [...closed, { type: 'open', part }];
  }

  private closePart(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }
}

const DELTAS = { text: 'content', reasoning: 'reasoning_content', refusal: 'refusal' } as const;

/** Converts neutral events to the server-sent events of a chat completion stream, as text. */
export class ChatWriter implements StreamWriter {
  readonly errorEvents = chatErrorEvents;
  private readonly assembly = new Assembly();
  private callCount = 0;
  /** Gemini's signature of the next call. */
  private signature: string | undefined;
  private readonly wantsUsage: boolean;

  constructor(private readonly names: AnswerNames) {
    const options = names.request['stream_options'];
    this.wantsUsage = isObject(options) && options['include_usage'] === true;
  }

  write(event: NeutralEvent): string {
    this.assembly.add(event);
    switch (event.type) {
      case 'start':
        return this.writeDelta({ role: 'assistant', content: '' });
      case 'open':
        return this.writeOpen(event.part);
      case 'delta':
        return this.writeText(event.text);
      case 'end':
        return this.writeEnd();
      case 'signature':
        this.signature = geminiSignature(event.signature);
        return '';
      case 'close':
      case 'usage':
      case 'stop':
        return '';
      default:
        return event satisfies never;
    }
  }

  answer(): object {
    return writeChatAnswer(this.assembly.answer(), this.names);
  }

  private writeOpen(part: OpenedPart): string {
    const extra = extraContent(this.signature);
    this.signature = undefined;
    if (part.type !== 'call') return '';
    const called = { name: part.name, arguments: '' };
    const call = { id: part.id, type: 'function', function: called, ...extra };
    const index = this.callCount;
    this.callCount += 1;
    return this.writeDelta({ tool_calls: [{ index, ...call }] });
  }

  private writeText(text: string): string {
    const type = this.assembly.openType;
    if (type === 'call') {
      return this.writeDelta({
        tool_calls: [{ index: this.callCount - 1, function: { arguments: text } }],
      });
    }
    return type && type in DELTAS ? this.writeDelta({ [DELTAS[type as 'text']]: text }) : '';
  }

  private writeEnd(): string {
    const { stop, usage } = this.assembly.answer();
    const finish = this.writeDelta({}, REASONS[stop]);
    const usageChunk =
      this.wantsUsage && usage
        ? this.writeChunk({ choices: [], usage: writeOpenaiUsage(usage) })
        : '';
    return `${finish}${usageChunk}data: [DONE]\n\n`;
  }

  private writeDelta(delta: object, finish_reason: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return this.writeChunk({ choices, ...(this.wantsUsage ? { usage: null } : {}) });
  }

  private writeChunk(members: object): string {
    const { id, created, model } = this.names;
    const chunk = { id, object: 'chat.completion.chunk', created, model, ...members };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}
