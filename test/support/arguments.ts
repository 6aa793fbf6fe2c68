/** Reads the options of a command line. Every error names the option. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** An argument that a command does not accept. */
export class ArgumentError extends Error {}

/** The given options by name. An option that is not given is missing. */
export type Values<Name extends string> = Partial<Record<Name, string | boolean>>;

/** @throws ArgumentError for an unknown option, and for an option without its value. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: string[],
  options: Options,
): Values<keyof Options & string> {
  try {
    return { ...parseArgs({ args, options }).values } as Values<keyof Options & string>;
  } catch (error) {
    throw new ArgumentError(error instanceof Error ? error.message : String(error));
  }
}

/** @throws ArgumentError with `why` if one of these options is given. */
export function forbid<Name extends string>(
  values: Values<Name>,
  names: readonly NoInfer<Name>[],
  why: string,
): void {
  const name = names.find((each) => values[each] !== undefined);
  if (name !== undefined) throw new ArgumentError(`--${name} ${why}.`);
}

/** Reads a positive whole number. wrk accepts whole seconds only. */
export function whole<Name extends string>(
  values: Values<Name>,
  name: NoInfer<Name>,
  fallback: number,
): number {
  const text = values[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new ArgumentError(`--${name} must be a whole number of at least 1, not "${text}".`);
}

/** Reads a percentage and returns it as a share: 2 becomes 0.02. */
export function percent<Name extends string>(
  values: Values<Name>,
  name: NoInfer<Name>,
  fallback: number,
): number {
  const text = values[name];
  const value = text === undefined ? fallback : Number(text === '' ? Number.NaN : text);
  if (value >= 0 && value <= 100) return value / 100;
  throw new ArgumentError(`--${name} must be a percentage from 0 to 100, not "${text}".`);
}

/** Reads the commit of `--against`. */
export function commitOf(values: Values<'against'>): string {
  const { against } = values;
  if (typeof against === 'string' && against !== '' && !against.startsWith('-')) return against;
  throw new ArgumentError('--against needs a commit, for example --against HEAD.');
}

/** Returns the seed of `--seed`; without it, a seed of the clock. */
export function seedOf(values: Values<'seed'>): number {
  return values.seed === undefined ? Date.now() % 1_000_000 : whole(values, 'seed', 1);
}

/** Runs `read`. If an argument is wrong, prints the error and ends the process with exit code 2. */
export function orExit<Options>(read: () => Options): Options {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    console.error(`${error.message} Try --help.`);
    process.exit(2);
  }
}
