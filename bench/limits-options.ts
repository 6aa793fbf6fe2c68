/** The arguments of `bin/bench limits`. */
import { parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface LimitsOptions {
  readonly pairs: number;
  /** Length of one measurement, s. A pair measures each key four times, for plain calls and for streams. */
  readonly seconds: number;
  readonly connections: number;
  /** The largest median loss of rate, and the largest median rise of CPU time, that passes, as a share. */
  readonly bound: number;
  /** True if the limits are counted in Redis. */
  readonly redis: boolean;
  /** True if the run checks answers and budgets, but not speed. */
  readonly short: boolean;
  readonly write: boolean;
}

/** @throws ArgumentError that names the argument. */
export function readLimitsOptions(args: string[]): LimitsOptions {
  const values = parseOptions(args, {
    pairs: { type: 'string' },
    seconds: { type: 'string' },
    connections: { type: 'string' },
    bound: { type: 'string' },
    redis: { type: 'boolean' },
    short: { type: 'boolean' },
    'no-write': { type: 'boolean' },
  });
  const short = values.short === true;
  return {
    pairs: whole(values, 'pairs', short ? 1 : 10),
    seconds: whole(values, 'seconds', 1),
    connections: whole(values, 'connections', short ? 32 : 256),
    bound: percent(values, 'bound', 5),
    redis: values.redis === true,
    short,
    write: !short && values['no-write'] !== true,
  };
}
