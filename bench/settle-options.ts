/** The arguments of `bin/bench settle`. */
import { commitOf, parseOptions, percent, whole } from '../test/support/arguments.ts';

export interface SettleOptions {
  readonly commit: string;
  readonly pairs: number;
  /** Usage lines in one statement. */
  readonly lines: number;
  /** Statements of one measurement. */
  readonly statements: number;
  /** The largest median loss that passes, as a share: 0.03 is 3 %. */
  readonly bound: number;
}

/** @throws ArgumentError that names the argument. */
export function readSettleOptions(args: string[]): SettleOptions {
  const values = parseOptions(args, {
    against: { type: 'string' },
    pairs: { type: 'string' },
    lines: { type: 'string' },
    statements: { type: 'string' },
    bound: { type: 'string' },
  });
  return {
    commit: commitOf(values),
    pairs: whole(values, 'pairs', 10),
    lines: whole(values, 'lines', 128),
    statements: whole(values, 'statements', 3_000),
    bound: percent(values, 'bound', 3),
  };
}
