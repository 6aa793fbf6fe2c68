import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, SolidInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import {
  invalidParameter,
  type ModelName,
  pickParameters,
  refuseUnknown,
  resolveAliases,
} from './check.ts';
import type { Body, GenerationContract } from './contract.ts';
import { checkReference } from './media.ts';

const MAX_PROMPT_CHARS = 1_024;
/** Enough for an image of 20 MB in Base64, and the head of its `data:` URL. */
const MAX_REFERENCE_CHARS = 28_000_000;
/**
 * Other families use the name `image` for this parameter, so 3D models accept that name as well.
 */
const ALIASES = { image: 'image_url' };

/** Returns the contract of a 3D model, which works from text or from an image. */
export function solidContract(model: ModelName, offers: Offers): GenerationContract {
  // The providers' endpoints for images take no prompt (@fal-ai/client: types of Trellis and Tripo).
  const requiresImage = offers.prompt_optional === true;
  const prompt = Type.Optional(
    Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
  );
  const schema = Type.Object({
    ...(requiresImage ? {} : { prompt }),
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
  const published = Object.keys(schema.properties);
  return {
    schema,
    operations: [],
    rules: [requiresImage ? 'image_url is required.' : 'Send either prompt or image_url.'],
    accept(body: Body): GenerationInput {
      refuseUnknown(model, body, { published, aliases: ALIASES });
      const known = pickParameters(resolveAliases(body, ALIASES), published);
      check(known);
      const { image_url, ...given } = known as SolidInput & { image_url?: string };
      if (image_url === undefined && requiresImage) {
        throw invalidParameter('image_url', `${model.id} requires image_url.`);
      }
      if (image_url === undefined && given.prompt === undefined) {
        throw invalidParameter('prompt', 'prompt or image_url is required.');
      }
      if (image_url !== undefined && given.prompt !== undefined) {
        const message = `${model.id} does not take prompt with image_url.`;
        throw invalidParameter('prompt', message, 'Leave prompt or image_url out.');
      }
      if (image_url !== undefined) {
        checkReference(image_url, 'image_url', 'image', offers.inline_inputs === true);
      }
      return { scene: '3d', ...given, ...(image_url === undefined ? {} : { image: image_url }) };
    },
  };
}
