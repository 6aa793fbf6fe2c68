import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, SolidInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { canonical, pick, refuse } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkReference } from './media.ts';

const MAX_PROMPT_CHARS = 1_024;
/** A picture of 20 MB in Base64, and its head. */
const MAX_REFERENCE_CHARS = 28_000_000;
/** What clients of other families call the picture. */
const ALIASES = { image: 'image_url' };

/** The contract of a model of solid things: from words, from a picture, or from both. */
export function solidContract(id: string, offers: Offers): GenerationContract {
  const schema = Type.Object({
    prompt: Type.Optional(
      Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
    ),
    image_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_REFERENCE_CHARS,
        description: 'A public https URL, or a data: URL.',
      }),
    ),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    user: Type.Optional(Type.String({ maxLength: 512 })),
  });
  const check = validator(schema);
  const needsPicture = offers.prompt_optional === true;
  return {
    schema,
    operations: [],
    rules: [needsPicture ? 'image_url is required.' : 'prompt or image_url is required.'],
    accept(body: Body): GenerationInput {
      const known = pick(canonical(body, ALIASES), Object.keys(schema.properties));
      check(known);
      const { image_url, ...given } = known as SolidInput & { image_url?: string };
      if (image_url === undefined && needsPicture) {
        throw refuse('image_url', `${id} works from a picture: image_url is required.`);
      }
      if (image_url === undefined && given.prompt === undefined) {
        throw refuse('prompt', 'prompt or image_url is required.');
      }
      if (image_url !== undefined) {
        checkReference(image_url, 'image_url', 'image', offers.inline_inputs === true);
      }
      return { scene: '3d', ...given, ...(image_url === undefined ? {} : { image: image_url }) };
    },
  };
}
