/** The arguments of `bin/bench usage`. */
import { parseOptions, whole } from '../test/support/arguments.ts';

export interface UsageOptions {
  readonly lines: number;
  /** How often each query is sent. */
  readonly samples: number;
  /** The folder in which the filled database stays for later runs; undefined = a temporary one. */
  readonly data: string | undefined;
  readonly write: boolean;
}

/** @throws ArgumentError that names the argument. */
export function readUsageOptions(args: string[]): UsageOptions {
  const values = parseOptions(args, {
    lines: { type: 'string' },
    samples: { type: 'string' },
    data: { type: 'string' },
    'no-write': { type: 'boolean' },
  });
  return {
    lines: whole(values, 'lines', 10_000_000),
    samples: whole(values, 'samples', 200),
    data: typeof values.data === 'string' ? values.data : undefined,
    write: values['no-write'] !== true,
  };
}
