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

  /** `text` is the text of the event for this client. */
  add(text: string, { produced, frame, isSecond }: StreamEvent): void {
    if (frame) {
      const { length } = this.text;
      const from = isSecond && length > 0 ? length - frame.after : length + frame.before;
      this.cuts ??= [];
      this.cuts.push({ from, until: length + text.length - frame.after, instead: produced });
    }
    this.text += text;
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
