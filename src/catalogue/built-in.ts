import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import solid from '../../catalogue/3d.json' with { type: 'json' };
import audio from '../../catalogue/audio.json' with { type: 'json' };
import chat from '../../catalogue/chat.json' with { type: 'json' };
import defaults from '../../catalogue/defaults.json' with { type: 'json' };
import direct from '../../catalogue/direct.json' with { type: 'json' };
import image from '../../catalogue/image.json' with { type: 'json' };
import music from '../../catalogue/music.json' with { type: 'json' };
import video from '../../catalogue/video.json' with { type: 'json' };
import type { Abilities } from './abilities.ts';
import type { GenerationScene } from './inputs.ts';
import { type ModelDeclaration, ModelSchema } from './schema.ts';

/** The models of `catalogue/*.json`. Throws if one of these files does not fit its schema. */
export function builtInModels(): ModelDeclaration[] {
  return [chat, direct, image, video, music, solid, audio].flatMap((file: unknown) =>
    Value.Decode(Type.Array(ModelSchema), file),
  );
}

let known: readonly ModelDeclaration[] | undefined;

/**
 * Returns the abilities of the built-in model whose id a name contains, e.g. the name of a Claude at
 * Bedrock. The longest id counts. Returns undefined if there is none.
 */
export function abilitiesByName(name: string): Abilities | undefined {
  known ??= builtInModels()
    .filter(({ abilities }) => abilities !== undefined)
    .sort((a, b) => b.id.length - a.id.length);
  return known.find(({ id }) => name.includes(id))?.abilities;
}

/**
 * For each scene, the model that a create call without `model` gets (spec: `default_image_model`
 * and the similar settings).
 */
export const BUILT_IN_DEFAULTS: Readonly<Record<GenerationScene, string>> = defaults;
