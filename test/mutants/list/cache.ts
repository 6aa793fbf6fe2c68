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
];
