/** The arguments of `bin/bench neighbours`. */
import { ArgumentError, parseOptions, whole } from '../test/support/arguments.ts';
import { ATTACKS, type Attack } from './attacks.ts';

export interface NeighbourOptions {
  attacks: readonly Attack[];
  /** Length of one measurement, ms. Each attack has two: one quiet, one attacked. */
  measure_ms: number;
  /** True if the run checks failures and memory, but not speed. */
  short: boolean;
  write: boolean;
}

const SHORT_MS = 400;
const DEFAULT_S = 5;

/** @throws ArgumentError that names the argument. */
export function readNeighbourOptions(args: string[]): NeighbourOptions {
  const values = parseOptions(args, {
    attack: { type: 'string' },
    seconds: { type: 'string' },
    short: { type: 'boolean' },
    'no-write': { type: 'boolean' },
  });
  const short = values.short === true;
  const { attack: name } = values;
  const attacks = ATTACKS.filter((each) => name === undefined || each.name === name);
  if (attacks.length === 0) {
    const names = ATTACKS.map((each) => each.name).join(', ');
    throw new ArgumentError(`--attack must be one of ${names}.`);
  }
  const isSet = values.seconds !== undefined || !short;
  return {
    attacks,
    measure_ms: isSet ? 1_000 * whole(values, 'seconds', DEFAULT_S) : SHORT_MS,
    short,
    // A run of one attack must not replace the table of all attacks.
    write: !short && values['no-write'] !== true && name === undefined,
  };
}
