import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import { Catalogue, type ChatModel } from '../../../src/catalogue/catalogue.ts';
import { chargeFor, maxChargeFor } from '../../../src/catalogue/price.ts';
import { Budget, FIRST_STREAM_TOKENS } from '../../../src/inference/budget/budget.ts';
import { imageBoundOf } from '../../../src/inference/budget/image-tokens.ts';
import type { ClientProtocol } from '../../../src/protocols/names.ts';

const catalogue = new Catalogue(builtInModels());
const modelOf = (id: string) => catalogue.find(id) as ChatModel;
const signal = new AbortController().signal;

function budgetOf(
  id: string,
  more: object,
  protocol: ClientProtocol = 'openai',
  changes: Partial<ChatModel> = {},
): Budget {
  const body = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 1, ...more };
  const model = { ...modelOf(id), ...changes };
  return new Budget({ protocol, model, body, body_text: JSON.stringify(body), headers: {} });
}

/** The input tokens that are reserved, for a model without cache writes. */
function reservedInput(budget: Budget): number {
  const { price } = budget;
  const output = chargeFor(
    {
      ...{ input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0 },
      output_tokens: budget.max_output_tokens,
    },
    price,
  );
  return Math.floor(((budget.amountToReserve(false) - output) * 1_000) / price.input);
}

const content = (...parts: object[]) => ({ messages: [{ role: 'user', content: parts }] });
const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } };

describe('the reserved input', () => {
  test('never exceeds the declared context window', () => {
    const long = { messages: [{ role: 'user', content: 'x'.repeat(500_000) }] };
    const budget = budgetOf('gpt-4o', long);
    expect(reservedInput(budget)).toBe(modelOf('gpt-4o').context_window);
  });

  test('is the whole text if the model declares no window', () => {
    const { context_window: _, ...declaration } = modelOf('gpt-4o').declaration;
    const long = { messages: [{ role: 'user', content: 'x'.repeat(500_000) }] };
    const budget = budgetOf('gpt-4o', long, 'openai', { declaration });
    expect(reservedInput(budget)).toBeGreaterThan(500_000);
  });

  for (const [name, more] of [
    ['a document by URL', content({ type: 'document', source: { type: 'url', url: 'https://a' } })],
    ['a file by id', content({ type: 'file', file: { file_id: 'file-1' } })],
    [
      'an inline file',
      content({ type: 'file', file: { file_data: 'data:application/pdf;base64,' } }),
    ],
    ['sound', content({ type: 'input_audio', input_audio: { data: '', format: 'wav' } })],
    ['an unknown kind of part', content({ type: 'hologram', id: 'h' })],
    ['an unknown member', { scroll_of_knowledge: 'id' }],
    ['a tool that the provider runs', { tools: [{ type: 'code_interpreter' }] }],
  ] as const) {
    test(`is the context window for ${name}`, () => {
      expect(reservedInput(budgetOf('gpt-4o', more))).toBe(modelOf('gpt-4o').context_window);
    });
  }

  test('is far below the window for text, functions, numbers and empty members', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const more = { tools, new_option: 5, mcp_servers: [], functions: [], user: 'Ann' };
    expect(reservedInput(budgetOf('gpt-4o', more))).toBeLessThan(2_000);
  });

  test('counts an inline image by its kind, and not by its bytes', () => {
    const url = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
    const inline = content({ type: 'image_url', image_url: { url } });
    expect(reservedInput(budgetOf('gpt-4o', inline))).toBeLessThan(2_000);
    expect(reservedInput(budgetOf('gpt-4o-mini', content(image)))).toBeGreaterThan(48_000);
  });

  test('has a second pass if the provider summarises the input', () => {
    const compact = { context_management: { edits: [{ type: 'compact_20260112' }] } };
    const clear = { context_management: { edits: [{ type: 'clear_thinking_20251015' }] } };
    expect(reservedInput(budgetOf('gpt-4o', compact))).toBe(2 * modelOf('gpt-4o').context_window);
    expect(budgetOf('gpt-4o', compact).max_output_tokens).toBe(
      1 + modelOf('gpt-4o').max_output_tokens,
    );
    expect(reservedInput(budgetOf('gpt-4o', clear))).toBeLessThan(1_000);
  });
});

