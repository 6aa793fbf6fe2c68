import type { ChartEvent, ChartNote } from './layout.ts';

/** A line of text in a chart. */
export interface ChartLine {
  /** The event, or `entry` or `exit`; empty on lines that continue another one. */
  readonly name: string;
  readonly rest: string;
  /** Index of the event or note that the line belongs to. */
  readonly of: number;
}

/** If a line had more characters than this, it goes on in the next one. */
const MAX_CHARACTERS = 28;

/**
 * Returns the lines of an arrow's label. Guards of the same event stand below it, one per line, in
 * the order in which they are tried.
 */
export function labelLines(events: readonly ChartEvent[]): ChartLine[] {
  return events.flatMap(({ event, guard, except }, of) => {
    const follows = events[of - 1]?.event === event;
    const is_followed = events[of + 1]?.event === event;
    const except_line = except.length === 0 ? [] : [`not in ${except.join(', ')}`];
    const more = [...(guard === '' ? [] : [`[${guard}]`]), ...except_line];
    const first = more.join(' ');
    const alone = !follows && !is_followed && event.length + 1 + first.length <= MAX_CHARACTERS;
    if (alone) return [{ name: event, rest: first === '' ? '' : ` ${first}`, of }];
    const head = follows ? [] : [{ name: event, rest: '', of }];
    return [...head, ...more.map((rest) => ({ name: '', rest: `  ${rest}`, of }))];
  });
}

/** Returns the lines of a box below its title. */
export function noteLines(notes: readonly ChartNote[]): ChartLine[] {
  return notes.flatMap(({ on, guard, actions }, of) => {
    const condition = guard === '' ? '' : ` [${guard}]`;
    const words =
      actions.length === 0
        ? ['ignored']
        : actions.map((each, at) => (at === actions.length - 1 ? each : `${each},`));
    const lines: { name: string; rest: string; of: number }[] = [
      { name: on, rest: `${condition}${actions.length === 0 ? '' : ' /'}`, of },
    ];
    for (const word of words) {
      const last = lines.at(-1);
      if (last && last.name.length + last.rest.length + 1 + word.length <= MAX_CHARACTERS) {
        last.rest += ` ${word}`;
      } else lines.push({ name: '', rest: `  ${word}`, of });
    }
    return lines;
  });
}
