/**
 * Reads and writes answers of Gemini's generateContent (Gemini API docs: GenerateContentResponse).
 */
import { isObject } from '../../json/object.ts';
import { geminiUsage, usageMetadata } from '../../protocols/gemini-usage.ts';
import { possible } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import { geminiErrorEvent } from '../stream/error-events.ts';
import { Assembly } from './assembly.ts';
import { wantsWord, wordIn } from './gemini-format.ts';
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
import { listOrEmpty, parseArguments, type ReadonlyJsonObject } from './reading.ts';
import { signatureOfPart } from './thought-signature.ts';

const FILTER_REASONS = [
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
];
/** The model tried to call a tool, and nothing of the call is in the answer. */
const BROKEN_CALL_REASONS = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
];
const REASONS: Record<StopReason, string> = {
  end: 'STOP',
  sequence: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
};

function stopOf(reason: unknown, hasCalls: boolean): StopReason {
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTER_REASONS.includes(String(reason))) return 'filter';
  return hasCalls ? 'calls' : 'end';
}

/** True if the prompt was blocked. Then the answer has no candidate. */
function isBlocked(answer: ReadonlyJsonObject): boolean {
  const feedback = answer['promptFeedback'];
  return isObject(feedback) && typeof feedback['blockReason'] === 'string';
}

/**
 * Reads a whole answer. Throws RetryableUpstreamError if the answer has no candidate although the
 * prompt was not blocked.
 */
export function readGeminiAnswer(answer: ReadonlyJsonObject, isSerial = false): NeutralAnswer {
  const reader = new GeminiReader(isSerial);
  const assembly = new Assembly();
  const [candidate] = listOrEmpty(answer['candidates']);
  if (!isObject(candidate) && !isBlocked(answer)) {
    throw new RetryableUpstreamError('malformed', 'the answer has no candidate');
  }
  for (const event of reader.read(answer)) assembly.add(event);
  return { ...assembly.answer(), usage: possible(geminiUsage(answer['usageMetadata'])) };
}

/**
 * Reads a stream of Gemini. Gemini never cuts a part between two chunks. Consecutive texts become
 * one neutral part. Consecutive texts of reasoning also become one neutral part.
 */
export class GeminiReader implements StreamReader {
  private open: 'text' | 'reasoning' | undefined;
  private hasStarted = false;
  private callCount = 0;

  /**
   * `isSerial` is true if the client allows only one tool call in an answer. Gemini has no
   * parameter for this, so the reader drops all calls after the first.
   */
  constructor(private readonly isSerial = false) {}

  read(chunk: ReadonlyJsonObject | null): NeutralEvent[] {
    if (!chunk) return [];
    const events: NeutralEvent[] = this.hasStarted ? [] : [{ type: 'start' }];
    this.hasStarted = true;
    const [candidate] = listOrEmpty(chunk['candidates']);
    const content = isObject(candidate) ? candidate['content'] : undefined;
    for (const part of listOrEmpty(isObject(content) ? content['parts'] : [])) {
      if (isObject(part)) events.push(...this.readPart(part));
    }
    const usage = possible(geminiUsage(chunk['usageMetadata']));
    if (usage) events.push({ type: 'usage', usage });
    const reason = isObject(candidate) ? candidate['finishReason'] : undefined;
    // A stop without the call would look like a complete answer.
    if (BROKEN_CALL_REASONS.includes(String(reason)) && this.callCount === 0) {
      throw new RetryableUpstreamError('malformed', `the answer ended with ${String(reason)}`);
    }
    if (typeof reason === 'string' || isBlocked(chunk)) {
      const stop = isBlocked(chunk) ? 'filter' : stopOf(reason, this.callCount > 0);
      events.push(...this.closePart(), { type: 'stop', stop }, { type: 'end' });
    }
    return events;
  }

