import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, MusicInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import { invalidParameter, pickParameters, resolveAliases } from './check.ts';
import type { Body, GenerationContract } from './contract.ts';

const MAX_PROMPT_CHARS = 5_000;

/** The contract of a music model (spec: Music generation). */
export function musicContract(id: string, offers: Offers): GenerationContract {
  const actions = offers.actions ?? ['MUSIC', 'LYRICS'];
  const defaultAction = actions[0] ?? 'MUSIC';
  const schema = Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
    title: Type.Optional(Type.String({ maxLength: 200 })),
    tags: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'Style tags, separated by commas.' }),
    ),
    action: Type.Optional(
      Type.Union([Type.Literal('MUSIC'), Type.Literal('LYRICS')], { default: defaultAction }),
    ),
    mv: Type.Optional(
      Type.String({
        pattern: '^[a-zA-Z0-9._-]{1,40}$',
        errorMessage: 'must be the name of a model version',
      }),
    ),
    continue_clip_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    continue_at: Type.Optional(
      Type.Number({ minimum: 0, maximum: 3_600, description: 'Seconds.' }),
    ),
    user: Type.Optional(Type.String({ maxLength: 512 })),
  });
  const check = validator(schema);
  const names = Object.keys(schema.properties);
  return {
    schema,
    operations: [],
    rules: [
      'continue_at requires continue_clip_id.',
      ...(actions.length === 1 ? [`action is always ${defaultAction}.`] : []),
    ],
    accept(body: Body): GenerationInput {
      const known = pickParameters(resolveAliases(body, {}), names);
      check(known);
      const given = known as unknown as Partial<MusicInput> & { prompt: string };
      const action = given.action ?? defaultAction;
      if (!actions.includes(action)) {
        throw invalidParameter(
          'action',
          `${id} does not offer action ${action}.`,
          `Use action ${defaultAction}.`,
        );
      }
      checkContinuation(action, given);
      const { prompt, user, title, tags } = given;
      if (action === 'MUSIC') return { ...given, scene: 'music', action, prompt };
      return {
        scene: 'music',
        action,
        prompt,
        ...(title === undefined ? {} : { title }),
        ...(tags === undefined ? {} : { tags }),
        ...(user === undefined ? {} : { user }),
      };
    },
  };
}

function checkContinuation(action: MusicInput['action'], given: Partial<MusicInput>): void {
  if (given.continue_at !== undefined && given.continue_clip_id === undefined) {
    throw invalidParameter('continue_clip_id', 'continue_at requires continue_clip_id.');
  }
  if (action === 'LYRICS' && given.continue_clip_id !== undefined) {
    throw invalidParameter(
      'continue_clip_id',
      'continue_clip_id cannot be used with action LYRICS.',
    );
  }
}
