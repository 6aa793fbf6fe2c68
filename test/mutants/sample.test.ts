import { describe, expect, test } from 'bun:test';
import { fc } from '../support/property.ts';
import { sampleOf, turnOfCommit } from './sample.ts';

describe('a sample of the mutants', () => {
  test('has about the size that was asked for, and turns in a row cover the whole list once', () => {
    const lists = fc.integer({ min: 1, max: 600 });
    fc.assert(
      fc.property(lists, lists, fc.nat(10_000), (length, size, turn) => {
        const all = Array.from({ length }, (_, at) => at);
        const turns = Math.ceil(length / size);
        const samples = Array.from({ length: turns }, (_, at) => sampleOf(all, size, turn + at));
        for (const sample of samples) expect(sample.length).toBeLessThanOrEqual(size);
        expect(samples.flat().sort((a, b) => a - b)).toEqual(all);
      }),
    );
  });

  test('is the same for the same commit', () => {
    expect(turnOfCommit()).toBeGreaterThanOrEqual(0);
    expect(turnOfCommit()).toBe(turnOfCommit());
  });
});
