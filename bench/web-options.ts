/** The arguments of `bin/bench web`. */
import { forbid, parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface WebOptions {
  readonly short: boolean;
  readonly write: boolean;
  /** True: measures the build and the pages, and nothing else. */
  readonly only_pages: boolean;
  /** How often each page is measured. The figures are medians. */
  readonly rounds: number;
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

const NOT_OF_PAGES = ['pairs', 'seconds', 'dashboards', 'events', 'bound'] as const;

/** @throws ArgumentError that names the argument. */
export function readWebOptions(args: string[]): WebOptions {
  const values = parseOptions(args, {
    short: { type: 'boolean' },
    'no-write': { type: 'boolean' },
    'only-pages': { type: 'boolean' },
    rounds: { type: 'string' },
    pairs: { type: 'string' },
    seconds: { type: 'string' },
    dashboards: { type: 'string' },
    events: { type: 'string' },
    bound: { type: 'string' },
  });
  const short = values['short'] === true;
  const only_pages = values['only-pages'] === true;
  if (only_pages) forbid(values, NOT_OF_PAGES, 'measures nothing with --only-pages');
  return {
    short,
    write: !short && !only_pages && values['no-write'] !== true,
    only_pages,
    rounds: whole(values, 'rounds', 1),
    pairs: whole(values, 'pairs', short ? 1 : 10),
    seconds: whole(values, 'seconds', short ? 1 : 20),
    dashboards: whole(values, 'dashboards', short ? 5 : 50),
    events: whole(values, 'events', short ? 20 : 3_600),
    bound: percent(values, 'bound', 3),
  };
}
