import type { MutatedFile } from '../mutant.ts';

export const PARAMETERS: readonly MutatedFile[] = [
  {
    path: 'src/catalogue/contracts/check.ts',
    tests: ['test/catalogue/misspelled-parameters.test.ts'],
    mutants: [
      {
        name: 'an unknown parameter of a generation is left out',
        from: 'if (isTaken(canonical) || isLeftOutOfGeneration(family, canonical, value)) continue;',
        to: 'if (isTaken(canonical) || isLeftOutOfGeneration(family, canonical, value) || name !== "") continue;',
      },
      {
        name: 'a parameter of another model counts as a typing error',
        from: 'elsewhere.includes(canonical) ? undefined : closestName(name, published)',
        to: 'closestName(name, [...published, ...elsewhere])',
      },
    ],
  },
  {
    path: 'src/catalogue/contracts/left-out.ts',
    tests: ['test/catalogue/image-contracts.test.ts'],
    mutants: [
      {
        name: 'every value of a parameter is left out, not only the listed ones',
        from: '(entry.values?.includes(value) ?? true)',
        to: 'true',
      },
    ],
  },
  {
    path: 'src/catalogue/contracts/video-operations.ts',
    tests: ['test/catalogue/video-refusals.test.ts', 'test/catalogue/sent-parameters.test.ts'],
    mutants: [
      {
        name: 'a reference that the model does not offer is taken',
        from: 'return offer === undefined || Number(offers[offer] ?? 0) > 0;',
        to: 'return true;',
      },
      {
        name: 'a parameter that is not sent beside a first frame is taken',
        from: 'return offers.not_with_image ?? [];',
        to: 'return [];',
      },
    ],
  },
  {
    path: 'src/catalogue/contracts/image-shape.ts',
    tests: ['test/catalogue/image-contracts.test.ts'],
    mutants: [
      {
        name: 'a size that contradicts the aspect ratio is taken',
        from: 'if (size !== undefined) checkAgreement(size, aspect_ratio);',
        to: '',
      },
    ],
  },
  {
    path: 'src/catalogue/contracts/image-size.ts',
    tests: ['test/catalogue/image-contracts.test.ts'],
    mutants: [
      {
        name: 'one edge of a size may be between two steps',
        from: 'if (width % step === 0 && height % step === 0) return;',
        to: 'if (width % step === 0 || height % step === 0) return;',
      },
    ],
  },
  {
    path: 'src/upstreams/generation/sent-parameters.ts',
    tests: ['test/inference/tasks/unsent.test.ts', 'test/catalogue/sent-parameters.test.ts'],
    mutants: [
      {
        name: 'Veo seems to be able to turn off the sound',
        from: "...(videoOf(input).output_audio === false ? [] : ['output_audio']),",
        to: "'output_audio',",
      },
    ],
  },
  {
    path: 'src/inference/tasks/unsent.ts',
    tests: ['test/inference/tasks/unsent.test.ts'],
    mutants: [
      {
        name: 'a call is refused although another channel can send the parameter',
        from: 'if (param === undefined || unsent.includes(undefined)) return;',
        to: 'if (param === undefined) return;',
      },
    ],
  },
  {
    path: 'src/inference/tasks/job-routes.ts',
    tests: ['test/inference/tasks/unsent.test.ts'],
    mutants: [
      {
        name: 'a channel that cannot send a parameter gets the job',
        from: 'return unsentParameter(protocol.name, physical_model, input) === undefined;',
        to: 'return unsentParameter(protocol.name, physical_model, input) !== null;',
      },
    ],
  },
];