  private readPart(part: ReadonlyJsonObject): NeutralEvent[] {
    const call = part['functionCall'];
    if (isObject(call)) {
      this.callCount += 1;
      if (this.isSerial && this.callCount > 1) return [];
      const id =
        typeof call['id'] === 'string'
          ? call['id']
          : `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
      return [
        ...this.sign(signatureOfPart(part)),
        { type: 'open', part: { type: 'call', id, name: String(call['name']) } },
        { type: 'delta', text: JSON.stringify(call['args'] ?? {}) },
        { type: 'close' },
      ];
    }
    const text = part['text'];
    if (typeof text !== 'string' || text === '') return [];
    const kind = part['thought'] === true ? 'reasoning' : 'text';
    const opened: NeutralEvent[] =
      this.open === kind ? [] : [...this.closePart(), { type: 'open', part: { type: kind } }];
    this.open = kind;
    return [...opened, { type: 'delta', text }];
  }

  /** Closes the open part. The signature of a call becomes that of the reasoning before it. */
  private sign(signature: string | undefined): NeutralEvent[] {
    if (signature === undefined) return this.closePart();
    const opened: NeutralEvent[] =
      this.open === 'reasoning'
        ? []
        : [...this.closePart(), { type: 'open', part: { type: 'reasoning' } }];
    this.open = 'reasoning';
    return [...opened, { type: 'signature', signature }, ...this.closePart()];
  }

  private closePart(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }
}

/** Returns the answer as a GenerateContentResponse. */
export function writeGeminiAnswer(answer: NeutralAnswer, names: AnswerNames): object {
  const { id, model, request } = names;
  const textOf = wantsWord(request) ? wordIn : asIs;
  return {
    candidates: [
      {
        content: modelContent(answer.parts.flatMap((part) => writePart(part, textOf))),
        finishReason: REASONS[answer.stop],
        index: 0,
      },
    ],
    ...(answer.usage ? { usageMetadata: usageMetadata(answer.usage) } : {}),
    modelVersion: model,
    responseId: id,
  };
}

const asIs = (text: string) => text;

function writePart(part: AssistantPart, textOf: (text: string) => string): object[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: textOf(part.text) }];
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return part.text === '' ? [] : [{ text: part.text, thought: true }];
    case 'call': {
      const { id, name } = part;
      return [{ functionCall: { id, name, args: parseArguments(part.arguments) } }];
    }
    default:
      return part satisfies never;
  }
}

/**
 * Converts neutral events to the server-sent events of a Gemini stream, as text. A tool call is
 * written when it is complete, because Gemini cannot stream arguments in deltas.
 */
export class GeminiWriter implements StreamWriter {
  readonly errorEvents = geminiErrorEvent;
  private readonly assembly = new Assembly();
  /** True if the answer is one word. It is written when it is complete, without its JSON. */
  private readonly isWord: boolean;

  constructor(private readonly names: AnswerNames) {
    this.isWord = wantsWord(names.request);
  }

  write(event: NeutralEvent): string {
    const { openType } = this.assembly;
    this.assembly.add(event);
    switch (event.type) {
      case 'delta':
        return this.isHeld(openType) ? '' : this.writeText(openType ?? 'text', event.text);
      case 'close': {
        const part = this.assembly.answer().parts.at(-1);
        return part && this.isHeld(part.type)
          ? this.writeChunk({ content: modelContent(writePart(part, wordIn)) })
          : '';
      }
      case 'end':
        return this.writeEnd();
      default:
        return '';
    }
  }

  answer(): object {
    return writeGeminiAnswer(this.assembly.answer(), this.names);
  }

  /** True for a part that is written only when it is complete. */
  private isHeld(type: OpenedPart['type'] | undefined): boolean {
    return type === 'call' || (type === 'text' && this.isWord);
  }

  private writeText(type: OpenedPart['type'], text: string): string {
    const part = type === 'reasoning' ? { text, thought: true } : { text };
    return this.writeChunk({ content: modelContent([part]) });
  }

  private writeEnd(): string {
    const { stop, usage } = this.assembly.answer();
    const usageMember = usage ? { usageMetadata: usageMetadata(usage) } : {};
    return this.writeChunk({ content: modelContent([]), finishReason: REASONS[stop] }, usageMember);
  }

  private writeChunk(candidate: object, members: object = {}): string {
    const { id, model } = this.names;
    const chunk = {
      candidates: [{ ...candidate, index: 0 }],
      ...members,
      modelVersion: model,
      responseId: id,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

/**
 * Returns content with at least one part. Google's SDKs treat content without parts as invalid: a
 * chat then forgets the whole turn (@google/genai 3.1.0, dist/index.mjs: isValidContent).
 */
function modelContent(parts: readonly object[]): object {
  return { role: 'model', parts: parts.length > 0 ? parts : [{ text: '' }] };
}
