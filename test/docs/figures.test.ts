import { describe, expect, test } from 'bun:test';
import { errorOf, type Figure, figuresOf, looseComments, untiedFigures } from './figures.ts';
import { documentPaths, textOf } from './pages.ts';

/** Pages on which each figure with a unit needs a comment with its constant. */
const STRICT = [
  'README.md',
  'docs/architecture.md',
  'docs/consistency.md',
  'docs/failure-modes.md',
  'docs/operations.md',
];

const figure = (text: string, expression: string): Figure => ({ line: 1, text, expression });

describe('the figures in the pages', () => {
  test.each(documentPaths())('%s: each tied figure equals its constant', (path) => {
    const errors = figuresOf(textOf(path)).map(errorOf);
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
    expect(looseComments(textOf(path))).toEqual([]);
  });

  test.each(STRICT)('%s: each figure with a unit is tied to a constant', (path) => {
    expect(untiedFigures(textOf(path))).toEqual([]);
  });
});

describe('the check of figures', () => {
  test('converts units and words', () => {
    expect(errorOf(figure('10 s', 'LEASE_MS'))).toBeUndefined();
    expect(errorOf(figure('10,000 ms', 'LEASE_MS'))).toBeUndefined();
    expect(errorOf(figure('24 hours', 'BATCH_LIFE_HOURS'))).toBeUndefined();
    expect(errorOf(figure('1 day', 'BATCH_LIFE_HOURS'))).toBeUndefined();
    expect(errorOf(figure('three', 'MAX_RECOLLECTIONS'))).toBeUndefined();
    expect(errorOf(figure('8 s', 'LEASE_MS - replica.ts#SAFETY_MS'))).toBeUndefined();
  });

  test('detects a wrong figure, an unknown constant, and an ambiguous one', () => {
    expect(errorOf(figure('11 s', 'LEASE_MS'))).toContain('LEASE_MS is 10000');
    expect(errorOf(figure('10 ms', 'LEASE_MS'))).toContain('LEASE_MS is 10000');
    expect(() => errorOf(figure('10 s', 'LEASED_MS'))).toThrow('no file');
    expect(() => errorOf(figure('4', 'MAX_ATTEMPTS'))).toThrow('src/inference/routing/route.ts');
  });

  test('detects a figure without a comment, and a comment without a figure', () => {
    expect(untiedFigures('after 10 s<!-- LEASE_MS --> or\n2 minutes')).toEqual(['2: 2 minutes']);
    expect(looseComments('soon<!-- LEASE_MS -->')).toEqual(['1: <!-- LEASE_MS -->']);
  });
});
