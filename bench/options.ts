/** The arguments of `bin/bench` for calls and for comparisons. */
import { parseArgs } from 'node:util';

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
  /** Seconds of one measurement. A pair measures each version twice. */
  seconds: number;
  connections: number;
  /** The largest median loss that passes, as a share: 0.02 is 2 %. */
  bound: number;
  /** True if both versions use the working tree's simulator. */
  one_simulator: boolean;
}

/** An argument that `bin/bench` does not accept. */
export class ArgumentError extends Error {}

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
type Values = Partial<Record<Name, string | boolean>>;

const OF_COMPARISON: Name[] = ['pairs', 'bound', 'one-simulator'];
const OF_CALLS: Name[] = ['rounds', 'short', 'no-write'];

/** @throws ArgumentError that names the argument. */
export function readOptions(args: string[]): CallOptions | AgainstOptions {
  const values = parse(args);
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
  if (values.against === '' || String(values.against).startsWith('-')) {
    throw new ArgumentError('--against needs a commit, for example --against HEAD.');
  }
  return {
    mode: 'against',
    commit: String(values.against),
    pairs: whole(values, 'pairs', 10),
    seconds: whole(values, 'seconds', 2),
    connections: connections(256),
    bound: percent(values, 'bound', 2),
    one_simulator: values['one-simulator'] === true,
  };
}

function parse(args: string[]): Values {
  try {
    return { ...parseArgs({ args, options: OPTIONS }).values };
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

function forbid(values: Values, names: Name[], why: string): void {
  const name = names.find((each) => values[each] !== undefined);
  if (name !== undefined) throw new ArgumentError(`--${name} ${why}.`);
}

/** Reads a positive whole number. wrk accepts whole seconds only. */
function whole(values: Values, name: Name, fallback: number): number {
  const text = values[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new ArgumentError(`--${name} must be a whole number of at least 1, not "${text}".`);
}

function percent(values: Values, name: Name, fallback: number): number {
  const text = values[name];
  const value = text === undefined ? fallback : Number(text === '' ? Number.NaN : text);
  if (value >= 0 && value <= 100) return value / 100;
  throw new ArgumentError(`--${name} must be a percentage from 0 to 100, not "${text}".`);
}
