import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { maxChargeFor } from '../../../src/catalogue/price.ts';
import { Budget, FIRST_STREAM_TOKENS } from '../../../src/inference/budget/budget.ts';

const catalogue = new Catalogue(builtInModels());

function chatModel(id: string): ChatModel {
  const model = catalogue.find(id);
  if (model?.kind !== 'chat') throw new Error(`${id} is not a chat model`);
  return model;
}

function budgetOf(more: object, id = 'gpt-4o-mini'): Budget {
  const body = { model: id, messages: [{ role: 'user', content: 'Hello' }], ...more };
  return new Budget(chatModel(id), body, JSON.stringify(body));
}

const signal = new AbortController().signal;

describe('the budget of a call', () => {
  test('max_output_tokens is the client’s limit for one choice times the number of choices, in any protocol', () => {
    const model = chatModel('gpt-4o-mini');
    for (const more of [
      { max_completion_tokens: 50 },
      { max_tokens: 50 },
      { max_output_tokens: 50 },
      { generationConfig: { maxOutputTokens: 50 } },
    ]) {
      expect(budgetOf(more).max_output_tokens).toBe(50);
      expect(budgetOf({ ...more, n: 3 }).max_output_tokens).toBe(150);
    }
    expect(budgetOf({}).max_output_tokens).toBe(model.max_output_tokens);
    expect(budgetOf({ max_tokens: 10_000_000 }).max_output_tokens).toBe(model.max_output_tokens);
  });

  test('a stream starts with money for its first tokens, and a whole answer with money for all tokens', () => {
    const long = budgetOf({});
    expect(long.amountToReserve(false) - long.amountToReserve(true)).toBe(
      long.maxChargeForOutput(long.max_output_tokens) -
        long.maxChargeForOutput(FIRST_STREAM_TOKENS),
    );
    const short = budgetOf({ max_tokens: 10 });
    expect(short.amountToReserve(true)).toBe(short.amountToReserve(false));
  });

  test('the minimum to start is money for the counted input and one output token', () => {
    const budget = budgetOf({});
    const { minimum } = budget.admissionRequest(1e12, signal);
    expect(minimum()).toBe(maxChargeFor(budget.input_tokens, 1, budget.price));
    expect(budget.admissionRequest(5, signal).minimum()).toBe(5);
  });
});

describe('the limit of output tokens for the upstream', () => {
  /** Money for the input and for this many output tokens. */
  const paying = (budget: Budget, tokens: number) =>
    maxChargeFor(budget.input_tokens, tokens, budget.price);

  test('is undefined if the money covers the whole request', () => {
    const budget = budgetOf({ max_tokens: 100 });
    expect(budget.outputLimitFor(1_000, 1_000)).toBeUndefined();
    expect(budget.outputLimitFor(999, 1_000)).toBeDefined();
  });

  test('is the number of tokens that the money pays for, shared by all choices', () => {
    for (const [n, bound] of [
      [1, 90],
      [3, 30],
      [4, 22],
    ] as const) {
      const budget = budgetOf({ n, max_tokens: 100 });
      const held = paying(budget, 90);
      expect(budget.outputLimitFor(held, held + 1)).toBe(bound);
    }
  });

  test('is never more than the client’s own limit, and never 0', () => {
    const budget = budgetOf({ n: 2, max_tokens: 10 });
    const rich = paying(budget, 1_000);
    expect(budget.outputLimitFor(rich, rich + 1)).toBe(10);
    expect(budget.outputLimitFor(paying(budget, 1), 1e12)).toBe(1);
  });
});

describe('the price of cache writes', () => {
  const SONNET = 'claude-sonnet-4-5';
  const cached = (more: object) => [
    { role: 'user', content: [{ type: 'text', text: 'Hello', cache_control: more }] },
  ];

  test('is reserved only if the call requests a cache write', () => {
    const plain = budgetOf({}, SONNET).price;
    expect([plain.cache_write, plain.cache_write_1h]).toEqual([0, 0]);
    const listed = chatModel(SONNET).price;
    const short = budgetOf({ messages: cached({ type: 'ephemeral' }) }, SONNET).price;
    expect([short.cache_write, short.cache_write_1h]).toEqual([listed.cache_write, 0]);
    const hour = cached({ type: 'ephemeral', ttl: '1h' });
    expect(budgetOf({ messages: hour }, SONNET).price).toEqual(listed);
  });
});

describe('the usage of an answer that the upstream did not finish', () => {
  test('has the reported input tokens and the counted output tokens', () => {
    const budget = budgetOf({});
    expect(budget.estimate('one two')).toEqual({
      input_tokens: budget.input_tokens,
      ...{ cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 2 },
    });
    const reported = {
      input_tokens: 7,
      cached_input_tokens: 5,
      cache_write_tokens: 3,
      output_tokens: 999,
    };
    expect(budget.estimate('one two', reported)).toEqual({ ...reported, output_tokens: 2 });
  });
});