describe('the bound of an image', () => {
  const of = (id: string, width?: number, height?: number) =>
    imageBoundOf(id)(() => (width && height ? { width, height } : undefined));

  test('follows the provider’s rules for the model', () => {
    expect(of('gpt-4o')).toBe(1_445);
    expect(of('gpt-4o-2024-08-06')).toBe(1_445);
    expect(of('claude-sonnet-4-5')).toBe(1_600);
    expect(of('claude-opus-5')).toBe(4_784);
    expect(of('gemini-3.5-flash')).toBe(2_240);
    expect(of('gemini-2.5-pro', 960, 540)).toBe(6 * 258);
    expect(of('gpt-5.6-luna', 100, 33)).toBe(4 * 2);
  });

  test('is unknown without a size, and for an unknown model', () => {
    for (const bound of [of('gpt-5.6-luna'), of('gemini-2.5-pro'), of('gpt-5.9', 10, 10)]) {
      expect(bound).toBe(Number.POSITIVE_INFINITY);
    }
  });

  test('is known for each model of the catalogue that reads images', () => {
    for (const model of catalogue.all()) {
      if (model.kind !== 'chat' || !model.declaration.capabilities?.includes('vision')) continue;
      expect([model.id, Number.isFinite(of(model.id, 10, 10))]).toEqual([model.id, true]);
    }
  });
});

describe('the minimum of a call near the cap', () => {
  const minimumOf = (budget: Budget) => budget.admissionRequest(1e15, signal).minimum();

  test('covers the whole window for input that only the provider sees', () => {
    const budget = budgetOf('gpt-4o', content({ type: 'file', file: { file_id: 'file-1' } }));
    const { context_window } = modelOf('gpt-4o');
    expect(minimumOf(budget)).toBe(maxChargeFor(context_window, 1, budget.price));
  });

  test('covers the counted text, times what the provider’s vocabulary may need', () => {
    const text = { messages: [{ role: 'user', content: 'A plain English sentence. '.repeat(50) }] };
    const gpt = budgetOf('gpt-4o', text);
    expect(gpt.covered_input_tokens).toBe(gpt.input_tokens);
    const claude = budgetOf('claude-opus-4-7', text, 'anthropic');
    expect(claude.covered_input_tokens).toBe(Math.ceil(claude.input_tokens * 1.75));
  });

  test('covers the most tokens of each image, and one output token of each answer', () => {
    const budget = budgetOf('gpt-4o-mini', { ...content(image, image), n: 4 });
    expect(budget.covered_input_tokens).toBeGreaterThan(2 * 48_000);
    expect(minimumOf(budget)).toBe(maxChargeFor(budget.covered_input_tokens, 4, budget.price));
  });

  test('is not more for an unknown member or a tool that the provider runs', () => {
    const plain = budgetOf('gpt-4o', {}).covered_input_tokens;
    expect(budgetOf('gpt-4o', { new_option: 'x' }).covered_input_tokens).toBe(plain);
  });
});

describe('the first output of a stream', () => {
  test('is the whole output if the model may reason unseen', () => {
    const limit = { max_tokens: 10_000 };
    for (const [id, more, tokens] of [
      ['gpt-4o', {}, FIRST_STREAM_TOKENS],
      ['gpt-5', {}, 10_000],
      ['gemini-2.5-flash', {}, 10_000],
      ['claude-opus-4-7', {}, FIRST_STREAM_TOKENS],
      ['claude-opus-4-7', { thinking: { type: 'adaptive' } }, 10_000],
      ['claude-opus-5', {}, 10_000],
    ] as const) {
      const budget = budgetOf(id, { ...limit, ...more }, 'openai');
      expect([id, budget.first_output_tokens]).toEqual([id, tokens]);
    }
  });
});
