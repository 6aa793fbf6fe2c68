import { type TSchema, Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import type { GenerationInput, MusicInput } from '../inputs.ts';
import type { Offers } from '../schema.ts';
import {
  invalidParameter,
  type ModelName,
  pickParameters,
  refuseUnknown,
  resolveAliases,
} from './check.ts';
import type { Body, GenerationContract } from './contract.ts';

const MAX_PROMPT_CHARS = 5_000;

/** Parameters of songs. For lyrics, the providers take only a prompt. */
const SONG_PARAMETERS = ['title', 'tags', 'mv', 'continue_clip_id', 'continue_at'] as const;

/** The contract of a music model (spec: Music generation). */
export function musicContract(model: ModelName, offers: Offers): GenerationContract {
  const { id } = model;
  const actions = offers.actions ?? ['MUSIC', 'LYRICS'];
  const defaultAction = actions[0] ?? 'MUSIC';
  const song: Record<(typeof SONG_PARAMETERS)[number], TSchema> = {
    title: Type.Optional(Type.String({ maxLength: 200 })),
    tags: Type.Optional(
      Type.String({ maxLength: 1_000, description: 'Style tags, separated by commas.' }),
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
  };
  const schema = Type.Object({
    prompt: Type.String({ minLength: 1, maxLength: offers.max_prompt_chars ?? MAX_PROMPT_CHARS }),
    action: Type.Optional(
      Type.Union(
        actions.map((action) => Type.Literal(action)),
        { default: defaultAction },
      ),
    ),
    ...(actions.includes('MUSIC') ? song : {}),
    user: Type.Optional(Type.String({ maxLength: 512 })),
  });
  const check = validator(schema);
  const published = Object.keys(schema.properties);
  return {
    schema,
    operations: [],
    rules: rulesOf(actions, defaultAction),
    accept(body: Body): GenerationInput {
      refuseUnknown(model, body, { published, elsewhere: SONG_PARAMETERS });
      const known = pickParameters(resolveAliases(body, {}), published);
      refuseAction(id, actions, known['action']);
      check(known);
      const given = known as unknown as Partial<MusicInput> & { prompt: string };
      const action = given.action ?? defaultAction;
      if (action === 'LYRICS') refuseBesideLyrics(id, given);
      if (given.continue_at !== undefined && given.continue_clip_id === undefined) {
        throw invalidParameter('continue_clip_id', 'continue_at requires continue_clip_id.');
      }
      return { ...given, scene: 'music', action, prompt: given.prompt };
    },
  };
}

function rulesOf(actions: readonly string[], defaultAction: string): string[] {
  const isSong = actions.includes('MUSIC');
  return [
    ...(isSong ? ['continue_at requires continue_clip_id.'] : []),
    ...(isSong && actions.includes('LYRICS')
      ? [`With action LYRICS, these parameters are refused: ${SONG_PARAMETERS.join(', ')}.`]
      : []),
    ...(actions.length === 1 ? [`action is always ${defaultAction}.`] : []),
  ];
}

/** Throws WeirError for an action that other models offer, but this model does not. */
function refuseAction(id: string, actions: readonly string[], action: unknown): void {
  const isKnown = action === 'MUSIC' || action === 'LYRICS';
  if (!isKnown || actions.includes(action)) return;
  throw invalidParameter(
    'action',
    `${id} does not offer action ${action}.`,
    `Use action ${actions.join(' or ')}.`,
  );
}

/**
 * Throws WeirError if a request for lyrics has a song parameter, which no provider would get (P18).
 */
function refuseBesideLyrics(id: string, given: Partial<MusicInput>): void {
  const refused = SONG_PARAMETERS.find((name) => given[name] !== undefined);
  if (refused === undefined) return;
  throw invalidParameter(
    refused,
    `${id} does not take ${refused} with action LYRICS.`,
    `Leave ${refused} out, or use action MUSIC.`,
  );
}
