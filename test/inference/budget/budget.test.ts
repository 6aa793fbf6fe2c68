import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { maxChargeFor } from '../../../src/catalogue/price.ts';
import { Budget, FIRST_STREAM_TOKENS } from '../../../src/inference/budget/budget.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';

const catalogue = new Catalogue(builtInModels());

function chatModel(id: string): ChatModel {
  const model = catalogue.find(id);
  if (model?.kind !== 'chat') throw new Error(`${id} is not a chat model`);
  return model;
}

interface Options {
  id?: string;
  protocol?: ClientProtocol;
  headers?: Record<string, string>;
}

function budgetOf(more: object, options: Options = {}): Budget {
  const { id = 'gpt-4o-mini', protocol = 'openai', headers = {} } = options;
  const body = { model: id, messages: [{ role: 'user', content: 'Hello' }], ...more };
  const body_text = JSON.stringify(body);
  return new Budget({ protocol, model: chatModel(id), body, body_text, headers });
}

const signal = new AbortController().signal;

describe('the budget of a call', () => {
  test('max_output_tokens is the client’s limit for one choice times the number of choices, in any protocol', () => {
    const model = chatModel('gpt-4o-mini');
    for (const [protocol, more] of [
      ['openai', { max_completion_tokens: 50 }],
      ['openai', { max_tokens: 50 }],
      ['anthropic', { max_tokens: 50 }],
      ['responses', { max_output_tokens: 50 }],
      ['gemini', { generationConfig: { maxOutputTokens: 50 } }],
      ['gemini', { generation_config: { max_output_tokens: 50 } }],
    ] as const) {
      expect(budgetOf(more, { protocol }).max_output_tokens).toBe(50);
      expect(budgetOf({ ...more, n: 3 }, { protocol }).max_output_tokens).toBe(150);
    }
    expect(budgetOf({}).max_output_tokens).toBe(model.max_output_tokens);
    // A translation reads only the last of two configs.
    const configs = { generationConfig: { maxOutputTokens: 50 }, generation_config: {} };
    expect(budgetOf(configs, { protocol: 'gemini' }).max_output_tokens).toBe(
      model.max_output_tokens,
    );
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
    maxChargeFor(budget.covered_input_tokens, tokens, budget.price);

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
    const plain = budgetOf({}, { id: SONNET }).price;
    expect([plain.cache_write, plain.cache_write_1h]).toEqual([0, 0]);
    const listed = chatModel(SONNET).price;
    const short = budgetOf({ messages: cached({ type: 'ephemeral' }) }, { id: SONNET }).price;
    expect([short.cache_write, short.cache_write_1h]).toEqual([listed.cache_write, 0]);
    const hour = cached({ type: 'ephemeral', ttl: '1h' });
    expect(budgetOf({ messages: hour }, { id: SONNET }).price).toEqual(listed);
  });
});

describe('the price of audio', () => {
  const FLASH = 'gemini-2.5-flash';
  const audioPrice = (content: unknown) =>
    budgetOf({ messages: [{ role: 'user', content }] }, { id: FLASH }).price.audio_input;

  test('P17: is reserved if the request may contain audio, also in a video or behind an escape', () => {
    const listed = chatModel(FLASH).price.audio_input;
    expect(listed).toBe(1_000_000);
    expect(audioPrice('Hello')).toBe(0);
    expect(audioPrice([{ type: 'input_audio', input_audio: { format: 'wav' } }])).toBe(listed);
    expect(audioPrice([{ inlineData: { mimeType: 'video/mp4' } }])).toBe(listed);
    expect(audioPrice([{ fileData: { fileUri: 'https://…' } }])).toBe(listed);
    const body_text = '{"model":"gemini-2.5-flash","contents":"\\u0061udio/wav"}';
    const body = JSON.parse(body_text);
    const call = {
      protocol: 'gemini',
      model: chatModel(FLASH),
      body,
      body_text,
      headers: {},
    } as const;
    const { price } = new Budget(call);
    expect(price.audio_input).toBe(listed);
  });
});

describe('the usage of an answer that the upstream did not finish', () => {
  test('keeps every count of the input that the upstream reported', () => {
    const reported = {
      ...{ input_tokens: 40, cached_input_tokens: 30, cache_write_tokens: 20 },
      ...{ cache_write_1h_tokens: 11, audio_input_tokens: 9, cached_audio_tokens: 8 },
      ...{ web_searches: 2, output_tokens: 1 },
    };
    const estimate = budgetOf({}).estimate('one two', reported);
    expect(estimate).toEqual({ ...reported, output_tokens: 2 });
  });

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
