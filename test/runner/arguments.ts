/** What the command line of `bin/test` asks for. */
export interface TestArguments {
  /** Run what takes longer or has to be installed, too. */
  full: boolean;
  /** Run only what `--full` adds. */
  only_added: boolean;
  /** Do not count what could not be installed as failed. */
  allow_missing: boolean;
  /** Everything else, for `bun test`. */
  rest: string[];
}

/** @throws if the arguments contradict each other. */
export function readArguments(given: readonly string[]): TestArguments {
  const own = new Set(['--full', '--only-added', '--allow-missing']);
  const rest = given.filter((argument) => !own.has(argument));
  const full = given.includes('--full');
  const only_added = given.includes('--only-added');
  const allow_missing = given.includes('--allow-missing');
  if (!full && only_added) throw new Error('--only-added needs --full');
  if (!full && allow_missing) throw new Error('--allow-missing needs --full');
  if (full && rest.length > 0) throw new Error(`--full runs everything; it takes no ${rest[0]}`);
  return { full, only_added, allow_missing, rest };
}
