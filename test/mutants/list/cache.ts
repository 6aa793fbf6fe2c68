import type { MutatedFile } from '../mutant.ts';

export const CACHE: readonly MutatedFile[] = [
  {
    path: 'src/inference/cache/entry-store.ts',
    tests: ['test/inference/cache/entry-store.test.ts'],
    mutants: [
      {
        name: 'an answer is found only after more were stored',
        from: 'if (at >= 0 && at < this.waiting.length) this.indexWaiting();',
        to: '',
      },
      {
        name: 'large answers are beyond the bounds until there are many',
        from: ' || this.waiting_bytes > MANY_WAITING_BYTES',
        to: '',
      },
      {
        name: 'an answer that rules forbid as soon as it was added stays',
        from: 'change: (shelf: Shelf) => void): void {\n    this.indexWaiting();\n',
        to: 'change: (shelf: Shelf) => void): void {\n',
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
    path: 'src/inference/cache/packed-entries.ts',
    tests: ['test/inference/cache/packed-entries.test.ts', 'test/inference/cache/shelf.test.ts'],
    mutants: [
      {
        name: 'an entry that was moved is read where its texts were',
        from: '      this.writeTexts(rows.offset(to));\n',
        to: '',
      },
      {
        name: 'an open entry that was moved is not in its row any more',
        from: '      entry.at = to;\n',
        to: '',
      },
      {
        name: 'a known digest is forgotten',
        from: 'digest: isDigested ? third || null : undefined,',
        to: 'digest: undefined,',
      },
    ],
  },
  {
    path: 'src/inference/cache/slabs.ts',
    tests: ['test/inference/cache/slabs.test.ts'],
    mutants: [
      {
        name: 'memory that is used again is read for texts that were released',
        from: '    this.made += 1;\n',
        to: '',
      },
      {
        name: 'half a character is packed alone',
        from: "typeof second !== 'string' && second.some(endsWithinCharacter)",
        to: 'false',
      },
    ],
  },
  {
    path: 'src/inference/cache/rows.ts',
    tests: ['test/inference/cache/rows.test.ts'],
    mutants: [
      {
        name: 'rows are lost when there are more of them',
        from: 'if (this.length === this.capacity) this.resize',
        to: 'if (this.size === this.capacity) this.resize',
      },
      {
        name: 'rows keep the memory of many others that were freed',
        from: 'if (isSparse && this.capacity > MIN_ROWS) this.resize(this.capacity / 2);',
        to: '',
      },
      {
        name: 'freed rows at the beginning are not used again',
        from: 'while (this.first < this.end && this.isFree(this.first)) this.first += 1;',
        to: '',
      },
    ],
  },
  {
    path: 'src/inference/cache/places.ts',
    tests: ['test/inference/cache/places.test.ts'],
    mutants: [
      {
        name: 'a place that other requests have too is forgotten',
        from: 'if (known.uses === 0) this.places.delete(number);',
        to: 'this.places.delete(number);',
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
