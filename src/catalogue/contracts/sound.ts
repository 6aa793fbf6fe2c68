import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, SoundInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { type ModelName, pickParameters, refuseUnknown, resolveAliases } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';

const MAX_PROMPT_CHARS = 1_000;

/**
 * Returns the contract of a sound-effect model. The model takes `seed` only if its
 * `offers.parameters` lists it.
 */
export function soundContract(model: ModelName, offers: Offers): GenerationContract {
  const durations = offers.durations ?? [];
  const [defaultDuration = 5] = durations;
  const possible = [...durations].sort((a, b) => a - b);
  const duration = Type.Union(
    possible.map((seconds) => Type.Literal(seconds)),
    { default: defaultDuration, description: 'Seconds.' },
  );
  const seed = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
  const schema = Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
    duration: Type.Optional(duration),
    ...(offers.parameters?.includes('seed') ? { seed: Type.Optional(seed) } : {}),
    user: Type.Optional(Type.String({ maxLength: 512 })),
  });
  const check = validator(schema);
  const published = Object.keys(schema.properties);
  return {
    schema,
    operations: [],
    rules: [`duration is one of ${possible.join(', ')}.`],
    accept(body: Body): GenerationInput {
      refuseUnknown(model, body, { published, elsewhere: ['seed'] });
      const known = pickParameters(resolveAliases(body, {}), published);
      check(known);
      const given = known as unknown as Omit<SoundInput, 'duration'> & { duration?: number };
      return { scene: 'audio', ...given, duration: given.duration ?? defaultDuration };
    },
  };
}
