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
        name: 'an attempt starts after the client’s deadline',
        from: '      if (signal.aborted) throw signal.reason;\n',
        to: '',
      },
      {
        name: 'an attempt starts after the time for failover',
        from: ' && now() < this.end_ms;',
        to: ';',
      },
      {
        name: 'a client error keeps its slot on the channel',
        from: '          permit.abandoned();\n',
        to: '',
      },
      {
        name: 'a client error leads to the next channel',
        from: 'if (!(error instanceof RetryableUpstreamError)) {',
        to: 'if (false) {',
      },
      {
        name: 'a failure is not reported to its channel',
        from: '        permit.failed(error);\n',
        to: '',
      },
      {
        name: 'channels that declined are not tried as urgent',
        from: "channel.tryAcquire('call', urgent, ",
        to: "channel.tryAcquire('call', false, ",
      },
      {
        name: 'one throttled channel among others leads to a 429',
        from: 'throttled.length === enabled.length',
        to: 'throttled.length > 0',
      },
      {
        name: 'a disabled channel prevents a 429',
        from: "channels.filter(({ state }) => state !== 'disabled')",
        to: '[...channels]',
      },
      {
        name: 'one timeout among other failures leads to a timeout_error',
        from: "first && failures.every(({ failure }) => failure === 'timeout')",
        to: "first && failures.some(({ failure }) => failure === 'timeout')",
      },
      {
        name: 'a refused channel key leads to an upstream_error',
        from: "channels.length === 1 && first && first.failure !== 'auth'",
        to: 'channels.length === 1 && first',
      },
    ],
  },
  {
    path: 'src/inference/routing/order.ts',
    tests: ['test/inference/routing/order.test.ts', 'test/inference/routing/route.test.ts'],
    mutants: [
      {
        name: 'the channel with the lowest draw comes first',
        from: 'b.draw - a.draw',
        to: 'a.draw - b.draw',
      },
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
      { name: 'the order ignores health', from: 'config.weight * health', to: 'config.weight' },
      { name: 'the order ignores weight', from: 'config.weight * health', to: 'health' },
      { name: 'latency is not squared', from: '(fastest_ms / ms) ** 2', to: '(fastest_ms / ms)' },
      {
        name: 'a channel without a known latency counts as slow',
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
        name: 'the hedge timer of the first channel is not canceled',
        from: '      clearTimeout(timer);\n      // A channel without',
        to: '      // A channel without',
      },
      {
        name: 'the hedge timer is not canceled after an answer',
        from: '      clearTimeout(timer);\n      for (const controller',
        to: '      for (const controller',
      },
      {
        name: 'the slower attempt is not aborted',
        from: 'for (const controller of attempts)\n        if (controller !== winner) controller.abort(OTHER_WAS_FASTER);',
        to: '',
      },
      {
        name: 'the faster attempt is aborted too',
        from: 'if (controller !== winner) controller.abort(OTHER_WAS_FASTER);',
        to: 'controller.abort(OTHER_WAS_FASTER);',
      },
      {
        name: 'a late answer is not discarded',
        from: '        if (isFinished && served) discard(served);\n',
        to: '',
      },
      {
        name: 'the call ends when the first of two attempts has no channel left',
        from: 'else if (running === 0) {',
        to: 'else {',
      },
      {
        name: 'a channel without a p95 is hedged',
        from: 'if (latency.p95_ms !== undefined)\n        timer',
        to: 'timer',
      },
    ],
  },
  {
    path: 'src/inference/streaming/settle-stream.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'an answer without output is charged',
        from: 'if (!reported && !hasOutput) {',
        to: 'if (false) {',
      },
      {
        name: 'the reported usage counts for an incomplete answer',
        from: "outcome === 'completed' ? stream.usage() : null",
        to: 'stream.usage()',
      },
    ],
  },
  {
    path: 'src/upstreams/stream/delta-template.ts',
    tests: ['test/upstreams/stream/merged-deltas.test.ts'],
    mutants: [
      {
        name: 'the names of two tools are kept as one',
        from: 'isName ? undefined : {',
        to: '{',
      },
    ],
  },
  {
    path: 'src/inference/streaming/outgoing-events.ts',
    tests: ['test/upstreams/stream/merged-deltas.test.ts'],
    mutants: [
      {
        name: 'the first delta is kept beside the others',
        from: 'isSecond && this.wasUnchanged',
        to: 'false',
      },
      {
        name: 'a delta that was sent before is cut',
        from: 'isSecond && this.wasUnchanged',
        to: 'isSecond',
      },
      {
        name: 'the end of a delta is cut that was sent in another form',
        from: 'this.wasUnchanged = text === event.text;',
        to: 'this.wasUnchanged = true;',
        tests: ['test/inference/streaming/outgoing-events.test.ts'],
      },
      {
        name: 'what follows the events is not kept',
        from: 'pieces.push(sent.slice(at));',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/streaming/stream.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'the end of an answer is sent before its charge is committed',
        from: "if (final || this.held !== '') this.held += text;",
        to: 'if (false) this.held += text;',
      },
      {
        name: 'an answer whose charge failed ends as complete',
        from: '      await this.endWithError(client, error);\n    }\n  }\n\n  /**\n   * Handles a failure',
        to: '      this.end(client, this.held);\n    }\n  }\n\n  /**\n   * Handles a failure',
      },
      {
        name: 'the text of an answer that arrived at once is lost if its charge fails',
        from: "const text = (this.unsent?.text ?? '') + this.errorText(error);",
        to: 'const text = this.errorText(error);',
      },
      {
        name: 'the text of an answer waits for the end of the upstream',
        hangs: true,
        from: "this.unsent && Bun.peek.status(next) === 'pending'",
        to: 'false',
      },
      {
        name: 'an upstream that failed in the middle of a stream is not stopped',
        from: '    this.isEnded = true;\n    this.deps.open.stop.abort();\n    const { permit }',
        to: '    this.isEnded = true;\n    const { permit }',
        equivalent_because:
          'If the events of a protocol throw, they close their connection themselves.',
      },
      {
        name: 'the upstream is not stopped after the client left',
        hangs: true,
        from: '    this.deps.open.stop.abort();\n    this.deps.open.permit.abandoned();',
        to: '    this.deps.open.permit.abandoned();',
      },
      {
        name: 'a client that left counts as a failure of the channel',
        from: '    this.deps.open.stop.abort();\n    this.deps.open.permit.abandoned();',
        to: "    this.deps.open.stop.abort();\n    this.deps.open.permit.failed(new RetryableUpstreamError('server', 'left'));",
      },
      {
        name: 'a failure in the middle of a stream does not count for its channel',
        from: 'if (error instanceof RetryableUpstreamError) permit.failed(error);',
        to: 'if (false) permit.abandoned();',
      },
      {
        name: 'events that were sent are kept again with the end of the answer',
        from: '      this.unsent = undefined;\n    }\n    return next;',
        to: '    }\n    return next;',
      },
      {
        name: 'a stream never extends its reservation',
        from: 'return this.produced_tokens + EXTENSION_MARGIN_TOKENS < this.covered_tokens;',
        to: 'return true;',
      },
      {
        name: 'an extension does not add covered tokens',
        from: '      this.covered_tokens += more;\n',
        to: '',
      },
      {
        name: 'a stream without money continues',
        from: 'return tokens < this.covered_tokens;',
        to: 'return true;',
      },
      {
        name: 'a cut answer counts as completed',
        from: "this.isCutShort ? 'partial' : 'completed'",
        to: "'completed'",
      },
    ],
  },
  {
    path: 'src/inference/streaming/open-stream.ts',
    tests: ['test/inference/streaming/stream.test.ts'],
    mutants: [
      {
        name: 'an event without content opens the stream',
        from: "return final || produced !== '';",
        to: 'return true;',
      },
      {
        name: 'the deadline of the first token is not canceled',
        from: '    deadline.cancel();\n',
        to: '    void deadline;\n',
      },
      {
        name: 'events before the first token are lost',
        from: 'for (const event of batch) first.push(event);\n    if (batch.some(hasContent)) return first;',
        to: 'if (batch.some(hasContent)) return batch;',
      },
      {
        name: 'the time to the first token is not recorded',
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
        name: 'the charge of a call is 0',
        from: 'return reservation.settle(line, amount, counted);',
        to: 'return reservation.settle(line, 0, counted);',
      },
      {
        name: 'an estimated usage is not marked',
        from: '    estimated,\n    input_tokens',
        to: '    estimated: false,\n    input_tokens',
      },
      {
        name: 'the output limit is not sent to the upstream',
        from: '    signal,\n    max_output_tokens,\n  };',
        to: '    signal,\n    max_output_tokens: undefined,\n  };',
      },
    ],
  },
  {
    path: 'src/inference/client-deadline.ts',
    tests: ['test/inference/client-deadline.test.ts'],
    mutants: [
      {
        name: 'a deadline never passes',
        from: 'performance.now() >= this.expires_at_ms',
        to: 'false',
      },
      {
        name: 'a client that leaves does not end a call with a deadline',
        from: 'if (this.client.aborted) this.end(this.client.reason);\n    else if',
        to: 'if',
      },
      {
        name: 'a waiting call is not told of its deadline',
        hangs: true,
        from: '    watch(this);\n',
        to: '',
      },
      {
        name: 'a deadline is checked for ever',
        from: 'this.listeners.size > 0 && !this.aborted',
        to: '!this.aborted',
      },
    ],
  },
  {
    path: 'src/http/call-signal.ts',
    tests: ['test/http/client-deadline.test.ts'],
    mutants: [
      {
        name: 'the default of the key wins over the header',
        from: 'header === null ? (key.timeout_ms ?? 0) : parseTimeout(header)',
        to: "key.timeout_ms ?? parseTimeout(header ?? '')",
      },
      {
        name: 'a deadline below the bound is accepted',
        from: 'timeout_ms >= MIN_CLIENT_TIMEOUT_MS',
        to: 'timeout_ms > 0',
      },
      {
        name: 'a deadline above the bound is accepted',
        from: ' && timeout_ms <= MAX_CLIENT_TIMEOUT_MS',
        to: '',
      },
    ],
  },
  {
    path: 'src/start/weir.ts',
    tests: ['test/http/operator.test.ts'],
    mutants: [
      {
        name: 'a reload does not replace the catalogue',
        from: '      catalogue: actors.catalogue,',
        to: '      catalogue: ((kept) => () => kept)(live.now.catalogue),',
      },
    ],
  },
];
