import type { MutatedFile } from '../mutant.ts';

const REGISTRY = ['test/actors/durable/registry.test.ts'];
const RECREATION = ['test/actors/durable/recreation.test.ts'];

export const LIVE_ACTORS: readonly MutatedFile[] = [
  {
    path: 'src/actors/durable/catch-up.ts',
    tests: REGISTRY,
    mutants: [
      {
        name: 'a row that is older than an event heard meanwhile is used',
        from: 'const isOld = known_seq > (row?.seq ?? 0);',
        to: 'const isOld = false;',
      },
      {
        name: 'a gap forgets the actor whose row is being read',
        from: 'if (gaps !== this.gaps) this.doubtful.add(actor);',
        to: '',
      },
      {
        name: 'an actor that got an event is created again, because of a later one',
        from: ' && !hasMoved(actor)',
        to: '',
        tests: RECREATION,
      },
      {
        name: 'an announcement is forgotten',
        from: 'actor.known_seq = Math.max(actor.known_seq, seq);',
        to: '',
      },
      {
        name: 'a failed comparison is not repeated',
        from: 'for (const actor of batch) this.doubtful.add(actor);',
        to: '',
      },
      {
        name: 'an event of another version of the machine is applied',
        from: 'if (machine_version !== this.deps.versionOf(kind)) continue;',
        to: '',
        tests: RECREATION,
      },
    ],
  },
  {
    path: 'src/actors/durable/live-logic.ts',
    tests: ['test/actors/durable/passivation.test.ts'],
    mutants: [
      {
        name: 'a live actor does not know its timers',
        from: "if (type === 'setTimer') this",
        to: "if (type === 'never') this",
      },
    ],
  },
  {
    path: 'src/actors/durable/live-actor.ts',
    tests: RECREATION,
    mutants: [
      {
        name: 'an actor whose machine threw counts its event as done',
        from: 'this.last_seq = seq - 1;',
        to: '',
      },
    ],
  },
];
