import type { MutatedFile } from '../mutant.ts';

export const START: readonly MutatedFile[] = [
  {
    path: 'src/http/app.ts',
    tests: ['test/start/port.test.ts'],
    mutants: [
      {
        name: 'two processes share a port',
        from: 'reusePort: false',
        to: 'reusePort: true',
      },
    ],
  },
];
