/** Answers of OpenAI responses, read (OpenAI docs: Responses; contracts 1.3). */
import { isObject } from '../../json/object.ts';
import { responsesUsage } from '../../protocols/responses-usage.ts';
import type { AnswerUsage } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  OpenedPart,
  StopReason,
  StreamReader,
} from './neutral.ts';
import { listOrEmpty, type ReadonlyJsonObject } from './reading.ts';

export function readResponsesAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  const parts = listOrEmpty(answer['output']).flatMap((item) =>
    isObject(item) ? partsOf(item) : [],
  );
  const stop = stopOf(
    answer,
    parts.some(({ type }) => type === 'call'),
  );
  return { parts, stop, usage: usageIn(answer['usage']) };
}

/** The parts of an item; items of tools that the vendor runs itself are none of the answer's. */
function partsOf(item: ReadonlyJsonObject): AssistantPart[] {
  switch (item['type']) {
    case 'message':
      return listOrEmpty(item['content']).flatMap((part): AssistantPart[] => {
        if (!isObject(part)) return [];
        if (part['type'] === 'refusal') return [{ type: 'refusal', text: textIn(part, 'refusal') }];
        return [{ type: 'text', text: textIn(part, 'text') }];
      });
    case 'reasoning': {
      const text = listOrEmpty(item['summary'])
        .map((part) => (isObject(part) ? textIn(part, 'text') : ''))
        .join('\n');
      return text === '' ? [] : [{ type: 'reasoning', text }];
    }
    case 'function_call':
      return [
        {
          type: 'call',
          id: textIn(item, 'call_id'),
          name: textIn(item, 'name'),
          arguments: textIn(item, 'arguments'),
        },
      ];
    default:
      return [];
  }
}

const textIn = (value: ReadonlyJsonObject, key: string) =>
  typeof value[key] === 'string' ? value[key] : '';

function stopOf(answer: ReadonlyJsonObject, hasCalls: boolean): StopReason {
  const details = answer['incomplete_details'];
  const reason = isObject(details) ? details['reason'] : undefined;
  if (answer['status'] === 'incomplete') return reason === 'content_filter' ? 'filter' : 'length';
  return hasCalls ? 'calls' : 'end';
}

function usageIn(value: unknown): AnswerUsage | null {
  const usage = responsesUsage(value);
  if (!usage || !isObject(value)) return null;
  const details = value['output_tokens_details'];
  const reasoning = isObject(details) ? details['reasoning_tokens'] : undefined;
  return typeof reasoning === 'number' ? { ...usage, reasoning_tokens: reasoning } : usage;
}

/** The events of a stream: each part opens, comes in deltas, and closes before the next. */
export class ResponsesReader implements StreamReader {
  private started = false;
  private open: OpenedPart['type'] | undefined;
  private hasCalls = false;

  read(_: string | undefined, data: string): NeutralEvent[] {
    const event: unknown = JSON.parse(data);
    if (!isObject(event))
      throw new RetryableUpstreamError('malformed', 'an event that is no object');
    const events: NeutralEvent[] = this.started ? [] : [{ type: 'start' }];
    this.started = true;
    switch (event['type']) {
      case 'response.output_item.added':
        return [...events, ...this.added(event['item'])];
      case 'response.content_part.added':
        return [...events, ...this.opened(isRefusal(event) ? 'refusal' : 'text')];
      case 'response.reasoning_summary_part.added':
        return [...events, ...this.summary()];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_summary_text.delta':
      case 'response.function_call_arguments.delta':
        return [...events, { type: 'delta', text: textIn(event, 'delta') }];
      case 'response.content_part.done':
      case 'response.output_item.done':
        return [...events, ...this.closed()];
      case 'response.completed':
      case 'response.incomplete':
        return [...events, ...this.closed(), ...this.ended(event['response'])];
      default:
        return events;
    }
  }

  private added(item: unknown): NeutralEvent[] {
    if (!isObject(item) || item['type'] !== 'function_call') return [];
    this.hasCalls = true;
    const part = { type: 'call' as const, id: textIn(item, 'call_id'), name: textIn(item, 'name') };
    this.open = 'call';
    return [{ type: 'open', part }];
  }

  private opened(type: 'text' | 'refusal'): NeutralEvent[] {
    this.open = type;
    return [{ type: 'open', part: { type } }];
  }

  /** All parts of a summary are one thought. */
  private summary(): NeutralEvent[] {
    if (this.open === 'reasoning') return [{ type: 'delta', text: '\n' }];
    this.open = 'reasoning';
    return [{ type: 'open', part: { type: 'reasoning' } }];
  }

  private closed(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }

  private ended(response: unknown): NeutralEvent[] {
    if (!isObject(response)) return [];
    const usage = usageIn(response['usage']);
    return [
      ...(usage ? [{ type: 'usage' as const, usage }] : []),
      { type: 'stop', stop: stopOf(response, this.hasCalls) },
      { type: 'end' },
    ];
  }
}

function isRefusal(event: ReadonlyJsonObject): boolean {
  const part = event['part'];
  return isObject(part) && part['type'] === 'refusal';
}
