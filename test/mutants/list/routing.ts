import type { MutatedFile } from '../mutant.ts';

export const ROUTING: readonly MutatedFile[] = [
  {
    path: 'src/inference/routing/route.ts',
    tests: ['test/inference/routing/route.test.ts'],
    mutants: [
      {
        name: 'retry_after has no upper bound',
        from: 'return Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, wait));',
        to: 'return Math.max(MIN_RETRY_AFTER_S, wait);',
      },
      {
        name: 'retry_after may be zero',
        from: 'return Math.min(MAX_RETRY_AFTER_S, Math.max(MIN_RETRY_AFTER_S, wait));',
        to: 'return Math.min(MAX_RETRY_AFTER_S, wait);',
      },
      {
        name: 'retry_after is rounded down',
        from: 'Math.ceil((then - now) / 1000)',
        to: 'Math.floor((then - now) / 1000)',
      },
      {
        name: 'one channel too many is tried',
        from: 'this.failures.length < MAX_ATTEMPTS',
        to: 'this.failures.length <= MAX_ATTEMPTS',
      },
      {
        name: 'a try may go beyond the deadline',
        from: 'Math.min(left_ms, permit.channel.config.timeout_ms)',
        to: 'permit.channel.config.timeout_ms',
      },
      { name: 'a try begins after the deadline', from: ' && left_ms > 0 ?', to: ' ?' },
      {
        name: 'a client error keeps the place of its channel',
        from: '          permit.abandoned();\n          throw publicError(error);',
        to: '          throw publicError(error);',
      },
      {
        name: 'a client error moves on',
        from: 'if (!(error instanceof RetryableUpstreamError)) {',
        to: 'if (false) {',
      },
      {
        name: 'a failure is not reported to its channel',
        from: '        permit.failed(error);\n',
        to: '',
      },
      {
        name: 'channels that hold back are not asked urgently',
        from: "channel.tryAcquire('call', true)",
        to: "channel.tryAcquire('call', false)",
      },
      {
        name: 'one throttled channel among others makes a 429',
        from: 'throttled.length === enabled.length',
        to: 'throttled.length > 0',
      },
      {
        name: 'disabled channels count against a 429',
        from: "channels.filter(({ state }) => state !== 'disabled')",
        to: '[...channels]',
      },
      {
        name: 'one timeout among other failures makes a timeout_error',
        from: "first && failures.every(({ failure }) => failure === 'timeout')",
        to: "first && failures.some(({ failure }) => failure === 'timeout')",
      },
      {
        name: 'a wrong key is told to the client',
        from: "channels.length === 1 && first && first.failure !== 'auth'",
        to: 'channels.length === 1 && first',
      },
    ],
  },
  {
    path: 'src/inference/routing/order.ts',
    tests: ['test/inference/routing/order.test.ts', 'test/inference/routing/route.test.ts'],
    mutants: [
      { name: 'the last draw comes first', from: 'b.draw - a.draw', to: 'a.draw - b.draw' },
      {
        name: 'the highest priority number comes first',
        from: 'a.tiers[0] - b.tiers[0]',
        to: 'b.tiers[0] - a.tiers[0]',
      },
      {
        name: 'the second tier is ignored',
        from: ' || a.tiers[1] - b.tiers[1]',
        to: '',
      },
      { name: 'health is ignored', from: 'config.weight * health', to: 'config.weight' },
      { name: 'weight is ignored', from: 'config.weight * health', to: 'health' },
      { name: 'latency counts once', from: '(fastest_ms / ms) ** 2', to: '(fastest_ms / ms)' },
      {
        name: 'an unknown channel counts as slow',
        from: 'channel.latency.mean_ms ?? fastest_ms',
        to: 'channel.latency.mean_ms ?? 60_000',
      },
      {
        name: 'a channel without a cost factor is the cheapest',
        from: 'channel.config.cost_factor ?? 1',
        to: 'channel.config.cost_factor ?? 0',
      },
      {
        name: 'the draw ignores the weight',
        from: 'random() ** (1 / Math.max(weight, 1e-6))',
        to: 'random()',
      },
    ],
  },
  {
    path: 'src/inference/routing/hedge.ts',
    tests: ['test/inference/routing/hedge.test.ts'],
    mutants: [
      {
        name: 'the timer of the first channel runs on',
        from: '      clearTimeout(timer);\n      // Where',
        to: '      // Where',
      },
      {
        name: 'the timer runs on after an answer',
        from: '      clearTimeout(timer);\n      for (const lane',
        to: '      for (const lane',
      },
      {
        name: 'the loser is not stopped',
        from: 'for (const lane of lanes) if (lane !== winner) lane.abort(LOST);',
        to: '',
      },
      {
        name: 'the winner is stopped as well',
        from: 'if (lane !== winner) lane.abort(LOST);',
        to: 'lane.abort(LOST);',
      },
      {
        name: 'a late answer is not discarded',
        from: '        if (over && served) discard(served);\n',
        to: '',
      },
      {
        name: 'the first lane without channels ends the call',
        from: 'else if (running === 0) {',
        to: 'else {',
      },
      {
        name: 'hedges where nothing is known',
        from: 'if (latency.p95_ms !== undefined) timer',
        to: 'timer',
      },
    ],
  },
  {
    path: 'src/inference/streaming/stream.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'the end goes out before the charge',
        from: "if (final || this.held !== '') this.held += text;",
        to: 'if (false) this.held += text;',
      },
      {
        name: 'a failed charge ends the answer as if it were whole',
        from: '      this.end(client, this.errorText(error));\n    }\n  }\n\n  /** The upstream broke off',
        to: '      this.end(client, this.held);\n    }\n  }\n\n  /** The upstream broke off',
      },
      {
        name: 'nothing delivered is charged',
        from: 'if (!reported && this.produced.length === 0) {',
        to: 'if (false) {',
      },
      {
        name: 'an upstream that broke off is not stopped',
        from: '    this.ended = true;\n    this.deps.open.stop.abort();\n    const { permit }',
        to: '    this.ended = true;\n    const { permit }',
        stands: 'The events of a protocol close their connection themselves when they throw.',
      },
      {
        name: 'a client that left does not stop the upstream',
        from: '    this.deps.open.stop.abort();\n    this.deps.open.permit.abandoned();',
        to: '    this.deps.open.permit.abandoned();',
      },
      {
        name: 'a client that left counts against the channel',
        from: '    this.deps.open.stop.abort();\n    this.deps.open.permit.abandoned();',
        to: "    this.deps.open.stop.abort();\n    this.deps.open.permit.failed(new RetryableUpstreamError('server', 'left'));",
      },
      {
        name: 'an upstream that broke off does not count against its channel',
        from: 'if (error instanceof RetryableUpstreamError) permit.failed(error);',
        to: 'if (false) permit.abandoned();',
      },
      {
        name: 'what was reported counts though the answer broke off',
        from: "outcome === 'completed' ? open.stream.usage() : null",
        to: 'open.stream.usage()',
      },
      {
        name: 'never asks for more money',
        from: 'return roughly + EXTENSION_MARGIN_TOKENS < this.covered;',
        to: 'return true;',
      },
      {
        name: 'an extension that was paid for does not count',
        from: '      this.covered += more;\n',
        to: '',
      },
      {
        name: 'a stream without money goes on',
        from: 'return tokens < this.covered;',
        to: 'return true;',
      },
      {
        name: 'a cut answer counts as completed',
        from: "this.cutShort ? 'partial' : 'completed'",
        to: "'completed'",
      },
    ],
  },
  {
    path: 'src/inference/streaming/open-stream.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'an event without words opens the stream',
        from: "return final || produced !== '';",
        to: 'return true;',
      },
      {
        name: 'the deadline of the first words runs on',
        from: '    words.met();\n',
        to: '    void words;\n',
      },
      {
        name: 'events before the first words are lost',
        from: 'first ? first.concat(value ?? []) : (value ?? [])',
        to: 'value ?? []',
      },
      {
        name: 'the time to the first words is not noted',
        from: '    permit.answered();\n',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/call.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'a call is charged at no cost',
        from: 'return reservation.settle(line, charge(call.model, usage));',
        to: 'return reservation.settle(line, 0);',
      },
      {
        name: 'an estimate is not marked',
        from: '    estimated,\n    ...usage,',
        to: '    estimated: false,\n    ...usage,',
      },
      {
        name: 'the clamp does not reach the upstream',
        from: '    signal,\n    max_output_tokens,\n  };',
        to: '    signal,\n    max_output_tokens: undefined,\n  };',
      },
    ],
  },
  {
    path: 'src/start/weir.ts',
    tests: ['test/http/operator.test.ts'],
    mutants: [
      {
        name: 'the catalogue of the start is kept on a reload',
        from: 'catalogue: () => live.now.catalogue,',
        to: 'catalogue: ((kept) => () => kept)(live.now.catalogue),',
      },
    ],
  },
];
