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

/** The models that Weir knows by itself. Throws if a reviewed file broke its schema. */
export function builtInModels(): ModelDeclaration[] {
  return [chat, direct, image, video, music, solid, audio].flatMap((file: unknown) =>
    Value.Decode(Type.Array(ModelSchema), file),
  );
}

/** The models that create calls mean which name none (spec: `default_image_model` and the like). */
export const BUILT_IN_DEFAULTS: Readonly<Record<GenerationScene, string>> = defaults;
