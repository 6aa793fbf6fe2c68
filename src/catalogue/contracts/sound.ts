import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, SoundInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter, pickParameters, resolveAliases } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';

const MAX_PROMPT_CHARS = 1_000;

/** Returns the contract of a sound-effect model. */
export function soundContract(offers: Offers): GenerationContract {
  const durations = offers.durations ?? [];
  const [defaultDuration = 5] = durations;
  const schema = Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
    duration: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3_600,
        default: defaultDuration,
        description: 'Seconds.',
      }),
    ),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
    user: Type.Optional(Type.String({ maxLength: 512 })),
  });
  const check = validator(schema);
  const possible = [...durations].sort((a, b) => a - b);
  return {
    schema,
    operations: [],
    rules: [`duration is one of ${possible.join(', ')}.`],
    accept(body: Body): GenerationInput {
      const known = pickParameters(resolveAliases(body, {}), Object.keys(schema.properties));
      check(known);
      const given = known as unknown as Omit<SoundInput, 'duration'> & { duration?: number };
      const duration = given.duration ?? defaultDuration;
      if (!possible.includes(duration)) {
        throw invalidParameter('duration', `duration must be one of ${possible.join(', ')}.`);
      }
      return { scene: 'audio', ...given, duration };
    },
  };
}
