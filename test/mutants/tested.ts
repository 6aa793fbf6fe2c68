/**
 * Option of `bin/test --mutants`: all tests have passed just before, so they do not run once more
 * without a mutant.
 */
export const TESTED = '--tested';
