import type { MutatedFile } from '../mutant.ts';

export const BOUNDS: readonly MutatedFile[] = [
  {
    path: 'src/inference/budget/budget.ts',
    tests: ['test/inference/budget'],
    mutants: [
      {
        name: 'the output limit ignores n',
        from: '(this.maxOutputTokensFor(held) - extra_tokens) / answers',
        to: 'this.maxOutputTokensFor(held)',
      },
      {
        name: 'the output limit of each choice may exceed the requested limit',
        from: 'Math.min(covered, tokens_per_answer)',
        to: 'covered',
      },
      {
        name: 'the output limit may be 0',
        from: 'return Math.max(1, Math.min(covered,',
        to: 'return Math.max(0, Math.min(covered,',
      },
      {
        name: 'a call that is covered exactly gets an output limit',
        from: 'if (held >= requested) return undefined;',
        to: 'if (held > requested) return undefined;',
      },
      {
        name: 'the reservation ignores n',
        from: 'tokens_per_answer * answers + extra_tokens',
        to: 'tokens_per_answer + extra_tokens',
      },
      {
        name: 'rejected tokens of a prediction are free',
        from: 'tokens_per_answer * answers + extra_tokens',
        to: 'tokens_per_answer * answers',
      },
      {
        name: 'a stream reserves money for its whole answer',
        from: ': Math.min(this.max_output_tokens, FIRST_STREAM_TOKENS)',
        to: ': this.max_output_tokens',
      },
      {
        name: 'the minimum of a call covers no output token',
        from: 'maxChargeFor(covered_input_tokens, output.answers, price)',
        to: 'maxChargeFor(covered_input_tokens, 0, price)',
      },
      {
        name: 'the minimum of a document by URL is its counted text',
        from: 'if (is_referenced) return this.max_input_tokens;',
        to: '',
      },
      {
        name: 'the beta header for a long context is ignored',
        from: "headers['anthropic-beta']?.includes('context-1m')",
        to: 'false',
      },
      {
        name: 'a model without a declared window has the default window',
        from: 'const isDeclared = model.declaration.context_window !== undefined;',
        to: 'const isDeclared = true;',
      },
      {
        name: 'the usage of an incomplete answer has the reported output tokens',
        from: 'output_tokens: countTokens(answer_text),',
        to: 'output_tokens: reported?.output_tokens ?? countTokens(answer_text),',
      },
    ],
  },
  {
    path: 'src/protocols/token-usage.ts',
    tests: ['test/upstreams/impossible-usage.test.ts'],
    mutants: [
      { name: 'negative counts of tokens are accepted', from: 'value >= 0 &&', to: 'true &&' },
      {
        name: 'fractions of tokens are accepted',
        from: 'Number.isSafeInteger(value) &&',
        to: 'Number.isFinite(value) &&',
      },
      {
        name: 'counts inside of details are not checked',
        from: 'if (!hasPossibleCounts(value as Record<string, unknown>, depth + 1)) return false;',
        to: '',
      },
    ],
  },
  {
    path: 'src/upstreams/pass-through/reported-usage.ts',
    tests: ['test/upstreams/impossible-usage.test.ts'],
    mutants: [
      {
        name: 'any number of output tokens is accepted',
        from: 'report.output_tokens <= most * call.mostAnswers()',
        to: 'true',
      },
      {
        name: 'any number of input tokens is accepted',
        from: 'inputTokens(report) <= call.model_context_window * MOST_INPUT_PER_WINDOW',
        to: 'true',
      },
    ],
  },
  {
    path: 'src/inference/requests/billed-parameters.ts',
    tests: ['test/inference/requests/billed-parameters.test.ts'],
    mutants: [
      {
        name: 'tools inside of a namespace are not looked at',
        from: 'if (Array.isArray(inner)) refuseTools(',
        to: 'if (inner === 0) refuseTools(',
      },
      {
        name: 'web search without a price is accepted',
        from: 'isSearch && model.price.web_search !== undefined && inner === undefined',
        to: 'isSearch',
      },
    ],
  },
  {
    path: 'src/upstreams/pass-through/web-search.ts',
    tests: ['test/inference/requests/billed-parameters.test.ts', 'test/http/web-search.test.ts'],
    mutants: [
      {
        name: 'web searches leave without a bound',
        from: 'isUnlimited(tools[at]) ? editMembers(tool, limits) : tool',
        to: 'tool',
      },
    ],
  },
  {
    path: 'src/inference/budget/highest-price.ts',
    tests: ['test/inference/budget/budget.test.ts'],
    mutants: [
      {
        name: 'no money is reserved for cache writes of one hour',
        from: '...(mayWriteFor1h ? {} : { cache_write_1h: 0 })',
        to: 'cache_write_1h: 0',
      },
      {
        name: 'no money is reserved for the price of audio',
        from: 'price.audio_input === undefined || MAY_HAVE_AUDIO.test(body_text)',
        to: 'price.audio_input === undefined',
      },
    ],
  },
  {
    path: 'src/inference/budget/output-bound.ts',
    tests: ['test/inference/budget'],
    mutants: [
      {
        name: 'a client may request more output than the maximum of the model',
        from: 'Math.min(limit, model_max_tokens)',
        to: 'limit',
      },
      {
        name: 'a limit of another protocol lowers the bound',
        from: 'largest(body, OWN_LIMITS[protocol], model_max_tokens) > 0;',
        to: 'true;',
      },
      {
        name: 'the first name of the limit counts',
        from: 'found = Math.max(found, isCount ? value : fallback);',
        to: 'found ||= isCount ? value : fallback;',
      },
      {
        name: 'a config without a limit is ignored',
        from: 'configs.every(hasLimit)',
        to: 'configs.some(hasLimit)',
      },
    ],
  },
  {
    path: 'src/inference/budget/input-bound.ts',
    tests: ['test/inference/budget'],
    mutants: [
      {
        name: 'an unknown kind of part has the tokens of its bytes',
        from: '    default:\n      input.addReference();\n  }\n}\n\n/** Reads the source',
        to: '  }\n}\n\n/** Reads the source',
      },
      {
        name: 'an unknown member has the tokens of its bytes',
        from: 'input.addReference();\n    else input.addUnbounded();',
        to: 'input.addReference();',
      },
      {
        name: 'every inline file of Gemini is an image',
        from: "if (isImage && typeof data['data'] === 'string')",
        to: "if (typeof data['data'] === 'string')",
      },
    ],
  },
  {
    path: 'src/upstreams/pass-through/request.ts',
    tests: ['test/inference/budget'],
    mutants: [
      {
        name: 'a limit of 0 stays when the limit is lowered',
        from: 'Number.isInteger(requested) && requested > 0',
        to: 'Number.isInteger(requested)',
      },
    ],
  },
];
