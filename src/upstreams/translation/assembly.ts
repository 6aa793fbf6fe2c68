import type { AnswerUsage } from '../../protocols/token-usage.ts';
import { GrownText } from '../stream/grown-text.ts';
import type {
  AssistantPart,
  NeutralAnswer,
  NeutralEvent,
  OpenedPart,
  StopReason,
} from './neutral.ts';

/** The whole answer out of the events of a stream. */
export class Assembly {
  private readonly parts: AssistantPart[] = [];
  private opened: OpenedPart | undefined;
  private text = new GrownText();
  private signature: string | undefined;
  private stop: StopReason = 'end';
  private stop_sequence: string | undefined;
  private usage: AnswerUsage | null = null;

  /** What is open now. */
  get open(): OpenedPart['type'] | undefined {
    return this.opened?.type;
  }

  take(event: NeutralEvent): void {
    switch (event.type) {
      case 'start':
      case 'end':
        break;
      case 'open':
        this.close();
        this.opened = event.part;
        break;
      case 'delta':
        this.text.add(event.text);
        break;
      case 'signature':
        this.signature = event.signature;
        break;
      case 'close':
        this.close();
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

  answer(): NeutralAnswer {
    const open = this.opened ? [partOf(this.opened, this.text.toString(), this.signature)] : [];
    return {
      parts: [...this.parts, ...open],
      stop: this.stop,
      ...(this.stop_sequence === undefined ? {} : { stop_sequence: this.stop_sequence }),
      usage: this.usage,
    };
  }

  private close(): void {
    if (!this.opened) return;
    this.parts.push(partOf(this.opened, this.text.toString(), this.signature));
    this.opened = undefined;
    this.text = new GrownText();
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
