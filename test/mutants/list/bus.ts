import type { MutatedFile } from '../mutant.ts';

const BUS_TESTS = ['test/actors/bus/bus.test.ts', 'test/actors/bus/lossy-network.test.ts'];

export const BUS: readonly MutatedFile[] = [
  {
    path: 'src/actors/bus/peers.ts',
    tests: BUS_TESTS,
    mutants: [
      {
        name: 'a repeated envelope is delivered again',
        from: 'isNew: !isHeartbeat && seq > known',
        to: 'isNew: !isHeartbeat',
      },
      {
        name: 'a missing envelope is not noticed',
        from: 'isGap: before > known ||',
        to: 'isGap:',
      },
      {
        name: 'every new sender counts as one that just started',
        from: '(mayAdopt ? before : 0)',
        to: 'before',
      },
      {
        name: 'a late envelope moves the number of its sender back',
        from: 'Math.max(known, seq)',
        to: 'seq',
      },
    ],
  },
  {
    path: 'src/actors/bus/gap-signal.ts',
    tests: BUS_TESTS,
    mutants: [
      {
        name: 'a gap soon after another one is left out',
        from: 'this.cancel = this.clock.after(wait_ms, () => this.reportNow());',
        to: 'return;',
      },
    ],
  },
  {
    path: 'src/actors/bus/outgoing.ts',
    tests: BUS_TESTS,
    mutants: [
      {
        name: 'the queue of messages has no bound',
        from: 'this.queuedBytes + bytes > MAX_QUEUED_BYTES',
        to: 'false',
      },
      {
        name: 'lost messages are not reported to replicas that just started',
        from: 'for (const topic of topics) this.lostTopics.add(topic);',
        to: '',
      },
    ],
  },
  {
    path: 'src/actors/bus/bus.ts',
    tests: BUS_TESTS,
    mutants: [
      {
        name: 'the silence of a sender is no gap',
        from: 'if (this.peers.tick()) this.gapSignal.request(TOPICS);',
        to: 'this.peers.tick();',
      },
      {
        name: 'a transport that is away is not noticed',
        from: 'if (ticksAway > 0 && ticksAway % TICKS_PER_GAP === 1) this.gapSignal.request(TOPICS);',
        to: '',
      },
    ],
  },
  {
    path: 'src/start/subscriptions.ts',
    tests: ['test/start/subscriptions.test.ts'],
    mutants: [
      {
        name: 'after a gap the key cache keeps its keys',
        from: '    keys.invalidateAll();\n',
        to: '',
      },
      {
        name: 'after a gap the latest recall is not read',
        from: 'onGap: () => recalls.request(),',
        to: 'onGap: () => undefined,',
      },
    ],
  },
];
