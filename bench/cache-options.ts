/** The arguments of `bin/bench cache`. */
import { forbid, parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface CacheSpeedOptions {
  readonly mode: 'hits';
  readonly rounds: number;
  /** Length of one measurement, s. */
  readonly seconds: number;
  readonly connections: number;
  /** Calls of the replayed trace. */
  readonly trace: number;
  /** Identical calls that are sent at once. */
  readonly herd: number;
  /** True if the run checks answers, records and counts, but not speed. */
  readonly short: boolean;
  readonly write: boolean;
}

export interface CachePairsOptions {
  readonly mode: 'pairs';
  readonly pairs: number;
  /** How long a pair measures each side, twice for each start, s. */
  readonly seconds: number;
  readonly connections: number;
  /** The largest median loss that passes, as a share. */
  readonly bound: number;
  readonly write: boolean;
}

const OPTIONS = {
  pairs: { type: 'string' },
  bound: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  connections: { type: 'string' },
  trace: { type: 'string' },
  herd: { type: 'string' },
  short: { type: 'boolean' },
  'no-write': { type: 'boolean' },
} as const;

/** How long a pair measures each side, twice for each start, s. The turns are shorter (see `TURN_SECONDS` in `pairs.ts`). */
const PAIR_SECONDS = 3;

/** @throws ArgumentError that names the argument. */
export function readCacheOptions(args: string[]): CacheSpeedOptions | CachePairsOptions {
  const values = parseOptions(args, OPTIONS);
  if (values.pairs !== undefined) {
    forbid(values, ['rounds', 'trace', 'herd', 'short'], 'does not go with --pairs');
    return {
      mode: 'pairs',
      pairs: whole(values, 'pairs', 10),
      seconds: whole(values, 'seconds', PAIR_SECONDS),
      connections: whole(values, 'connections', 256),
      bound: percent(values, 'bound', 2),
      write: values['no-write'] !== true,
    };
  }
  forbid(values, ['bound'], 'needs --pairs');
  const short = values.short === true;
  return {
    mode: 'hits',
    // Many short rounds: a machine that others share becomes slower for seconds (see `pairs.ts`).
    rounds: whole(values, 'rounds', short ? 1 : 30),
    seconds: whole(values, 'seconds', 1),
    connections: whole(values, 'connections', short ? 32 : 256),
    trace: whole(values, 'trace', short ? 500 : 20_000),
    herd: whole(values, 'herd', short ? 100 : 1_000),
    short,
    write: !short && values['no-write'] !== true,
  };
}
