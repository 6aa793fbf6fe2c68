import { expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { estimateGeneration } from '../../src/catalogue/generation-price.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { anyJson } from '../support/arbitrary-json.ts';
import { generationModel } from '../support/contracts.ts';
import { fc } from '../support/property.ts';
import { audio, element, image, PNG, video } from '../support/video-requests.ts';

const IDS = builtInModels()
  .filter(({ category }) => ['image', 'video', 'music'].includes(category))
  .map(({ id }) => id);

const NAMES = [
  ...new Set(IDS.flatMap((id) => Object.keys(generationModel(id).contract.schema.properties))),
  ...['referenceImages', 'outputAudio', 'compression', 'stream', '__proto__', 'constructor'],
];

/** Values that are valid for at least one parameter. */
const sensible = fc.constantFrom<unknown>(
  ...['a lighthouse', 'url', 'b64_json', '1024x1024', '16:9', '720p', '1k', 'MUSIC', 'high'],
  ...[image, video, audio, PNG, [image], [video], [PNG, image], [element('cat')]],
  ...[1, 4, 8, true, false, null, 'text-to-video', 'image-to-video', 'motion-control'],
);

const body = fc
  .dictionary(fc.constantFrom(...NAMES), fc.oneof({ weight: 4, arbitrary: sensible }, anyJson), {
    maxKeys: 8,
  })
  .chain((fields) => fc.constantFrom(fields, { prompt: 'a lighthouse', ...fields }));

test('for any body, a contract either accepts it with an estimate or names a parameter', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom(...IDS), body, (id, fields) => {
      const model = generationModel(id);
      try {
        const input = model.contract.accept(fields);
        accepted += 1;
        expect(input.scene).toBe(model.scene);
        expect(Number.isSafeInteger(estimateGeneration(model, input))).toBe(true);
        // The row of a task stores the input as JSON, which must not change it.
        const stored = JSON.stringify(input);
        expect(JSON.stringify(JSON.parse(stored))).toBe(stored);
        expect(stored).not.toMatch(/\\u0000|\\ud[89a-f]/);
      } catch (error) {
        if (!(error instanceof WeirError)) throw error;
        expect(error.entry.status).toBeOneOf([400, 413]);
        expect(error.details.param).toBeString();
        expect(error.message.length).toBeLessThan(400);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

test('a validated input is a fixed point: validating it again changes nothing', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...IDS.filter((id) => generationModel(id).scene !== 'video')),
      body,
      (id, fields) => {
        const { contract } = generationModel(id);
        let input: object;
        try {
          input = contract.accept(fields);
        } catch {
          return;
        }
        const { scene: _, ...again } = input as { scene: string };
        expect(contract.accept(again)).toEqual(input as never);
      },
    ),
    { numRuns: 2_000 },
  );
});
