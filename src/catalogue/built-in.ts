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
import type { GenerationScene } from './inputs.ts';
import { type ModelDeclaration, ModelSchema } from './schema.ts';

/** The models of `catalogue/*.json`. Throws if one of these files does not fit its schema. */
export function builtInModels(): ModelDeclaration[] {
  return [chat, direct, image, video, music, solid, audio].flatMap((file: unknown) =>
    Value.Decode(Type.Array(ModelSchema), file),
  );
}

/**
 * For each scene, the model that a create call without `model` gets (spec: `default_image_model`
 * and the similar settings).
 */
export const BUILT_IN_DEFAULTS: Readonly<Record<GenerationScene, string>> = defaults;
