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
        name: 'every sum is a nano-USD too high',
        from: 'this.nano + Math.ceil(this.pico / PICO_PER_NANO)',
        to: 'this.nano + Math.ceil(this.pico / PICO_PER_NANO) + 1',
      },
      {
        name: 'a price below a pico-USD is free',
        from: '< 1e-3 ? rounded : Math.ceil(exact)',
        to: '< 1e-3 ? rounded : rounded',
      },
      {
        name: 'the long-context price applies one token too early',
        from: 'input_tokens > price.long.above',
        to: 'input_tokens >= price.long.above',
      },
      {
        name: 'cached tokens do not count for the long-context price',
        from: 'priceAtLength(input_tokens + cached_input_tokens + cache_write_tokens, listed)',
        to: 'priceAtLength(input_tokens, listed)',
      },
      {
        name: 'the estimate ignores cache prices above the input price',
        from: 'Math.max(input, cached_input, cache_write, cache_write_1h)',
        to: 'input',
      },
      {
        name: 'a sum that is not exact is accepted',
        from: '!Number.isSafeInteger(total) || !Number.isSafeInteger(this.pico)',
        to: 'false',
      },
      {
        name: 'one token more than the money covers',
        from: 'while (tokens > 0 && !covered(tokens)) tokens -= 1;',
        to: 'tokens += 1;',
      },
      {
        name: 'free output is unlimited though the money does not cover the input',
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
        name: 'seconds are rounded down',
        from: 'Math.ceil(usage[price.unit] ?? 0)',
        to: 'Math.floor(usage[price.unit] ?? 0)',
      },
      {
        name: 'the second unit is free',
        from: 'output: second?.pico_usd ?? 0',
        to: 'output: 0',
      },
      {
        name: 'one member of a pair is accepted as a price',
        from: 'units.every(',
        to: 'units.some(',
      },
      {
        name: 'a price below a pico-USD is free',
        from: 'Math.ceil(usd * PICO_PER_USD - 1e-3)',
        to: 'Math.floor(usd * PICO_PER_USD)',
      },
    ],
  },
  {
    path: 'src/catalogue/charge-parts.ts',
    tests: ['test/catalogue/charge-parts.test.ts'],
    mutants: [
      {
        name: 'the arithmetic forgets web searches',
        from: 'quantity: web_searches,',
        to: 'quantity: 0,',
      },
      {
        name: 'the arithmetic counts audio twice',
        from: 'input_tokens - audio, price.input',
        to: 'input_tokens, price.input',
      },
    ],
  },
  {
    path: 'src/http/management/usage/charge.ts',
    tests: ['test/http/management/charges.test.ts'],
    mutants: [
      {
        name: 'a price that does not give the charge is shown',
        from: 'parts && isRoundedUp(sumOf(parts), row.list_nano_usd)',
        to: 'parts',
      },
      {
        name: 'the sum has no rounding',
        from: 'list - sumOf(parts)',
        to: '0n',
      },
    ],
  },
  {
    path: 'src/catalogue/generation-price.ts',
    tests: ['test/catalogue/generation-price.test.ts', 'test/catalogue/priced-parameters.test.ts'],
    mutants: [
      {
        name: 'a charge is rounded down',
        from: 'requireSafeInteger(Math.ceil(used * unit_price.nano_usd))',
        to: 'requireSafeInteger(Math.floor(used * unit_price.nano_usd))',
      },
      {
        name: 'a generation without results is charged',
        from: 'if (outputs === 0) return 0;',
        to: '',
      },
      {
        name: 'the estimate ignores the number of images',
        from: "return input.scene === 'image' ? input.n : 1;",
        to: 'return 1;',
      },
      {
        name: 'the estimate by tokens ignores the number of images',
        from: 'maxImageTokens(input) * input.n',
        to: 'maxImageTokens(input)',
      },
      {
        name: 'the first megapixel is charged twice',
        from: 'megapixelsOf(input.size) - 1',
        to: 'megapixelsOf(input.size)',
      },
      {
        name: 'price tiers are ignored',
        from: 'nano_usd: highest.nano_usd + megapixels',
        to: 'nano_usd: price.nano_usd + megapixels',
      },
      {
        name: 'one matching parameter selects a tier',
        from: 'Object.entries(when).every(',
        to: 'Object.entries(when).some(',
      },
      {
        name: 'zero reported seconds count as not reported',
        from: 'second: usage.seconds ??',
        to: 'second: (usage.seconds || undefined) ??',
      },
      {
        name: 'the number of images that the provider reported is ignored',
        from: 'usage.images ?? outputs',
        to: 'outputs',
      },
      {
        name: 'a charge exceeds what was requested',
        from: 'Math.min(reported, requested)',
        to: 'reported',
      },
      {
        name: 'a resolution that is not known has the base price',
        from: 'isOpen(name) || parameters[name] === value',
        to: 'parameters[name] === value',
      },
      {
        name: 'the measured resolution is ignored',
        from: '? { ...input, resolution: measured.resolution }',
        to: '? input',
      },
      {
        name: 'a price with two units is accepted',
        from: 'unit === undefined || others.length > 0',
        to: 'unit === undefined',
      },
    ],
  },
  {
    path: 'src/upstreams/generation/runway-request.ts',
    tests: ['test/catalogue/priced-parameters.test.ts'],
    mutants: [
      {
        name: 'Runway ignores the resolution',
        from: 'if (sizes) return sizes[resolution];',
        to: "if (sizes) return sizes['720p'];",
      },
    ],
  },
  {
    path: 'src/upstreams/generation/fal-video.ts',
    tests: ['test/catalogue/priced-parameters.test.ts'],
    mutants: [
      {
        name: 'fal serves every resolution of Kling with one endpoint',
        from: "const mode = resolution === '1080p' ? 'pro' : 'standard';",
        to: "const mode = 'standard';",
      },
    ],
  },
  {
    path: 'src/upstreams/generation/replicate-request.ts',
    tests: ['test/catalogue/priced-parameters.test.ts'],
    mutants: [
      {
        name: 'Replicate makes one image, and several are charged',
        from: "const unsent = ['n', 'resolution'].find",
        to: "const unsent = ['resolution'].find",
      },
    ],
  },
  {
    path: 'src/upstreams/generation/fal-request.ts',
    tests: ['test/upstreams/generation/declared-requests.test.ts'],
    mutants: [
      {
        name: 'fal gets an edit at the endpoint for texts',
        from: 'if (!images || !HAS_EDIT_ENDPOINT.test(model)',
        to: 'if (images || !HAS_EDIT_ENDPOINT.test(model)',
      },
    ],
  },
  {
    path: 'src/catalogue/image-tokens.ts',
    tests: ['test/catalogue/generation-price.test.ts'],
    mutants: [
      {
        name: 'the extra tile of a row is not counted',
        from: '(Math.ceil(width / tile) + 1) * rows',
        to: 'Math.ceil(width / tile) * rows',
      },
      {
        name: 'megapixels are rounded down',
        from: 'Math.ceil((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL)',
        to: 'Math.floor((parsed.width * parsed.height) / PIXELS_PER_MEGAPIXEL)',
      },
    ],
  },
  {
    path: 'src/catalogue/ranking.ts',
    tests: ['test/catalogue/ranking.test.ts'],
    mutants: [
      {
        name: 'the price order ignores usd_per_second',
        from: '    price.usd_per_second ??\n',
        to: '',
      },
      { name: 'the price order ignores usd_per_song', from: '    price.usd_per_song ??\n', to: '' },
      {
        name: 'the more expensive model comes first',
        from: 'a.price - b.price',
        to: 'b.price - a.price',
      },
      {
        name: 'the model with the lower success rate comes first',
        from: 'b.success_rate - a.success_rate',
        to: 'a.success_rate - b.success_rate',
      },
      {
        name: 'the model with fewer outcomes comes first',
        from: 'b.samples - a.samples',
        to: 'a.samples - b.samples',
      },
      {
        name: 'a model is ranked with one outcome too few',
        from: 'samples >= min_samples && samples > 0',
        to: 'samples >= min_samples - 1 && samples > 0',
      },
      {
        name: 'a model is ranked only with one outcome more than needed',
        from: 'samples >= min_samples && samples > 0',
        to: 'samples > min_samples && samples > 0',
      },
      {
        name: 'the success rate of too few outcomes counts',
        from: '(a.ready ? b.success_rate - a.success_rate : 0) ||',
        to: '(b.success_rate - a.success_rate) ||',
      },
      {
        name: 'equal models have no fixed order',
        from: '(a.model < b.model ? -1 : 1)',
        to: '0',
      },
    ],
  },
];
