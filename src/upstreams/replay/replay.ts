/**
 * An answer that a client got is sent again to another client of the same protocol: whole, or as a
 * stream, whichever of both it was. All functions read and write what clients see.
 */
import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';

export type AnswerObject = Readonly<Record<string, unknown>>;

/** How the answers of one protocol are sent again. */
export interface AnswerReplay {
  /** The name of the member with the answer's own id. */
  readonly id: string;
  /** Returns the whole answer of a complete stream; undefined if the events do not make one. */
  assemble(events: readonly AnswerObject[]): Record<string, unknown> | undefined;
  /** Returns the ids of tool calls and items. */
  ids(answer: AnswerObject): unknown[];
  /** Returns the text of the events of a stream with the whole answer. */
  stream(answer: AnswerObject, request: AnswerObject): string;
  /** Returns what of a request decides which events its stream has; missing = nothing does. */
  form?(request: AnswerObject): string;
  /** Returns the members that repeat what the request says and what its answer does not depend on. */
  echo?(answer: AnswerObject, request: AnswerObject): Readonly<Record<string, string | null>>;
}

const DATA = 'data: ';

/** Returns the values of the events in a text that Weir wrote, without the end mark `[DONE]`. */
export function eventsIn(text: string): AnswerObject[] {
  const values: AnswerObject[] = [];
  for (const event of text.split('\n\n')) {
    const at = event.startsWith(DATA) ? 0 : event.indexOf(`\n${DATA}`) + 1;
    if (!event.startsWith(DATA, at)) continue;
    const data = event.slice(at + DATA.length);
    if (data === '[DONE]') continue;
    const value = parseExact(data);
    if (isObject(value)) values.push(value);
  }
  return values;
}

/** Returns the text of an event without a name. */
export const plainEvent = (data: object) => `${DATA}${JSON.stringify(data)}\n\n`;

/** Returns the text of an event whose name is also its type. */
export function namedEvent(type: string, data: object): string {
  return `event: ${type}\n${DATA}${JSON.stringify({ type, ...data })}\n\n`;
}

/** Returns the objects of a list; none if the value is no list. */
export function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the object without the named members. */
export function without(
  object: AnswerObject,
  ...names: readonly string[]
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
