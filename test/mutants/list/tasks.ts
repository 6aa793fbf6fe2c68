import type { MutatedFile } from '../mutant.ts';

export const TASKS: readonly MutatedFile[] = [
  {
    path: 'src/machines/task.ts',
    tests: ['test/machines/task.test.ts'],
    mutants: [
      {
        name: 'one channel too many in a round',
        from: 'context.tried.length + 1 < MAX_CHANNELS_PER_ROUND',
        to: 'context.tried.length < MAX_CHANNELS_PER_ROUND',
      },
      {
        name: 'one round too many',
        from: 'context.rounds + 1 < MAX_ROUNDS',
        to: 'context.rounds < MAX_ROUNDS',
      },
      {
        name: 'a client that waits is made to wait for all rounds',
        from: '      context.patient &&\n',
        to: '',
      },
      {
        name: 'a new round leaves out who was tried before',
        from: '({ tried: [], rounds: context.rounds + 1 })',
        to: '({ rounds: context.rounds + 1 })',
      },
      {
        name: 'collects for ever',
        from: ' && context.recollections < MAX_RECOLLECTIONS',
        to: '',
      },
      {
        name: 'a lost submission is sent again',
        from: "            LOST: [\n              { guard: 'isEnding', target: '#task.processing.unknown.asking' },",
        to: "            LOST: [\n              { target: 'submitting', reenter: true },",
      },
      {
        name: 'the deadline throws a result away',
        from: "DEADLINE: { target: 'polling', actions: 'expire' },",
        to: "DEADLINE: { target: '#task.refunding', actions: ['expire', 'noteEnding'] },",
      },
      {
        name: 'a client that left does not stop the job',
        from: "actions: ['leave', 'noteEnding', { type: 'cancel', params: {} }],",
        to: "actions: ['leave', 'noteEnding'],",
      },
      {
        name: 'settles without a result',
        from: "PRODUCED: 'collecting',\n            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'noteError' },\n            DEADLINE: { actions: 'expire' },",
        to: "PRODUCED: 'settling',\n            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'noteError' },\n            DEADLINE: { actions: 'expire' },",
      },
      {
        name: 'polls do not back off',
        from: "spreadMs(context.polls, event);\n      enqueue(named('setTimer', fromTimer('poll'",
        to: "spreadMs(0, event);\n      enqueue(named('setTimer', fromTimer('poll'",
      },
    ],
  },
  {
    path: 'src/machines/channel.ts',
    tests: ['test/machines/channel.test.ts', 'test/actors/channels/channel.test.ts'],
    mutants: [
      {
        name: 'one failure more opens',
        from: 'after.consecutive_failures >= FAILURES_TO_OPEN',
        to: 'after.consecutive_failures > FAILURES_TO_OPEN',
      },
      {
        name: 'a success does not start the count anew',
        from: 'success ? 0 : context.consecutive_failures + 1',
        to: 'success ? context.consecutive_failures : context.consecutive_failures + 1',
      },
      {
        name: 'a rate of three calls opens',
        from: 'after.samples >= MIN_SAMPLES && ',
        to: '',
      },
      {
        name: 'the rate of failures never opens',
        from: 'after.recent_success < SUCCESS_TO_STAY',
        to: 'after.recent_success < 0',
      },
      { name: 'rests never grow', from: ' * 2 ** openings', to: '' },
      {
        name: 'rests grow without bound',
        from: 'Math.min(COOLDOWNS_MS[failure] * 2 ** openings, LONGEST_COOLDOWNS_MS[failure])',
        to: 'COOLDOWNS_MS[failure] * 2 ** openings',
      },
      {
        name: 'a named deadline is shortened',
        from: 'open_until: Math.max(context.open_until, event.until),',
        to: 'open_until: event.until,',
      },
      {
        name: 'a probe comes one moment late',
        from: "isCool: ({ context, event }) => event.type === 'COOLED' && event.now >= context.open_until",
        to: "isCool: ({ context, event }) => event.type === 'COOLED' && event.now > context.open_until",
      },
      {
        name: 'an older probe closes it',
        from: "event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'succeeded'",
        to: "event.type === 'PROBED' && event.verdict === 'succeeded'",
      },
      {
        name: 'comes back with all its places',
        from: '      places: 1,\n',
        to: '      places: null,\n',
      },
      {
        name: 'a failure on the way back takes no places',
        from: 'if (!success) return Math.max(1, Math.floor(places / 2));',
        to: 'if (!success) return places;',
      },
      {
        name: 'never forgets how often it opened',
        from: "actions: ['recordSuccess', 'forgetOpenings'],",
        to: "actions: ['recordSuccess'],",
      },
      {
        name: 'what the operator disabled comes back by itself',
        from: "MENDED: { guard: 'returns', target: 'degraded', actions: 'close' },",
        to: "MENDED: { target: 'degraded', actions: 'close' },",
      },
    ],
  },
  {
    path: 'src/actors/channels/channel.ts',
    tests: ['test/actors/channels/channel.test.ts', 'test/actors/channels/channels.test.ts'],
    mutants: [
      {
        name: 'one call too many at once',
        from: 'this.account.inFlight >= max_concurrency',
        to: 'this.account.inFlight > max_concurrency',
      },
      {
        name: 'a permit ends twice',
        from: '    if (this.over) return;\n',
        to: '',
      },
      {
        name: 'an ended call keeps its place',
        from: '    this.account.inFlight -= 1;\n',
        to: '',
      },
      {
        name: 'an upstream may ask for retirement',
        from: 'Math.min(retry_after_ms ?? DEFAULT_THROTTLE_MS, MAX_THROTTLE_MS)',
        to: '(retry_after_ms ?? DEFAULT_THROTTLE_MS)',
      },
      {
        name: 'a sick upstream that names a time is not believed',
        from: "if (retry_after_ms !== undefined) this.machine.send({ type: 'THROTTLED', until, failure });",
        to: '',
      },
      {
        name: 'a refused key leaves other models alone',
        from: "if (failure === 'auth') this.account.credentialsFailed(this);",
        to: '',
      },
      {
        name: 'a call of the old account speaks for the new one',
        from: "identity === this.account.identity ? outcome : 'abandoned'",
        to: 'outcome',
      },
      {
        name: 'an abandoned call counts as a failure of the model',
        from: "if (outcome === 'abandoned') return;",
        to: '',
      },
      {
        name: 'a probe in flight lets another call in',
        from: "if (value === 'probing') return null;",
        to: '',
      },
      {
        name: 'the time of a whole answer counts as its first words',
        from: 'return this.answered_ms ?? this.channel.now() - this.since;',
        to: 'return this.channel.now() - this.since;',
      },
      {
        name: 'calls beside the places of slow start',
        from: 'return urgent || this.inFlight < this.share(max_concurrency);',
        to: 'return true;',
      },
    ],
  },
  {
    path: 'src/actors/channels/outcomes.ts',
    tests: ['test/actors/channels/outcomes.test.ts'],
    mutants: [
      {
        name: 'failures count as successes',
        from: 'if (success) counts.succeeded += 1;\n    else counts.failed += 1;',
        to: 'counts.succeeded += 1;',
      },
      {
        name: 'outcomes are written again with the next flush',
        from: '    this.counts = new Map();\n    const said',
        to: '    const said',
      },
      {
        name: 'the last outcomes are lost at the end',
        from: '    await this.flush().catch(this.deps.onError);\n  }\n\n  private',
        to: '  }\n\n  private',
      },
    ],
  },
];
