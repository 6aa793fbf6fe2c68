/** The arguments of `bin/bench web`. */
import { parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface WebOptions {
  readonly short: boolean;
  readonly write: boolean;
  /** Pairs of measurements with and without open dashboards. */
  readonly pairs: number;
  /** Length of one measurement, s: by default the time between two reads of a page. */
  readonly seconds: number;
  /** Open dashboards. */
  readonly dashboards: number;
  /** Events of the memory measurement; 3,600 are those of an hour. */
  readonly events: number;
  /** The largest median loss of throughput that passes, as a share. */
  readonly bound: number;
}

/** @throws ArgumentError that names the argument. */
export function readWebOptions(args: string[]): WebOptions {
  const values = parseOptions(args, {
    short: { type: 'boolean' },
    'no-write': { type: 'boolean' },
    pairs: { type: 'string' },
    seconds: { type: 'string' },
    dashboards: { type: 'string' },
    events: { type: 'string' },
    bound: { type: 'string' },
  });
  const short = values['short'] === true;
  return {
    short,
    write: !short && values['no-write'] !== true,
    pairs: whole(values, 'pairs', short ? 1 : 10),
    seconds: whole(values, 'seconds', short ? 1 : 20),
    dashboards: whole(values, 'dashboards', short ? 5 : 50),
    events: whole(values, 'events', short ? 20 : 3_600),
    bound: percent(values, 'bound', 3),
  };
}
