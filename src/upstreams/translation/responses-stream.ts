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
  responseObject,
  statusOf,
  writeResponse,
} from './responses-answer.ts';

/** The events of a streamed response (contracts 1.3): numbered without gaps, each item in order. */
export class ResponsesWriter implements StreamWriter {
  private readonly whole = new Assembly();
  private sequence = 0;
  private index = -1;
  private id = '';

  constructor(private readonly names: AnswerNames) {}

  write(event: NeutralEvent): string {
    const { open } = this.whole;
    this.whole.take(event);
    switch (event.type) {
      case 'start': {
        const response = this.object('in_progress');
        return (
          this.sse('response.created', { response }) +
          this.sse('response.in_progress', { response })
        );
      }
      case 'open':
        return this.opened(event.part);
      case 'delta':
        return this.delta(open ?? 'text', event.text);
      case 'close':
        return this.closed();
      case 'end':
        return this.end();
      case 'signature':
      case 'usage':
      case 'stop':
        return '';
      default:
        return event satisfies never;
    }
  }

  answer(): object {
    return writeResponse(this.whole.answer(), this.names);
  }

  private object(status: ResponseStatus): object {
    return responseObject(this.names, status, [], null);
  }

  private opened(part: OpenedPart): string {
    this.index += 1;
    this.id = itemId(this.names, part.type, this.index);
    const item = itemOf(emptyPart(part), this.id, this.names, 'in_progress');
    const added = this.sse('response.output_item.added', { output_index: this.index, item });
    switch (part.type) {
      case 'text':
      case 'refusal':
        return (
          added +
          this.inItem('response.content_part.added', {
            content_index: 0,
            part: contentOf({ type: part.type, text: '' }),
          })
        );
      case 'reasoning':
        return (
          added +
          this.inItem('response.reasoning_summary_part.added', {
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

  private delta(open: OpenedPart['type'], delta: string): string {
    switch (open) {
      case 'text':
        return this.inItem('response.output_text.delta', { content_index: 0, delta, logprobs: [] });
      case 'refusal':
        return this.inItem('response.refusal.delta', { content_index: 0, delta });
      case 'reasoning':
        return this.inItem('response.reasoning_summary_text.delta', { summary_index: 0, delta });
      case 'call':
        return this.inItem('response.function_call_arguments.delta', { delta });
      case 'redacted':
        return '';
      default:
        return open satisfies never;
    }
  }

  private closed(): string {
    const part = this.whole.answer().parts.at(-1);
    if (!part) return '';
    const item = itemOf(part, this.id, this.names);
    return (
      this.done(part) + this.sse('response.output_item.done', { output_index: this.index, item })
    );
  }

  private done(part: AssistantPart): string {
    switch (part.type) {
      case 'text':
        return (
          this.inItem('response.output_text.done', {
            content_index: 0,
            text: part.text,
            logprobs: [],
          }) +
          this.inItem('response.content_part.done', { content_index: 0, part: contentOf(part) })
        );
      case 'refusal':
        return (
          this.inItem('response.refusal.done', { content_index: 0, refusal: part.text }) +
          this.inItem('response.content_part.done', { content_index: 0, part: contentOf(part) })
        );
      case 'reasoning':
        if (part.redacted !== undefined) return '';
        return (
          this.inItem('response.reasoning_summary_text.done', {
            summary_index: 0,
            text: part.text,
          }) +
          this.inItem('response.reasoning_summary_part.done', {
            summary_index: 0,
            part: { type: 'summary_text', text: part.text },
          })
        );
      case 'call':
        return this.inItem('response.function_call_arguments.done', {
          name: part.name,
          arguments: part.arguments,
        });
      default:
        return part satisfies never;
    }
  }

  private end(): string {
    const [status] = statusOf(this.whole.answer());
    return this.sse(`response.${status}`, { response: this.answer() });
  }

  private inItem(type: string, rest: object): string {
    return this.sse(type, { item_id: this.id, output_index: this.index, ...rest });
  }

  private sse(type: string, rest: object): string {
    const data = { type, sequence_number: this.sequence, ...rest };
    this.sequence += 1;
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
