import type { MutatedFile } from '../mutant.ts';

export const VENDORS: readonly MutatedFile[] = [
  {
    path: 'src/upstreams/chat/openai-request.ts',
    tests: ['test/upstreams/chat/vendors/refusals.test.ts'],
    mutants: [
      {
        name: 'a quoted refusal is remembered',
        from: 'if (!mentions(body, member)) target',
        to: 'target',
      },
      {
        name: 'a member of the client counts as Weir’s own',
        from: 'if (!isOfClient) addOwn',
        to: 'addOwn',
      },
    ],
  },
];
