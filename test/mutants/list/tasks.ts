import type { MutatedFile } from '../mutant.ts';

export const TASKS: readonly MutatedFile[] = [
  {
    path: 'src/machines/task.ts',
    tests: ['test/machines/task.test.ts'],
    mutants: [
      {
        name: 'one channel more than the limit is tried in a round',
        from: 'context.tried.length + 1 < MAX_CHANNELS_PER_ROUND',
        to: 'context.tried.length < MAX_CHANNELS_PER_ROUND',
      },
      {
        name: 'one round more than the limit is run',
        from: 'context.rounds + 1 < MAX_ROUNDS',
        to: 'context.rounds < MAX_ROUNDS',
      },
      {
        name: 'a task with a waiting client runs all rounds',
        from: '      context.patient &&\n',
        to: '',
      },
      {
        name: 'a new round leaves out the channels of earlier rounds',
        from: '({ tried: [], rounds: context.rounds + 1 })',
        to: '({ rounds: context.rounds + 1 })',
      },
      {
        name: 'collecting is repeated without a limit',
        from: ' && context.recollections < MAX_RECOLLECTIONS',
        to: '',
      },
      {
        name: 'a lost submission is sent again',
        from: "            LOST: [\n              { guard: 'isEnding', target: '#task.processing.unknown.asking' },",
        to: "            LOST: [\n              { target: 'submitting', reenter: true },",
      },
      {
        name: 'the deadline discards a result',
        from: "DEADLINE: { target: 'polling', actions: 'markExpired' },",
        to: "DEADLINE: { target: '#task.refunding', actions: ['markExpired', 'recordEnding'] },",
      },
      {
        name: 'the job of a canceled task is not canceled',
        from: "actions: ['markCanceled', 'recordEnding', { type: 'cancel', params: {} }],",
        to: "actions: ['markCanceled', 'recordEnding'],",
      },
      {
        name: 'a task settles without a result',
        from: "PRODUCED: 'collecting',\n            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },\n            DEADLINE: { actions: 'markExpired' },",
        to: "PRODUCED: 'settling',\n            UPSTREAM_FAILED: { target: '#task.refunding', actions: 'recordError' },\n            DEADLINE: { actions: 'markExpired' },",
      },
      {
        name: 'the interval between polls does not grow',
        from: "delayAfterMs(context.polls, event);\n      enqueue(actionOf('setTimer', timerParams('poll'",
        to: "delayAfterMs(0, event);\n      enqueue(actionOf('setTimer', timerParams('poll'",
      },
    ],
  },
  {
    path: 'src/machines/channel.ts',
    tests: ['test/machines/channel.test.ts', 'test/actors/channels/channel.test.ts'],
    mutants: [
      {
        name: 'the circuit opens one failure too late',
        from: 'after.consecutive_failures >= FAILURES_TO_OPEN',
        to: 'after.consecutive_failures > FAILURES_TO_OPEN',
      },
      {
        name: 'a success does not reset the count of failures',
        from: 'success ? 0 : context.consecutive_failures + 1',
        to: 'success ? context.consecutive_failures : context.consecutive_failures + 1',
      },
      {
        name: 'the failure rate of too few calls opens the circuit',
        from: 'after.samples >= MIN_SAMPLES && ',
        to: '',
      },
      {
        name: 'the failure rate never opens the circuit',
        from: 'after.recent_success < SUCCESS_TO_STAY',
        to: 'after.recent_success < 0',
      },
      { name: 'cooldowns never grow', from: ' * 2 ** openings', to: '' },
      {
        name: 'cooldowns grow without a limit',
        from: 'Math.min(COOLDOWNS_MS[failure] * 2 ** openings, LONGEST_COOLDOWNS_MS[failure])',
        to: 'COOLDOWNS_MS[failure] * 2 ** openings',
      },
      {
        name: 'a second retry time shortens the first',
        from: 'open_until: Math.max(context.open_until, event.until),',
        to: 'open_until: event.until,',
      },
      {
        name: 'a probe starts one millisecond late',
        from: "hasCooledDown: ({ context, event }) =>\n      event.type === 'COOLED' && event.now >= context.open_until",
        to: "hasCooledDown: ({ context, event }) =>\n      event.type === 'COOLED' && event.now > context.open_until",
      },
      {
        name: 'the success of an older probe closes the circuit',
        from: "event.type === 'PROBED' && event.probe === context.probe && event.verdict === 'succeeded'",
        to: "event.type === 'PROBED' && event.verdict === 'succeeded'",
      },
      {
        name: 'a recovered channel has all its slots at once',
        from: '      slots: 1,\n',
        to: '      slots: null,\n',
      },
      {
        name: 'a failure during recovery does not reduce the slots',
        from: 'if (!success) return Math.max(1, Math.floor(slots / 2));',
        to: 'if (!success) return slots;',
      },
      {
        name: 'a healthy channel keeps its count of openings',
        from: "actions: ['recordSuccess', 'resetOpenings'],",
        to: "actions: ['recordSuccess'],",
      },
      {
        name: 'a channel that the operator disabled recovers on its own',
        from: "MENDED: { guard: 'mayReturn', target: 'degraded', actions: 'close' },",
        to: "MENDED: { target: 'degraded', actions: 'close' },",
      },
    ],
  },
  {
    path: 'src/actors/channels/channel.ts',
    tests: ['test/actors/channels/channel.test.ts', 'test/actors/channels/channels.test.ts'],
    mutants: [
      {
        name: 'one call more than max_concurrency runs',
        from: 'this.account.inFlight >= max_concurrency',
        to: 'this.account.inFlight > max_concurrency',
      },
      {
        name: 'a permit ends twice',
        from: '    if (this.hasEnded) return;\n',
        to: '',
      },
      {
        name: 'an ended call keeps its slot',
        from: '    this.account.inFlight -= 1;\n',
        to: '',
      },
      {
        name: 'the retry time of an upstream has no upper bound',
        from: 'Math.min(retry_after_ms ?? DEFAULT_THROTTLE_MS, MAX_THROTTLE_MS)',
        to: '(retry_after_ms ?? DEFAULT_THROTTLE_MS)',
      },
      {
        name: 'the retry time of a failing upstream is ignored',
        from: "this.send({ type: 'THROTTLED', until, failure }, use, cause_id);",
        to: ';',
      },
      {
        name: 'a refused key does not disable the other models of the account',
        from: "if (failure === 'auth') this.account.onCredentialsRefused(this);",
        to: '',
      },
      {
        name: 'the outcome of a call with the old account counts for the new account',
        from: "identity === this.account.generation ? outcome : 'abandoned'",
        to: 'outcome',
      },
      {
        name: 'an abandoned call counts as a failure of the model',
        from: "if (outcome === 'abandoned' || isUnclear(outcome)) return;",
        to: 'if (isUnclear(outcome)) return;',
      },
      {
        name: 'another call is admitted during a probe',
        from: "if (value === 'probing') return 'probing';",
        to: '',
      },
      {
        name: 'the latency is the time to the end of the answer',
        from: 'return this.answered_ms ?? this.channel.now() - this.started_ms;',
        to: 'return this.channel.now() - this.started_ms;',
      },
      {
        name: 'a recovering channel runs more calls than its slots',
        from: 'return urgent || this.inFlight < this.maxSlots(max_concurrency);',
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
        name: 'the next flush writes the same outcomes again',
        from: '    this.counts = new Map();\n    const outcomes',
        to: '    const outcomes',
      },
      {
        name: 'the outcomes since the last flush are lost on a stop',
        from: '    await this.flush().catch(this.deps.onError);\n  }\n\n  private',
        to: '  }\n\n  private',
      },
    ],
  },
  {
    path: 'src/inference/tasks/progress.ts',
    tests: ['test/inference/tasks/missing-jobs.test.ts'],
    mutants: [
      {
        name: 'a missing job fails its task without waiting',
        from: 'polls < MISSING_JOB_POLLS || missing_ms < MISSING_JOB_MS',
        to: 'polls < MISSING_JOB_POLLS',
      },
      {
        name: 'a missing job fails its task after one late poll',
        from: 'polls < MISSING_JOB_POLLS || missing_ms < MISSING_JOB_MS',
        to: 'missing_ms < MISSING_JOB_MS',
      },
      {
        name: 'the count of a missing job goes on after the job was found',
        from: 'if (work.job.missing) await endMissingJob(this.deps.sql, work.id);',
        to: '',
      },
      {
        name: 'an answer that cannot be read is logged at each poll',
        from: 'if (this.logged.has(id)) return;',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/tasks/work-reader.ts',
    tests: ['test/inference/tasks/work-reader.test.ts'],
    mutants: [
      {
        name: 'an effect gets the task as an earlier effect read it',
        from: 'cache: false, ',
        to: '',
      },
      {
        name: 'a missing task gets the task of another effect',
        from: 'ids.map((id) => rows.get(id) ?? missingTaskError(id))',
        to: 'ids.map((_, at) => [...rows.values()][at] ?? missingTaskError(String(at)))',
      },
    ],
  },
  {
    path: 'src/http/host.ts',
    tests: ['test/http/malformed-host.test.ts'],
    mutants: [
      {
        name: 'a port out of range is a valid Host',
        from: '!URL.canParse(',
        to: '!Boolean(',
      },
      {
        name: 'two Host headers are valid',
        from: ' || !HOST.test(host)',
        to: '',
      },
    ],
  },
];
