/** Answers of Gemini's generateContent, read and written (Gemini API docs: GenerateContentResponse). */
import { isObject } from '../../json/object.ts';
import { geminiUsage, usageMetadata } from '../../protocols/gemini-usage.ts';
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
import { argumentsOf, listOrEmpty, type ReadonlyJsonObject } from './reading.ts';

const FILTERS = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'];
const REASONS: Record<StopReason, string> = {
  end: 'STOP',
  sequence: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
};

function stopOf(reason: unknown, hasCalls: boolean): StopReason {
  if (reason === 'MAX_TOKENS') return 'length';
  if (FILTERS.includes(String(reason))) return 'filter';
  return hasCalls ? 'calls' : 'end';
}

/** A prompt that was refused has no candidate, and says so. */
function blocked(answer: ReadonlyJsonObject): boolean {
  const feedback = answer['promptFeedback'];
  return isObject(feedback) && typeof feedback['blockReason'] === 'string';
}

export function readGeminiAnswer(answer: ReadonlyJsonObject, serial = false): NeutralAnswer {
  const reader = new GeminiReader(serial);
  const whole = new Assembly();
  const [candidate] = listOrEmpty(answer['candidates']);
  if (!isObject(candidate) && !blocked(answer)) {
    throw new RetryableUpstreamError('malformed', 'an answer without a candidate');
  }
  for (const event of reader.read(undefined, JSON.stringify(answer))) whole.take(event);
  return { ...whole.answer(), usage: geminiUsage(answer['usageMetadata']) };
}

/** Each chunk holds whole parts; text goes on from one to the next. */
export class GeminiReader implements StreamReader {
  private open: 'text' | 'reasoning' | undefined;
  private begun = false;
  private calls = 0;

  /** `serial`: the vendor cannot be told to call one tool at a time; what it calls beyond is left out. */
  constructor(private readonly serial = false) {}

  read(_: string | undefined, data: string): NeutralEvent[] {
    const chunk: unknown = JSON.parse(data);
    if (!isObject(chunk)) return [];
    const events: NeutralEvent[] = this.begun ? [] : [{ type: 'start' }];
    this.begun = true;
    const [candidate] = listOrEmpty(chunk['candidates']);
    const content = isObject(candidate) ? candidate['content'] : undefined;
    for (const part of listOrEmpty(isObject(content) ? content['parts'] : [])) {
      if (isObject(part)) events.push(...this.part(part));
    }
    const usage = geminiUsage(chunk['usageMetadata']);
    if (usage) events.push({ type: 'usage', usage });
    const reason = isObject(candidate) ? candidate['finishReason'] : undefined;
    if (typeof reason === 'string' || blocked(chunk)) {
      const stop = blocked(chunk) ? 'filter' : stopOf(reason, this.calls > 0);
      events.push(...this.close(), { type: 'stop', stop }, { type: 'end' });
    }
    return events;
  }

  private part(part: ReadonlyJsonObject): NeutralEvent[] {
    const call = part['functionCall'];
    if (isObject(call)) {
      this.calls += 1;
      if (this.serial && this.calls > 1) return [];
      const id =
        typeof call['id'] === 'string'
          ? call['id']
          : `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
      return [
        ...this.close(),
        { type: 'open', part: { type: 'call', id, name: String(call['name']) } },
        { type: 'delta', text: JSON.stringify(call['args'] ?? {}) },
        { type: 'close' },
      ];
    }
    const text = part['text'];
    if (typeof text !== 'string' || text === '') return [];
    const kind = part['thought'] === true ? 'reasoning' : 'text';
    const opened: NeutralEvent[] =
      this.open === kind ? [] : [...this.close(), { type: 'open', part: { type: kind } }];
    this.open = kind;
    return [...opened, { type: 'delta', text }];
  }

  private close(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }
}

export function writeGeminiAnswer(answer: NeutralAnswer, { id, model }: AnswerNames): object {
  return {
    candidates: [
      {
        content: { role: 'model', parts: answer.parts.flatMap(writePart) },
        finishReason: REASONS[answer.stop],
        index: 0,
      },
    ],
    ...(answer.usage ? { usageMetadata: usageMetadata(answer.usage) } : {}),
    modelVersion: model,
    responseId: id,
  };
}

function writePart(part: AssistantPart): object[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return part.text === '' ? [] : [{ text: part.text, thought: true }];
    case 'call': {
      const { id, name } = part;
      return [{ functionCall: { id, name, args: argumentsOf(part.arguments) } }];
    }
    default:
      return part satisfies never;
  }
}

/** A call goes out when its arguments are whole: the protocol has no pieces of them. */
export class GeminiWriter implements StreamWriter {
  private readonly whole = new Assembly();

  constructor(private readonly names: AnswerNames) {}

  write(event: NeutralEvent): string {
    const { open } = this.whole;
    this.whole.take(event);
    switch (event.type) {
      case 'delta':
        return open === 'call' ? '' : this.parts(open ?? 'text', event.text);
      case 'close': {
        const part = this.whole.answer().parts.at(-1);
        return part?.type === 'call' ? this.chunk({ content: content(writePart(part)) }) : '';
      }
      case 'end':
        return this.end();
      default:
        return '';
    }
  }

  answer(): object {
    return writeGeminiAnswer(this.whole.answer(), this.names);
  }

  private parts(open: OpenedPart['type'], text: string): string {
    const part = open === 'reasoning' ? { text, thought: true } : { text };
    return this.chunk({ content: content([part]) });
  }

  private end(): string {
    const { stop, usage } = this.whole.answer();
    const counted = usage ? { usageMetadata: usageMetadata(usage) } : {};
    return this.chunk({ content: content([]), finishReason: REASONS[stop] }, counted);
  }

  private chunk(candidate: object, rest: object = {}): string {
    const { id, model } = this.names;
    const chunk = {
      candidates: [{ ...candidate, index: 0 }],
      ...rest,
      modelVersion: model,
      responseId: id,
    };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }
}

function content(parts: readonly object[]): object {
  return { role: 'model', parts };
}
