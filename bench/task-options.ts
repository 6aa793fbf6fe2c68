/** The arguments of `bin/bench tasks`. */
import {
  ArgumentError,
  commitOf,
  forbid,
  parseOptions,
  type Values,
  whole,
} from '../test/support/arguments.ts';

/** Many unfinished tasks, of which a part is polled. */
export interface UnfinishedOptions {
  mode: 'unfinished';
  /** Number of tasks that have not ended, polled ones included. */
  unfinished: number;
  /** Number of tasks whose provider is polled. */
  polled: number;
  /** The commit to compare with; undefined = no comparison. */
  against: string | undefined;
  pairs: number;
  /**
   * Seconds of one measurement of inline calls. The embedded database looks every 15 s for tables to
   * vacuum. A shorter measurement may have such a pass or none, which changes its rate by a fifth.
   */
  seconds: number;
  /** Seconds in which polls, memory and CPU are measured without inline calls. */
  watch_seconds: number;
  connections: number;
  /** True if rates have no verdict, because the run is for CI. */
  short: boolean;
  write: boolean;
}

/** Fewer tasks that clients create and that run to their end. */
export interface LiveOptions {
  mode: 'live';
  tasks: number;
  /** Status calls a second. */
  rate: number;
  write: boolean;
}

const OPTIONS = {
  unfinished: { type: 'string' },
  polled: { type: 'string' },
  against: { type: 'string' },
  pairs: { type: 'string' },
  seconds: { type: 'string' },
  connections: { type: 'string' },
  short: { type: 'boolean' },
  live: { type: 'boolean' },
  tasks: { type: 'string' },
  rate: { type: 'string' },
  'no-write': { type: 'boolean' },
} as const;

type Name = keyof typeof OPTIONS;

const OF_LIVE: Name[] = ['tasks', 'rate'];
const OF_UNFINISHED: Name[] = [
  ...(['unfinished', 'polled', 'against', 'pairs'] as const),
  ...(['seconds', 'connections', 'short'] as const),
];
/** The fewest polled tasks: one of each simulated provider. */
const MIN_POLLED = 4;

/** @throws ArgumentError that names the argument. */
export function readTaskOptions(args: string[]): UnfinishedOptions | LiveOptions {
  const values: Values<Name> = parseOptions(args, OPTIONS);
  const may_write = values['no-write'] !== true;
  if (values.live) {
    forbid(values, OF_UNFINISHED, 'does not go with --live');
    const [tasks, rate] = [whole(values, 'tasks', 10_000), whole(values, 'rate', 2_000)];
    return { mode: 'live', tasks, rate, write: may_write };
  }
  forbid(values, OF_LIVE, 'needs --live');
  const short = values.short === true;
  if (short) forbid(values, ['against'], 'does not go with --short');
  const against = values.against === undefined ? undefined : commitOf(values);
  if (against === undefined) forbid(values, ['pairs'], 'needs --against COMMIT');
  const unfinished = whole(values, 'unfinished', short ? 10_000 : 100_000);
  const polled = whole(values, 'polled', short ? 500 : 10_000);
  if (polled < MIN_POLLED) throw new ArgumentError(`--polled must be at least ${MIN_POLLED}.`);
  if (polled > unfinished) throw new ArgumentError('--polled is larger than --unfinished.');
  return {
    mode: 'unfinished',
    ...{ unfinished, polled, against, short },
    pairs: whole(values, 'pairs', 10),
    seconds: whole(values, 'seconds', short ? 2 : 15),
    watch_seconds: short ? 5 : 60,
    connections: whole(values, 'connections', short ? 32 : 256),
    write: !short && may_write,
  };
}

/** What `bin/bench --short` runs after the calls. */
export function shortTaskOptions(): UnfinishedOptions {
  return readTaskOptions(['--short']) as UnfinishedOptions;
}
