import type { AnswerUsage } from '../../protocols/token-usage.ts';
import { TextBuilder } from '../stream/grown-text.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  OpenedPart,
  StopReason,
} from './neutral.ts';

/** Builds the whole answer from the events of a stream. */
export class Assembly {
  private readonly parts: AssistantPart[] = [];
  private openPart: OpenedPart | undefined;
  private text = new TextBuilder();
  private signature: string | undefined;
  private stop: StopReason = 'end';
  private stop_sequence: string | undefined;
  private usage: AnswerUsage | null = null;

  /** Type of the open part; undefined if no part is open. */
  get openType(): OpenedPart['type'] | undefined {
    return this.openPart?.type;
  }

  add(event: NeutralEvent): void {
    switch (event.type) {
      case 'start':
      case 'end':
        break;
      case 'open':
        this.closePart();
        this.openPart = event.part;
        break;
      case 'delta':
        this.text.add(event.text);
        break;
      case 'signature':
        this.signature = event.signature;
        break;
      case 'close':
        this.closePart();
        break;
      case 'usage':
        this.usage = event.usage;
        break;
      case 'stop':
        this.stop = event.stop;
        this.stop_sequence = event.stop_sequence;
        break;
      default:
        event satisfies never;
    }
  }

  /** Returns the answer so far, including the open part. */
  answer(): NeutralAnswer {
    const unfinished = this.openPart
      ? [partOf(this.openPart, this.text.toString(), this.signature)]
      : [];
    return {
      parts: [...this.parts, ...unfinished],
      stop: this.stop,
      ...(this.stop_sequence === undefined ? {} : { stop_sequence: this.stop_sequence }),
      usage: this.usage,
    };
  }

  private closePart(): void {
    if (!this.openPart) return;
    this.parts.push(partOf(this.openPart, this.text.toString(), this.signature));
    this.openPart = undefined;
    this.text = new TextBuilder();
    this.signature = undefined;
  }
}

function partOf(part: OpenedPart, text: string, signature: string | undefined): AssistantPart {
  switch (part.type) {
    case 'call':
      return { type: 'call', id: part.id, name: part.name, arguments: text };
    case 'redacted':
      return { type: 'reasoning', text: '', redacted: part.data };
    case 'reasoning':
      return { type: 'reasoning', text, ...(signature === undefined ? {} : { signature }) };
    default:
      return { type: part.type, text };
  }
}
