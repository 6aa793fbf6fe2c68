import type { MutatedFile } from '../mutant.ts';

export const PRICES: readonly MutatedFile[] = [
  {
    path: 'src/catalogue/price.ts',
    tests: ['test/catalogue/price.test.ts'],
    mutants: [
      {
        name: 'the sum is rounded down',
        from: 'Math.ceil(this.pico / PICO_PER_NANO)',
        to: 'Math.floor(this.pico / PICO_PER_NANO)',
      },
      {
        name: 'a price below a pico-USD is free',
        from: '< 1e-3 ? rounded : Math.ceil(exact)',
        to: '< 1e-3 ? rounded : rounded',
      },
      {
        name: 'a long prompt begins one token too early',
        from: 'input_tokens > price.long.above',
        to: 'input_tokens >= price.long.above',
      },
      {
        name: 'cached tokens do not make a prompt long',
        from: 'priceFor(input_tokens + cached_input_tokens + cache_write_tokens, listed)',
        to: 'priceFor(input_tokens, listed)',
      },
      {
        name: 'the hold ignores the dearer cache',
        from: 'Math.max(input, cached_input, cache_write, cache_write_1h)',
        to: 'input',
      },
      {
        name: 'a sum beyond exact numbers is rounded',
        from: '!Number.isSafeInteger(total) || !Number.isSafeInteger(this.pico)',
        to: 'false',
      },
      {
        name: 'one token more than the money pays for',
        from: 'while (tokens > 0 && !covered(tokens)) tokens -= 1;',
        to: 'tokens += 1;',
      },
      {
        name: 'free output is endless though the input is not paid',
        from: 'if (left < 0) return 0;',
        to: '',
      },
    ],
  },
  {
    path: 'src/catalogue/direct-price.ts',
    tests: ['test/catalogue/direct-price.test.ts'],
    mutants: [
      {
        name: 'begun seconds are rounded down',
        from: 'Math.ceil(usage[price.unit] ?? 0)',
        to: 'Math.floor(usage[price.unit] ?? 0)',
      },
      {
        name: 'the second unit is free',
        from: 'output: second?.pico_usd ?? 0',
        to: 'output: 0',
      },
      {
        name: 'half of a pair is taken for a price',
        from: 'each.every(',
        to: 'each.some(',
      },
      {
        name: 'a price below a pico-USD is free',
        from: 'Math.ceil(usd * PICO_PER_USD - 1e-3)',
        to: 'Math.floor(usd * PICO_PER_USD)',
      },
    ],
  },
  {
    path: 'src/catalogue/generation-price.ts',
    tests: ['test/catalogue/generation-price.test.ts'],
    mutants: [
      {
        name: 'what was used is rounded down',
        from: 'exact(Math.ceil(used * unitPrice(price, input)))',
        to: 'exact(Math.floor(used * unitPrice(price, input)))',
      },
      {
        name: 'nothing made is charged',
        from: 'if (outputs === 0) return 0;',
        to: '',
      },
      {
        name: 'the hold ignores the number of pictures',
        from: "return input.scene === 'image' ? input.n : 1;",
        to: 'return 1;',
      },
      {
        name: 'the hold of tokens ignores the number of pictures',
        from: 'imageTokensAtMost(input) * input.n',
        to: 'imageTokensAtMost(input)',
      },
      {
        name: 'the first megapixel is charged twice',
        from: '(megapixelsOf(input.size) - 1)',
        to: 'megapixelsOf(input.size)',
      },
      {
        name: 'tiers are ignored',
        from: '(tier?.nano_usd ?? price.nano_usd)',
        to: 'price.nano_usd',
      },
      {
        name: 'one matching parameter is enough for a tier',
        from: 'Object.entries(when).every(',
        to: 'Object.entries(when).some(',
      },
      {
        name: 'zero seconds count as none reported',
        from: 'usage.seconds ?? asked(',
        to: 'usage.seconds || asked(',
      },
      {
        name: 'pictures that the provider counted are ignored',
        from: 'usage.images ?? outputs',
        to: 'outputs',
      },
      {
        name: 'two units make a price',
        from: 'unit === undefined || others.length > 0',
        to: 'unit === undefined',
      },
    ],
  },
  {
    path: 'src/catalogue/image-tokens.ts',
    tests: ['test/catalogue/generation-price.test.ts'],
    mutants: [
      {
        name: 'a row has no tile of its own',
        from: '(Math.ceil(width / tile) + 1) * rows',
        to: 'Math.ceil(width / tile) * rows',
      },
      {
        name: 'begun megapixels are rounded down',
        from: 'Math.ceil((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL - 0.05)',
        to: 'Math.floor((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL)',
      },
    ],
  },
  {
    path: 'src/inference/budget/budget.ts',
    tests: ['test/inference/budget/budget.test.ts'],
    mutants: [
      {
        name: 'the clamp ignores n',
        from: 'Math.floor(this.outputCoveredBy(held) / this.choices)',
        to: 'this.outputCoveredBy(held)',
      },
      {
        name: 'the clamp shares the bound among n but not the money',
        from: 'Math.min(covered, Math.floor(this.max_output_tokens / this.choices))',
        to: 'covered',
      },
      {
        name: 'a clamp of no tokens',
        from: 'return Math.max(1, Math.min(covered,',
        to: 'return Math.max(0, Math.min(covered,',
      },
      {
        name: 'clamps a call that is covered exactly',
        from: 'if (held >= asked) return undefined;',
        to: 'if (held > asked) return undefined;',
      },
      {
        name: 'the hold ignores n',
        from: 'model.max_output_tokens) * this.choices;',
        to: 'model.max_output_tokens);',
      },
      {
        name: 'a client may ask for more than the model gives',
        from: 'Math.min(asked ?? model.max_output_tokens, model.max_output_tokens)',
        to: '(asked ?? model.max_output_tokens)',
      },
      {
        name: 'a stream sets all of its answer aside',
        from: 'Math.min(this.max_output_tokens, FIRST_STREAM_TOKENS)',
        to: 'this.max_output_tokens',
      },
      {
        name: 'the least that a call runs with is its input alone',
        from: 'maxPriceOf(this.inputCounted, 1, this.price)',
        to: 'maxPriceOf(this.inputCounted, 0, this.price)',
      },
      {
        name: 'an hour in the cache is set aside by nobody',
        from: '...(isLong ? {} : { cache_write_1h: 0 })',
        to: 'cache_write_1h: 0',
      },
      {
        name: 'output that the upstream reported is believed though it broke off',
        from: 'output_tokens: countTokens(produced),',
        to: 'output_tokens: reported?.output_tokens ?? countTokens(produced),',
      },
    ],
  },
  {
    path: 'src/catalogue/ranking.ts',
    tests: ['test/catalogue/ranking.test.ts'],
    mutants: [
      { name: 'ignores usd_per_second', from: '    price.usd_per_second ??\n', to: '' },
      { name: 'ignores usd_per_song', from: '    price.usd_per_song ??\n', to: '' },
      { name: 'the dearer comes first', from: 'a.price - b.price', to: 'b.price - a.price' },
      {
        name: 'the worse comes first',
        from: 'b.success_rate - a.success_rate',
        to: 'a.success_rate - b.success_rate',
      },
      {
        name: 'fewer outcomes come first',
        from: 'b.samples - a.samples',
        to: 'a.samples - b.samples',
      },
      {
        name: 'one outcome too few makes a place',
        from: 'samples >= min_samples && samples > 0',
        to: 'samples >= min_samples - 1 && samples > 0',
      },
      {
        name: 'one outcome too many is needed',
        from: 'samples >= min_samples && samples > 0',
        to: 'samples > min_samples && samples > 0',
      },
      {
        name: 'the success of too few outcomes counts',
        from: '(a.ready ? b.success_rate - a.success_rate : 0) ||',
        to: '(b.success_rate - a.success_rate) ||',
      },
      {
        name: 'equals have no order of their own',
        from: '(a.model < b.model ? -1 : 1)',
        to: '0',
      },
    ],
  },
];
