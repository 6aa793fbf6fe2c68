import type { EventSourceMessage } from 'eventsource-parser';
import type { StreamEvent } from './contract.ts';

/** What a dialect makes of an event by reading it whole. */
export type Take = (event: EventSourceMessage) => StreamEvent | undefined;

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
  private before = '';
  private after = '';
  private publicBefore = '';
  private publicAfter = '';
  private learned = 0;
  private isKnown = false;

  constructor(private readonly takeWhole: Take) {}

  take(message: EventSourceMessage): StreamEvent | undefined {
    const produced = this.isKnown ? this.producedBy(message) : undefined;
    if (produced !== undefined) {
      return { text: this.publicBefore + produced + this.publicAfter, produced, final: false };
    }
    const taken = this.takeWhole(message);
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
    const probe = this.takeWhole({ ...message, data: sent.before + PROBE + sent.after });
    const expected = shown.before + PROBE + shown.after;
    this.isKnown = probe?.text === expected && probe.produced === PROBE && !probe.final;
    this.event = message.event;
    this.before = sent.before;
    this.after = sent.after;
    this.publicBefore = shown.before;
    this.publicAfter = shown.after;
  }
}

/** True for text that stands in JSON as it is. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PRINTABLE || code === QUOTE || code === BACKSLASH) return false;
  }
  return text !== '';
}

/** What stands around a JSON string with this content, if there is exactly one. */
function splitAround(json: string, content: string): { before: string; after: string } | undefined {
  const at = json.indexOf(`"${content}"`);
  if (at < 0 || json.indexOf(`"${content}"`, at + 1) >= 0) return undefined;
  return { before: json.slice(0, at + 1), after: json.slice(at + 1 + content.length) };
}
