/** The arguments of `bin/bench actors`. */
import { parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface ActorsOptions {
  readonly short: boolean;
  readonly write: boolean;
  /** Open event streams. */
  readonly watchers: number;
  /** Live actors: tasks that wait for their providers. */
  readonly actors: number;
  /** Pairs of measurements with and without watchers. */
  readonly pairs: number;
  /** Length of one measurement, s. */
  readonly seconds: number;
  /** How often each list is read. */
  readonly samples: number;
  /** The largest median loss of throughput that passes, as a share. */
  readonly bound: number;
}

/** @throws ArgumentError that names the argument. */
export function readActorsOptions(args: string[]): ActorsOptions {
  const values = parseOptions(args, {
    short: { type: 'boolean' },
    'no-write': { type: 'boolean' },
    watchers: { type: 'string' },
    actors: { type: 'string' },
    pairs: { type: 'string' },
    seconds: { type: 'string' },
    samples: { type: 'string' },
    bound: { type: 'string' },
  });
  const short = values['short'] === true;
  return {
    short,
    write: !short && values['no-write'] !== true,
    watchers: whole(values, 'watchers', short ? 2 : 5),
    actors: whole(values, 'actors', short ? 500 : 20_000),
    pairs: whole(values, 'pairs', short ? 1 : 10),
    seconds: whole(values, 'seconds', short ? 1 : 6),
    samples: whole(values, 'samples', short ? 2 : 30),
    bound: percent(values, 'bound', 3),
  };
}
