/** Where a command prints. */
export interface Output {
  /** Prints a line of the result. */
  line(text: string): void;
  /** Prints a line for the reader that is no part of the result, e.g. that there are more actors. */
  note(text: string): void;
}

/** Prints results to stdout and notes to stderr. Ends the process when nobody reads stdout any more. */
export function standardOutput(): Output {
  // E.g. `bin/weir actors | head`.
  process.stdout.on('error', () => process.exit(0));
  return {
    line: (text) => process.stdout.write(`${text}\n`),
    note: (text) => process.stderr.write(`weir: ${text.replaceAll('\n', '\n  ')}\n`),
  };
}
