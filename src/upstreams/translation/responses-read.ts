/** Reads answers of OpenAI responses (OpenAI docs: Responses). */
import { isObject } from '../../json/object.ts';
import { responsesUsage } from '../../protocols/responses-usage.ts';
import { possible } from '../../protocols/token-usage.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  OpenedPart,
  StopReason,
  StreamReader,
} from './neutral.ts';
import { listOrEmpty, type ReadonlyJsonObject } from './reading.ts';

/** Reads a whole answer. */
export function readResponsesAnswer(answer: ReadonlyJsonObject): NeutralAnswer {
  const parts = listOrEmpty(answer['output']).flatMap((item) =>
    isObject(item) ? partsOf(item) : [],
  );
  const stop = stopOf(
    answer,
    parts.some(({ type }) => type === 'call'),
  );
  return { parts, stop, usage: possible(responsesUsage(answer['usage'])) };
}

/**
 * Returns the parts of an item. The list is empty for an unknown item, e.g. the call of a tool that
 * the provider itself runs.
 */
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

/** Reads the events of a streamed response. OpenAI ends each part before it starts the next one. */
export class ResponsesReader implements StreamReader {
  private hasStarted = false;
  private open: OpenedPart['type'] | undefined;
  private hasCalls = false;

  read(event: ReadonlyJsonObject | null): NeutralEvent[] {
    if (!event) return [];
    const events: NeutralEvent[] = this.hasStarted ? [] : [{ type: 'start' }];
    this.hasStarted = true;
    switch (event['type']) {
      case 'response.output_item.added':
        return [...events, ...this.openCall(event['item'])];
      case 'response.content_part.added':
        return [...events, ...this.openPart(isRefusal(event) ? 'refusal' : 'text')];
      case 'response.reasoning_summary_part.added':
        return [...events, ...this.openSummary()];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
      case 'response.reasoning_summary_text.delta':
      case 'response.function_call_arguments.delta':
        return [...events, { type: 'delta', text: textIn(event, 'delta') }];
      case 'response.content_part.done':
      case 'response.output_item.done':
        return [...events, ...this.closePart()];
      case 'response.completed':
      case 'response.incomplete':
        return [...events, ...this.closePart(), ...this.readEnd(event['response'])];
      default:
        return events;
    }
  }

  private openCall(item: unknown): NeutralEvent[] {
    if (!isObject(item) || item['type'] !== 'function_call') return [];
    this.hasCalls = true;
    const part = { type: 'call' as const, id: textIn(item, 'call_id'), name: textIn(item, 'name') };
    this.open = 'call';
    return [{ type: 'open', part }];
  }

  private openPart(type: 'text' | 'refusal'): NeutralEvent[] {
    this.open = type;
    return [{ type: 'open', part: { type } }];
  }

  /**
   * OpenAI sends a summary of reasoning in several parts. They become one neutral reasoning part.
   * The first part of OpenAI opens the neutral part. Each later part adds a line break.
   */
  private openSummary(): NeutralEvent[] {
    if (this.open === 'reasoning') return [{ type: 'delta', text: '\n' }];
    this.open = 'reasoning';
    return [{ type: 'open', part: { type: 'reasoning' } }];
  }

  private closePart(): NeutralEvent[] {
    if (this.open === undefined) return [];
    this.open = undefined;
    return [{ type: 'close' }];
  }

  private readEnd(response: unknown): NeutralEvent[] {
    if (!isObject(response)) return [];
    const usage = possible(responsesUsage(response['usage']));
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
