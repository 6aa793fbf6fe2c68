import type { MutatedFile } from '../mutant.ts';

export const CONTRACTS: readonly MutatedFile[] = [
  {
    path: 'src/catalogue/contracts/direct.ts',
    tests: ['test/http/contract-truth.test.ts'],
    mutants: [
      {
        name: 'a parameter that the model does not have is taken',
        from: 'if (Object.hasOwn(properties, name) || value === null) continue;',
        to: 'if (Object.hasOwn(all.properties, name) || value === null) continue;',
      },
      {
        name: 'a model takes what its declaration leaves out',
        from: 'declaration.offers?.without ?? []',
        to: '[]',
      },
    ],
  },
  {
    path: 'src/http/models/view.ts',
    tests: ['test/http/contract-truth.test.ts'],
    mutants: [
      {
        name: 'a client sees how a price was checked',
        from: 'return { source, date };',
        to: 'return arguments[0];',
      },
      {
        name: 'a model that needs an image lists text-to-3d',
        from: "offers.prompt_optional ? ['image-to-3d'] :",
        to: "offers.prompt_optional ? ['text-to-3d'] :",
      },
    ],
  },
  {
    path: 'src/upstreams/direct/openai-transcripts.ts',
    tests: ['test/http/taken-is-sent-direct.test.ts'],
    mutants: [
      {
        name: 'granularities are taken and not sent',
        from: 'for (const each of granularities) form',
        to: 'for (const each of [] as string[]) form',
      },
    ],
  },
  {
    path: 'src/upstreams/translation/reading.ts',
    tests: ['test/http/taken-is-sent.test.ts'],
    mutants: [
      {
        name: 'a member that no reader knows is dropped',
        from: "this.note('other', param);",
        to: "if (param === '') this.note('other', param);",
      },
    ],
  },
];
