import type { EventSourceMessage } from 'eventsource-parser';
import type { StreamEvent } from '../contract.ts';

/** What makes of an event what it is by reading it whole. */
export interface Reader {
  take(event: EventSourceMessage): StreamEvent | undefined;
}

/** Events that differ in a word, as one, and where in the text they end. */
export interface DeltaRun {
  readonly event: StreamEvent;
  readonly end: number;
}

/** An answer of several choices or blocks has several kinds of delta; more are read whole. */
const MAX_LEARNED = 4;
const FIRST_PRINTABLE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const PROBE = 'template probe';

/**
 * Most events of a stream differ from the one before in a single string: the text that was produced.
 * Such an event is recognised by what stands around the string, and its public form is put together
 * from the last one's instead of being parsed, edited and searched again.
 *
 * A template is believed only after the dialect itself made the expected event of another text. Then
 * the two can differ in nothing but the string, since all of JSON around it is the same bytes.
 */
export class DeltaTemplates {
  private event: string | undefined;
  /** How the event begins and ends in a stream that is written as plainly as most are. */
  private frameBefore = '';
  private frameAfter = '';
  private before = '';
  private after = '';
  private publicBefore = '';
  private publicAfter = '';
  private publicBetween = '';
  private learned = 0;
  private isKnown = false;

  constructor(private readonly dialect: Reader) {}

  /** As many events as fit the template, from `at` on, where one begins; undefined = none does. */
  takeRun(text: string, at: number): DeltaRun | undefined {
    if (!this.isKnown) return undefined;
    const pieces: string[] = [];
    let end = at;
    while (text.startsWith(this.frameBefore, end)) {
      const start = end + this.frameBefore.length;
      const quote = text.indexOf('"', start);
      if (!isPlain(text, start, quote) || !text.startsWith(this.frameAfter, quote)) break;
      pieces.push(text.slice(start, quote));
      end = quote + this.frameAfter.length;
    }
    if (pieces.length === 0) return undefined;
    // Joined at once: twice as fast as a text that is added to.
    const shown = this.publicBefore + pieces.join(this.publicBetween) + this.publicAfter;
    return { event: { text: shown, produced: pieces.join(''), final: false }, end };
  }

  take(message: EventSourceMessage): StreamEvent | undefined {
    const produced = this.isKnown ? this.producedBy(message) : undefined;
    if (produced !== undefined) {
      return { text: this.publicBefore + produced + this.publicAfter, produced, final: false };
    }
    const taken = this.dialect.take(message);
    // After the finish the same bytes may mean something else.
    if (taken?.final) this.isKnown = false;
    else if (taken && taken.produced !== '') this.learn(message, taken);
    return taken;
  }

  /** The one string in which an event differs from the template; undefined = it differs in more. */
  private producedBy({ event, data }: EventSourceMessage): string | undefined {
    if (event !== this.event || !data.startsWith(this.before) || !data.endsWith(this.after)) {
      return undefined;
    }
    // Where the two ends overlap this is empty, and not plain.
    const produced = data.slice(this.before.length, data.length - this.after.length);
    return isPlain(produced) ? produced : undefined;
  }

  private learn(message: EventSourceMessage, { text, produced }: StreamEvent): void {
    if (this.learned >= MAX_LEARNED || !isPlain(produced)) return;
    this.learned += 1;
    const sent = splitAround(message.data, produced);
    const shown = splitAround(text, produced);
    if (!sent || !shown) return;
    const probe = this.dialect.take({ ...message, data: sent.before + PROBE + sent.after });
    const expected = shown.before + PROBE + shown.after;
    this.isKnown = probe?.text === expected && probe.produced === PROBE && !probe.final;
    this.event = message.event;
    this.before = sent.before;
    this.after = sent.after;
    this.publicBefore = shown.before;
    this.publicAfter = shown.after;
    this.publicBetween = shown.after + shown.before;
    const name = message.event === undefined ? '' : `event: ${message.event}\n`;
    this.frameBefore = `${name}data: ${sent.before}`;
    this.frameAfter = `${sent.after}\n\n`;
  }
}

/** True for a part of a text that is not empty, and that stands in JSON as it is. */
function isPlain(text: string, start = 0, end = text.length): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PRINTABLE || code === QUOTE || code === BACKSLASH) return false;
  }
  return start < end;
}

/** What stands around a JSON string with this content, if there is exactly one. */
function splitAround(json: string, content: string): { before: string; after: string } | undefined {
  const at = json.indexOf(`"${content}"`);
  if (at < 0 || json.indexOf(`"${content}"`, at + 1) >= 0) return undefined;
  return { before: json.slice(0, at + 1), after: json.slice(at + 1 + content.length) };
}
