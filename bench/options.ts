/** The arguments of `bin/bench` for calls and for comparisons. */
import {
  commitOf,
  forbid,
  parseOptions,
  percent,
  type Values,
  whole,
} from '../test/support/arguments.ts';

export interface CallOptions {
  mode: 'calls';
  rounds: number;
  /** Seconds of one measurement. */
  seconds: number;
  connections: number;
  /** True if the run checks answers and books, and writes no results. */
  short: boolean;
  write: boolean;
}

export interface AgainstOptions {
  mode: 'against';
  commit: string;
  pairs: number;
  /** Seconds for which a pair measures each version, twice for each start. */
  seconds: number;
  connections: number;
  /** The largest median loss that passes, as a share: 0.02 is 2 %. */
  bound: number;
  /** True if both versions use the working tree's simulator. */
  one_simulator: boolean;
}

const OPTIONS = {
  against: { type: 'string' },
  pairs: { type: 'string' },
  bound: { type: 'string' },
  'one-simulator': { type: 'boolean' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  connections: { type: 'string' },
  short: { type: 'boolean' },
  'no-write': { type: 'boolean' },
} as const;

type Name = keyof typeof OPTIONS;

const OF_COMPARISON: Name[] = ['pairs', 'bound', 'one-simulator'];
const OF_CALLS: Name[] = ['rounds', 'short', 'no-write'];

/** @throws ArgumentError that names the argument. */
export function readOptions(args: string[]): CallOptions | AgainstOptions {
  const values: Values<Name> = parseOptions(args, OPTIONS);
  const connections = (fallback: number) => whole(values, 'connections', fallback);
  if (values.against === undefined) {
    forbid(values, OF_COMPARISON, 'needs --against COMMIT');
    const short = values.short === true;
    return {
      mode: 'calls',
      rounds: whole(values, 'rounds', short ? 1 : 5),
      seconds: whole(values, 'seconds', short ? 1 : 3),
      connections: connections(short ? 32 : 256),
      short,
      write: !short && values['no-write'] !== true,
    };
  }
  forbid(values, OF_CALLS, 'does not go with --against');
  return {
    mode: 'against',
    commit: commitOf(values),
    pairs: whole(values, 'pairs', 10),
    seconds: whole(values, 'seconds', 2),
    connections: connections(256),
    bound: percent(values, 'bound', 2),
    one_simulator: values['one-simulator'] === true,
  };
}
