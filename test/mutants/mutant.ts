/** One defect of the source that a test must detect. */
export interface Mutant {
  /** The wrong behaviour of the changed program. */
  readonly name: string;
  /** Source text that occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Test files that must detect it; by default those of the file. */
  readonly tests?: readonly string[];
  /** A test waits for ever, and fails by its time limit, which is short here. */
  readonly hangs?: boolean;
  /** Why the changed program behaves the same, so that no test can detect it. */
  readonly equivalent_because?: string;
}

/** The mutants of one source file. */
export interface MutatedFile {
  readonly path: string;
  /** Test files that must detect each mutant. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** A mutant, its source file and its test files. */
export interface Candidate extends Mutant {
  readonly path: string;
  readonly tests: readonly string[];
}

export function candidatesOf(files: readonly MutatedFile[]): Candidate[] {
  return files.flatMap(({ path, tests, mutants }) =>
    mutants.map((mutant) => ({ path, tests, ...mutant })),
  );
}

/** Returns the changed source text. Throws Error if `from` does not occur exactly once. */
export function mutate(text: string, { from, to }: Pick<Mutant, 'from' | 'to'>): string {
  const count = text.split(from).length - 1;
  if (count !== 1) throw new Error(`the source text occurs ${count} times`);
  const mutated = text.replace(from, () => to);
  // A program that does not parse would fail every test, whatever the tests check.
  new Bun.Transpiler({ loader: 'ts' }).transformSync(mutated);
  return mutated;
}
