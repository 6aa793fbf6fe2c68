/** Bodies and values for tests that try every parameter of every generation model. */
import { builtInModels } from '../../src/catalogue/built-in.ts';
import type { GenerationModel } from '../../src/catalogue/catalogue.ts';
import { FAMILY_PROTOCOLS, isGenerationFamily } from '../../src/catalogue/families.ts';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import { WeirError } from '../../src/errors/weir-error.ts';
import type { GenerationProtocolName } from '../../src/protocols/names.ts';
import { type PropertySchema, valuesOf } from '../full/support/contract-values.ts';
import { generationModel } from './contracts.ts';
import { element } from './video-requests.ts';

const prompt = 'a lighthouse';
const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';
const OTHER_PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAAA';
const FILM = 'data:video/mp4;base64,AAAA';
const OTHER_FILM = 'data:video/mp4;base64,AAAAAAAA';
const SOUND = 'data:audio/mpeg;base64,AAAA';
const OTHER_SOUND = 'data:audio/mpeg;base64,AAAAAAAA';
const urls = (ending: string) => ['a', 'b'].map((name) => `https://example.com/${name}.${ending}`);

/** The generation models of the built-in catalogue. */
export const GENERATION_MODELS: readonly GenerationModel[] = builtInModels()
  .filter(({ family }) => isGenerationFamily(family))
  .map(({ id }) => generationModel(id));

/** Each model with each protocol that can serve it. The first is the provider's own. */
export const MODEL_PROTOCOLS = GENERATION_MODELS.flatMap((model) =>
  FAMILY_PROTOCOLS[model.declaration.family].map(
    (protocol) => [model.id, protocol as GenerationProtocolName, model] as const,
  ),
);

/** Returns two pictures, films and sounds of different lengths, inline if the model takes that. */
function mediaOf({ scene, offers }: GenerationModel) {
  const isInline = scene === 'image' || offers.inline_inputs === true;
  return isInline
    ? {
        pictures: [PICTURE, OTHER_PICTURE],
        films: [FILM, OTHER_FILM],
        sounds: [SOUND, OTHER_SOUND],
      }
    : { pictures: urls('png'), films: urls('mp4'), sounds: urls('mp3') };
}

/** Returns a body of each operation that a model offers, and of each kind of input that it takes. */
export function bodiesOf(model: GenerationModel): Record<string, unknown>[] {
  const { scene, offers, contract } = model;
  const { pictures, films, sounds } = mediaOf(model);
  const [picture] = pictures;
  const [film] = films;
  const start = offers.inline_inputs ? { image: picture } : { image_url: picture };
  const all: Record<typeof scene, object[]> = {
    image: [{}, { image: PICTURE }, { image: [PICTURE, PICTURE], mask: PICTURE }],
    video: [
      {},
      start,
      { start_image: picture, end_image: picture },
      { reference_images: [picture] },
      { video_url: film },
      { operation: 'reference-to-video', video_urls: [film] },
      { operation: 'reference-to-video', reference_images: [picture], audio_urls: sounds },
      { video_url: film, ...start },
    ],
    music: [{}, { action: 'LYRICS' }, { continue_clip_id: 'task/clip' }],
    '3d': [{}, { image_url: picture }, { prompt: undefined, image_url: picture }],
    audio: [{}],
  };
  return all[scene]
    .map((body) => ({ prompt, ...body }))
    .filter((body) => acceptOrRefuse(contract, body) !== undefined);
}

/** Returns valid values of a published parameter, each with another meaning. */
export function differentValues(model: GenerationModel, name: string): unknown[] {
  const { pictures, films, sounds } = mediaOf(model);
  const lists = (values: string[]) => [values.slice(0, 1), values.slice(1), values];
  const fixed: Record<string, unknown[]> = {
    ...{ image: pictures, image_url: pictures, start_image: pictures, end_image: pictures },
    ...{ image_urls: lists(pictures), reference_images: lists(pictures), mask: pictures },
    ...{ video_url: films, video_urls: lists(films), audio_url: sounds, audio_urls: lists(sounds) },
    kling_elements: [[element('cat')], [element('cat', 3)], [element('cat', 4)]],
    mv: ['chirp-v4', 'chirp-v4-5'],
    continue_clip_id: ['task/one', 'task/two', 'other/one'],
  };
  const schema = model.contract.schema.properties[name] as PropertySchema & { pattern?: string };
  if (fixed[name]) return fixed[name];
  // Each has a ratio of its own, and edges that are multiples of 32.
  if (name === 'size' && !schema.anyOf) return ['1024x1024', '832x1248', '1248x832'];
  if (name === 'aspect_ratio' && !schema.anyOf) return ['1:1', '16:9', '9:16', '2:3', '21:9'];
  return valuesOf(schema).inside;
}

/** Returns the canonical input; undefined if the contract refuses the body and names a parameter. */
export function acceptOrRefuse(
  contract: GenerationModel['contract'],
  body: object,
): GenerationInput | undefined {
  try {
    return contract.accept({ ...body });
  } catch (error) {
    if (error instanceof WeirError && error.details.param) return undefined;
    throw error;
  }
}
