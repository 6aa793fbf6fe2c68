/** One change that a careless hand could make, and that a test must notice. */
export interface Mutant {
  /** What the changed program does wrong. */
  readonly name: string;
  /** Source text that occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Test files that must notice it, where they differ from those of the file. */
  readonly tests?: readonly string[];
  /** Why no test can notice it: the changed program does the same. */
  readonly stands?: string;
}

/** The mutants of one source file. */
export interface MutatedFile {
  readonly path: string;
  /** Test files that must notice each mutant. */
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** A mutant with the file that it belongs to. */
export interface Candidate extends Mutant {
  readonly path: string;
  readonly tests: readonly string[];
}

export function candidatesOf(files: readonly MutatedFile[]): Candidate[] {
  return files.flatMap(({ path, tests, mutants }) =>
    mutants.map((mutant) => ({ path, tests, ...mutant })),
  );
}

/** The mutated source text. Throws Error if `from` does not occur exactly once. */
export function mutate(text: string, { from, to }: Pick<Mutant, 'from' | 'to'>): string {
  const count = text.split(from).length - 1;
  if (count !== 1) throw new Error(`its source text occurs ${count} times`);
  const mutated = text.replace(from, () => to);
  // A program that does not parse fails every test, so it would show nothing.
  new Bun.Transpiler({ loader: 'ts' }).transformSync(mutated);
  return mutated;
}
