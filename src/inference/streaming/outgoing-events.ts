import type { StreamEvent } from '../../upstreams/contract.ts';

/** A part of the text that is left out of its short form, and what stands there instead. */
interface Cut {
  readonly from: number;
  readonly until: number;
  readonly instead: string;
}

/** The text of events that a client gets in one piece. */
export class OutgoingEvents {
  text = '';
  private cuts: Cut[] | undefined;
  /** True if the latest event was sent as the upstream's stream has it. Another text may end in another way. */
  private wasUnchanged = false;

  /** `text` is the text of the event for this client. */
  add(text: string, event: StreamEvent): void {
    const { produced, frame, isSecond } = event;
    if (frame) {
      const { length } = this.text;
      const from = isSecond && this.wasUnchanged ? length - frame.after : length + frame.before;
      this.cuts ??= [];
      this.cuts.push({ from, until: length + text.length - frame.after, instead: produced });
    }
    this.text += text;
    this.wasUnchanged = text === event.text;
  }

  /**
   * Returns the short form in pieces: merged deltas are one there (`StreamEvent.frame`). `sent` begins with the text of
   * these events. Nothing is copied, because the pieces are parts of what is sent.
   */
  shortForm(sent: string): readonly string[] {
    if (!this.cuts) return [sent];
    const pieces: string[] = [];
    let at = 0;
    for (const { from, until, instead } of this.cuts) {
      pieces.push(sent.slice(at, from), instead);
      at = until;
    }
    pieces.push(sent.slice(at));
    return pieces;
  }
}
