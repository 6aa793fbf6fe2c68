import type { EventSourceMessage } from 'eventsource-parser';
import type { EventFrame, StreamEvent, TextTemplate } from '../contract.ts';

/**
 * Parses a whole event and returns its public form, or undefined if clients must not see the event.
 */
export interface ProtocolReader {
  take(event: EventSourceMessage): StreamEvent | undefined;
}

/**
 * Consecutive deltas, merged into one event. A delta is an event with a piece of the answer's text.
 * The merged deltas differ only in this text.
 */
export interface DeltaRun {
  readonly event: StreamEvent;
  /** Position after the last merged delta. */
  readonly end: number;
}

/**
 * At most this many templates are learned for one answer. An answer with several choices or blocks
 * has several kinds of delta.
 */
const MAX_LEARNED_TEMPLATES = 4;
const FIRST_PRINTABLE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const NAME_AT_END = /"name"\s*:\s*"$/;
const PROBE_TEXT = 'template probe';

/**
 * Reads events without parsing them. Most events of a stream differ from the previous event in one
 * string: the produced text. Such an event is recognised by the bytes before and after the string.
 * Its public form is built from the public form of an earlier event.
 *
 * A template is the text before and after the string, in the event and in its public form. It is
 * used only after a test: the protocol must convert an event with another string into the public
 * event that the template predicts.
 */
export class DeltaTemplates {
  private eventName: string | undefined;
  /** The bytes before and after the text, if the stream has one `data` line per event. */
  private framePrefix = '';
  private frameSuffix = '';
  private sent: TextTemplate = { before: '', after: '' };
  private publicPrefix = '';
  private publicSuffix = '';
  private publicSeparator = '';
  /** Undefined if the text is the name of a tool: some providers repeat it, and two names are not one. */
  private frame: EventFrame | undefined;
  /** True if the latest event was a delta of the template. */
  private wasDelta = false;
  private learnedCount = 0;
  private hasTemplate = false;

  constructor(private readonly protocol: ProtocolReader) {}

  /**
   * Merges the events from position `at` that match the template. Returns undefined if the first
   * event does not match.
   */
  readRun(text: string, at: number): DeltaRun | undefined {
    if (!this.hasTemplate) return undefined;
    const pieces: string[] = [];
    let end = at;
    while (text.startsWith(this.framePrefix, end)) {
      const start = end + this.framePrefix.length;
      const quote = text.indexOf('"', start);
      if (!isPlain(text, start, quote) || !text.startsWith(this.frameSuffix, quote)) break;
      pieces.push(text.slice(start, quote));
      end = quote + this.frameSuffix.length;
    }
    if (pieces.length === 0) return undefined;
    // One join is twice as fast as appending to a string.
    const publicText = this.publicPrefix + pieces.join(this.publicSeparator) + this.publicSuffix;
    const produced = pieces.join('');
    const template = this.sent;
    const { frame, wasDelta: isSecond } = this;
    this.wasDelta = true;
    const event = { text: publicText, produced, final: false, template, pieces, frame, isSecond };
    return { event, end };
  }

  /** Reads one event. Uses the template if the event matches it, otherwise the protocol. */
  read(message: EventSourceMessage): StreamEvent | undefined {
    const produced = this.hasTemplate ? this.matchTemplate(message) : undefined;
    this.wasDelta = produced !== undefined;
    if (produced !== undefined) {
      const text = this.publicPrefix + produced + this.publicSuffix;
      return { text, produced, final: false, template: this.sent };
    }
    const event = this.protocol.take(message);
    // After the event that ends the answer, the same bytes can have another meaning.
    if (event?.final) this.hasTemplate = false;
    else if (event && event.produced !== '') this.learn(message, event);
    return event;
  }

  /** Returns the produced text if the event matches the template, otherwise undefined. */
  private matchTemplate({ event, data }: EventSourceMessage): string | undefined {
    if (
      event !== this.eventName ||
      !data.startsWith(this.sent.before) ||
      !data.endsWith(this.sent.after)
    ) {
      return undefined;
    }
    // If prefix and suffix overlap, the text is empty. An empty text is not plain, so the event
    // does not match.
    const produced = data.slice(this.sent.before.length, data.length - this.sent.after.length);
    return isPlain(produced) ? produced : undefined;
  }

  private learn(message: EventSourceMessage, { text, produced }: StreamEvent): void {
    if (this.learnedCount >= MAX_LEARNED_TEMPLATES || !isPlain(produced)) return;
    this.learnedCount += 1;
    const sent = splitAround(message.data, produced);
    const published = splitAround(text, produced);
    if (!sent || !published) return;
    const probe = this.protocol.take({
      id: undefined,
      event: message.event,
      data: sent.before + PROBE_TEXT + sent.after,
    });
    const expected = published.before + PROBE_TEXT + published.after;
    this.hasTemplate = probe?.text === expected && probe.produced === PROBE_TEXT && !probe.final;
    this.wasDelta = this.hasTemplate;
    this.eventName = message.event;
    this.sent = sent;
    this.publicPrefix = published.before;
    this.publicSuffix = published.after;
    const { before, after } = published;
    const isName = NAME_AT_END.test(before);
    this.frame = isName ? undefined : { before: before.length, after: after.length };
    this.publicSeparator = published.after + published.before;
    const name = message.event === undefined ? '' : `event: ${message.event}\n`;
    this.framePrefix = `${name}data: ${sent.before}`;
    this.frameSuffix = `${sent.after}\n\n`;
  }
}

/** True if this part of a text is not empty and needs no escape in JSON. */
function isPlain(text: string, start = 0, end = text.length): boolean {
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < FIRST_PRINTABLE || code === QUOTE || code === BACKSLASH) return false;
  }
  return start < end;
}

/**
 * Returns the text before and after the JSON string with this content. Returns undefined if no
 * string, or more than one string, has this content.
 */
function splitAround(json: string, content: string): TextTemplate | undefined {
  const at = json.indexOf(`"${content}"`);
  if (at < 0 || json.indexOf(`"${content}"`, at + 1) >= 0) return undefined;
  return { before: json.slice(0, at + 1), after: json.slice(at + 1 + content.length) };
}
