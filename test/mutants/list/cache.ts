import type { MutatedFile } from '../mutant.ts';

export const CACHE: readonly MutatedFile[] = [
  {
    path: 'src/inference/cache/entry-store.ts',
    tests: ['test/inference/cache/entry-store.test.ts'],
    mutants: [
      {
        name: 'an answer is found only after more were stored',
        from: 'if (at >= 0 && at < this.waiting.length) this.placeWaiting();',
        to: '',
      },
      {
        name: 'large answers wait until there are many',
        from: ' || this.waiting_bytes > MANY_WAITING_BYTES',
        to: '',
      },
      {
        name: 'an answer that is removed before it has a place stays',
        from: '  remove(entry: Entry): void {\n    this.placeWaiting();\n',
        to: '  remove(entry: Entry): void {\n',
      },
    ],
  },
  {
    path: 'src/inference/cache/read-answer.ts',
    tests: ['test/inference/cache/read-answer.test.ts'],
    mutants: [
      {
        name: 'a stream has its usage if the first one of the answer had it',
        from: "const name = form?.(body) ?? '';",
        to: "const name = '';",
      },
      {
        name: 'streams of an answer have the same ids of tool calls',
        from: 'cut = cutAtNames(renderEvents(call, text), [own_id, ...other_ids]);',
        to: 'cut = cutAtNames(renderEvents(call, text), [own_id]);',
      },
    ],
  },
  {
    path: 'src/inference/chat/cached-answer.ts',
    tests: ['test/http/cache/flights.test.ts'],
    mutants: [
      {
        name: 'a call that waited for money does not look for an answer again',
        from: "found === 'unknown' ? findAnswer(call, lookup) : found",
        to: "found === 'unknown' ? undefined : found",
      },
    ],
  },
  {
    path: 'src/inference/cache/led-answer.ts',
    tests: ['test/http/cache/flights.test.ts'],
    mutants: [
      {
        name: 'an answer whose first client left is lost to the others',
        from: 'if (!flight.isAbandoned) return;',
        to: 'return;',
      },
    ],
  },
  {
    path: 'src/inference/cache/entry.ts',
    tests: ['test/inference/cache/read-answer.test.ts'],
    mutants: [
      {
        name: 'the bytes of events that are kept do not count',
        from: '...streams.flatMap(({ pieces, ids }) => [...pieces, ...ids])',
        to: '',
      },
    ],
  },
];
