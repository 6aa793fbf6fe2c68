/**
 * Every misspelled parameter of every generation model is refused, and the hint names the parameter
 * that was meant (P18).
 */
import { describe, expect, test } from 'bun:test';
import { GENERATION_LEFT_OUT } from '../../src/catalogue/contracts/left-out.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import { bodiesOf, GENERATION_MODELS } from '../support/generation-bodies.ts';

const camel = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Typing errors in a name. */
function misspellings(name: string): string[] {
  const at = [...name].map((_, index) => index);
  return [
    ...at.map((index) => name.slice(0, index) + name.slice(index + 1)),
    ...at.map((index) => name.slice(0, index + 1) + name.slice(index)),
    ...at
      .slice(1)
      .map((i) => `${name.slice(0, i - 1)}${name[i]}${name[i - 1]}${name.slice(i + 1)}`),
    ...[name.toUpperCase(), camel(name), name.replaceAll('_', ''), name.replaceAll('_', '-')],
  ].filter((each) => each.length > 1 || name.length === 1);
}

/** Names that mean something to some model, so that they are no typing errors. */
const MEANINGFUL = new Set([
  ...GENERATION_MODELS.flatMap(({ contract }) => Object.keys(contract.schema.properties)),
  ...GENERATION_LEFT_OUT.map(({ parameter }) => parameter),
  ...['', 'model', 'images', 'compression', 'referenceImages', 'referenceImageType', 'outputAudio'],
]);

describe('a misspelled parameter is refused with the one that was meant', () => {
  test.each(GENERATION_MODELS.map((model) => [model.id, model] as const))('%s', (_, model) => {
    const [body = {}] = bodiesOf(model);
    const wrong: object[] = [];
    const published = Object.keys(model.contract.schema.properties);
    for (const name of published) {
      for (const sent of misspellings(name).filter((each) => !MEANINGFUL.has(each))) {
        const error = refusalOf(() => model.contract.accept({ ...body, [sent]: body[name] ?? 1 }));
        const { param, hint } = error?.details ?? {};
        // `image_ursl` may also mean `image_url`.
        const isNear = (each: string) => each === name || misspellings(sent).includes(each);
        const isMeant = published.some((each) => isNear(each) && hint === `Did you mean ${each}?`);
        if (error?.id !== 'invalid_request' || param !== sent || !isMeant) {
          wrong.push({ name, sent, id: error?.id, param, hint });
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each([
    ['veo-3.1', 'imageUrl', 'image_url'],
    ['veo-3.1', 'duraton', 'duration'],
    ['veo-3.1', 'durationSeconds', 'duration'],
    ['dall-e-3', 'sise', 'size'],
    ['gpt-image-2', 'image_url', 'image'],
    ['suno_music', 'titel', 'title'],
    ['trellis', 'imageURL', 'image_url'],
    ['elevenlabs-sound-effects', 'duration_seconds', 'duration'],
  ])('%s: %s means %s', (id, sent, meant) => {
    const model = GENERATION_MODELS.find((each) => each.id === id);
    const [body = {}] = model ? bodiesOf(model) : [];
    const error = refusalOf(() => model?.contract.accept({ ...body, [sent]: 'x' }));
    expect(error?.details).toEqual({ param: sent, hint: `Did you mean ${meant}?` });
  });

  test('a parameter of another model is refused without a guess', () => {
    const model = GENERATION_MODELS.find(({ id }) => id === 'topaz-video-upscale');
    const [body = {}] = model ? bodiesOf(model) : [];
    const error = refusalOf(() => model?.contract.accept({ ...body, seed: 1 }));
    expect(error?.details).toEqual({
      param: 'seed',
      hint: 'Send GET /v1/models/topaz-video-upscale for its parameters.',
    });
  });
});

function refusalOf(accept: () => unknown): WeirError | undefined {
  try {
    accept();
    return undefined;
  } catch (error) {
    if (error instanceof WeirError) return error;
    throw error;
  }
}
