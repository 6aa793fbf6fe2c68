import { describe, expect, test } from 'bun:test';
import { type BookedCalls, bookErrors, type Ledger } from '../../bench/books.ts';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { chargeFor } from '../../src/catalogue/price.ts';

const model = new Catalogue(builtInModels()).find('gpt-4o-mini');
if (model?.kind !== 'chat') throw new Error('gpt-4o-mini is no chat model');
const usage = {
  input_tokens: 19,
  output_tokens: 20,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
};
const PRICE = chargeFor(usage, model.price);

/** Clients received 100 answers. Another 4 clients left, and 2 of their calls are charged. */
const ANSWERS = 100;
const delivered: BookedCalls = {
  ...{ calls: 104, whole: 103, aborted: 1 },
  ...{ prompt_tokens: 104 * 19, completion_tokens: 104 * 20 },
};
const ledger: Ledger = {
  ...{ completed: 101, completed_nano_usd: 101 * PRICE, partial: 1, partial_nano_usd: PRICE },
  ...{ held_nano_usd: 0, imbalances: [] },
};

describe('the books of a measurement', () => {
  test('agree if each answer is charged once, at its price', () => {
    expect(bookErrors(ANSWERS, ledger, delivered)).toEqual([]);
  });

  test.each<[string, number, Partial<Ledger>, string]>([
    ['an answer is not charged', 102, {}, 'clients received 102 answers, 101 are charged'],
    ['a nano-USD is missing', 100, { completed_nano_usd: 101 * PRICE - 1 }, 'nano-USD are charged'],
    ['money is still held', 100, { held_nano_usd: 1 }, '1 nano-USD are still held'],
    ['a sum is off', 100, { imbalances: ['used is off by 1'] }, 'used is off by 1'],
    ['more is charged than was delivered', 100, { partial: 4 }, '105 calls are charged'],
    [
      'more is charged as complete than was completed',
      100,
      { completed: 104, completed_nano_usd: 104 * PRICE, partial: 0, partial_nano_usd: 0 },
      '104 answers are charged as complete, the simulator completed 103',
    ],
    ['a partial answer costs more', 100, { partial_nano_usd: PRICE + 1 }, 'more than a complete'],
  ])('disagree if %s', (_, answers, change, error) => {
    const errors = bookErrors(answers, { ...ledger, ...change }, delivered);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(error);
  });

  test('disagree if Weir received no call', () => {
    const nothing = { calls: 0, whole: 0, aborted: 0, prompt_tokens: 0, completion_tokens: 0 };
    expect(bookErrors(ANSWERS, ledger, nothing)).not.toEqual([]);
  });
});
