import type { WeirError } from '../../errors/weir-error.ts';
import { responsesErrorEvents } from '../stream/error-events.ts';
import { Assembly } from './assembly.ts';
import type {
  AnswerNames,
  AssistantPart,
  NeutralEvent,
  OpenedPart,
  StreamWriter,
} from './neutral.ts';
import {
  contentOf,
  itemId,
  itemOf,
  type ResponseStatus,
  requestsSignatures,
  responseObject,
  statusOf,
  writeResponse,
} from './responses-answer.ts';
import { customInput, isCustomTool } from './responses-tools.ts';

/**
 * Converts neutral events to the server-sent events of a streamed response, as text. The first
 * `sequence_number` is 0, and each event has the next number.
 */
export class ResponsesWriter implements StreamWriter {
  private readonly assembly = new Assembly();
  private sequence_number = 0;
  /** The complete items that are not held back. */
  private readonly sentItems: object[] = [];
  /** The number of the first event that is held back. Undefined if no event is held back. */
  private held_number: number | undefined;
  /** Reasoning that has nothing to show yet. It becomes an item with its first text or signature. */
  private unshown: OpenedPart | undefined;
  private index = -1;
  private item_id = '';
  /** True while the open part is the call of a custom tool. Its text is sent when it is whole. */
  private isCustom = false;

  constructor(private readonly names: AnswerNames) {}

  write(event: NeutralEvent): string {
    const { openType } = this.assembly;
    this.assembly.add(event);
    switch (event.type) {
      case 'start': {
        const response = this.emptyResponse('in_progress');
        return (
          this.writeEvent('response.created', { response }) +
          this.writeEvent('response.in_progress', { response })
        );
      }
      case 'open':
        if (event.part.type !== 'reasoning') return this.writeOpen(event.part);
        this.unshown = event.part;
        return '';
      case 'delta':
        if (this.isCustom) return '';
        return this.writeUnshown() + this.writeDelta(openType ?? 'text', event.text);
      case 'close':
        if (!this.unshown) return this.writeClose();
        this.unshown = undefined;
        return '';
      case 'end':
        return this.writeEnd();
      case 'signature':
        return requestsSignatures(this.names) ? this.writeUnshown() : '';
      case 'usage':
      case 'stop':
        return '';
      default:
        return event satisfies never;
    }
  }

  holdBack(): void {
    this.held_number ??= this.sequence_number;
  }

  errorEvents(error: WeirError, request_id: string): string {
    const next = this.held_number ?? this.sequence_number;
    const response = responseObject(this.names, 'failed', this.sentItems, null);
    return responsesErrorEvents(error, request_id, next, response);
  }

  answer(): object {
    return writeResponse(this.assembly.answer(), this.names);
  }

  private emptyResponse(status: ResponseStatus): object {
    return responseObject(this.names, status, [], null);
  }

  private writeUnshown(): string {
    const part = this.unshown;
    this.unshown = undefined;
    return part ? this.writeOpen(part) : '';
  }

  private writeOpen(part: OpenedPart): string {
    this.index += 1;
    this.isCustom = part.type === 'call' && isCustomTool(this.names.request, part.name);
    this.item_id = itemId(this.names, part.type, this.index);
    const item = itemOf(emptyPart(part), this.item_id, this.names, 'in_progress');
    const added = this.writeEvent('response.output_item.added', { output_index: this.index, item });
    switch (part.type) {
      case 'text':
      case 'refusal':
        return (
          added +
          this.writeItemEvent('response.content_part.added', {
            content_index: 0,
            part: contentOf({ type: part.type, text: '' }),
          })
        );
      case 'reasoning':
        return (
          added +
          this.writeItemEvent('response.reasoning_summary_part.added', {
            summary_index: 0,
            part: { type: 'summary_text', text: '' },
          })
        );
      case 'redacted':
      case 'call':
        return added;
      default:
        return part satisfies never;
    }
  }

  private writeDelta(type: OpenedPart['type'], delta: string): string {
    switch (type) {
      case 'text':
        return this.writeItemEvent('response.output_text.delta', {
          content_index: 0,
          delta,
          logprobs: [],
        });
      case 'refusal':
        return this.writeItemEvent('response.refusal.delta', { content_index: 0, delta });
      case 'reasoning':
        return this.writeItemEvent('response.reasoning_summary_text.delta', {
          summary_index: 0,
          delta,
        });
      case 'call':
        return this.writeItemEvent('response.function_call_arguments.delta', { delta });
      case 'redacted':
        return '';
      default:
        return type satisfies never;
    }
  }

  private writeClose(): string {
    const part = this.assembly.answer().parts.at(-1);
    if (!part) return '';
    const item = itemOf(part, this.item_id, this.names);
    if (this.held_number === undefined) this.sentItems.push(item);
    return (
      this.writeDone(part) +
      this.writeEvent('response.output_item.done', { output_index: this.index, item })
    );
  }

  private writeDone(part: AssistantPart): string {
    switch (part.type) {
      case 'text':
        return (
          this.writeItemEvent('response.output_text.done', {
            content_index: 0,
            text: part.text,
            logprobs: [],
          }) +
          this.writeItemEvent('response.content_part.done', {
            content_index: 0,
            part: contentOf(part),
          })
        );
      case 'refusal':
        return (
          this.writeItemEvent('response.refusal.done', { content_index: 0, refusal: part.text }) +
          this.writeItemEvent('response.content_part.done', {
            content_index: 0,
            part: contentOf(part),
          })
        );
      case 'reasoning':
        if (part.redacted !== undefined) return '';
        return (
          this.writeItemEvent('response.reasoning_summary_text.done', {
            summary_index: 0,
            text: part.text,
          }) +
          this.writeItemEvent('response.reasoning_summary_part.done', {
            summary_index: 0,
            part: { type: 'summary_text', text: part.text },
          })
        );
      case 'call':
        if (this.isCustom) {
          this.isCustom = false;
          const input = customInput(part.arguments);
          return (
            this.writeItemEvent('response.custom_tool_call_input.delta', { delta: input }) +
            this.writeItemEvent('response.custom_tool_call_input.done', { input })
          );
        }
        return this.writeItemEvent('response.function_call_arguments.done', {
          name: part.name,
          arguments: part.arguments,
        });
      default:
        return part satisfies never;
    }
  }

  private writeEnd(): string {
    const [status] = statusOf(this.assembly.answer());
    return this.writeEvent(`response.${status}`, { response: this.answer() });
  }

  private writeItemEvent(type: string, members: object): string {
    return this.writeEvent(type, { item_id: this.item_id, output_index: this.index, ...members });
  }

  private writeEvent(type: string, members: object): string {
    const data = { type, sequence_number: this.sequence_number, ...members };
    this.sequence_number += 1;
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

function emptyPart(part: OpenedPart): AssistantPart {
  switch (part.type) {
    case 'call':
      return { type: 'call', id: part.id, name: part.name, arguments: '' };
    case 'redacted':
      return { type: 'reasoning', text: '', redacted: part.data };
    default:
      return { type: part.type, text: '' };
  }
}
