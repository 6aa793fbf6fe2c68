/** Videos in the words of the models on Replicate (each model's page: API, input schema). */
import type { VideoInput } from '../../catalogue/inputs.ts';
import type { JsonObject } from './exchange.ts';
import { bodyOf, type Field, field as makeField, membersOf } from './fields.ts';
import { together } from './references.ts';

const field = (to: string, ...from: readonly (keyof VideoInput)[]): Field<VideoInput> =>
  makeField(to, ...from);

const PROMPT = field('prompt', 'prompt');
const NEGATIVE = field('negative_prompt', 'negative_prompt');
const IMAGE = field('image', 'image', 'start_image');
const REFERENCES = field('reference_images', 'reference_images');
const FILM = field('video', 'video_url');
const RESOLUTION = field('resolution', 'resolution');
const SHAPED = [field('duration', 'duration'), field('aspect_ratio', 'aspect_ratio')];
const SOUND = field('generate_audio', 'output_audio');
const SEED = field('seed', 'seed');

/** Kling's modes are its resolutions: `standard` is 720p, and `pro` is 1080p. */
const MODE: Field<VideoInput> = {
  ...{ to: 'mode', from: ['resolution'] },
  value: ({ resolution }) => (resolution === '1080p' ? 'pro' : 'standard'),
};

const VEO = [PROMPT, NEGATIVE, IMAGE, field('last_frame', 'end_image'), ...SHAPED, RESOLUTION];

/** The first row that fits the model is used. */
const MODELS: readonly [model: RegExp, fields: readonly Field<VideoInput>[]][] = [
  [/upscale/, [FILM, field('target_fps', 'fps')]],
  [/veo.*fast/, [...VEO, SOUND, SEED]],
  [/veo/, [...VEO, SOUND, SEED, REFERENCES]],
  [/kling.*motion-control/, [PROMPT, field('image', 'image'), FILM, MODE]],
  [
    /kling/,
    [
      ...[PROMPT, NEGATIVE, field('start_image', 'image', 'start_image')],
      ...[field('end_image', 'end_image'), MODE, ...SHAPED, SOUND],
    ],
  ],
  [
    /seedance-2/,
    [
      ...[PROMPT, IMAGE, field('last_frame_image', 'end_image'), REFERENCES, ...SHAPED],
      ...[RESOLUTION, SOUND, SEED],
      {
        ...{ to: 'reference_videos', from: ['video_urls', 'video_url'] },
        value: ({ video_urls, video_url }) => together(video_urls, video_url),
      },
      {
        ...{ to: 'reference_audios', from: ['audio_urls', 'audio_url'] },
        value: ({ audio_urls, audio_url }) => together(audio_urls, audio_url),
      },
    ],
  ],
];

/** The members under the names that most models share. */
const OTHER = [
  ...[PROMPT, NEGATIVE, IMAGE, field('end_image', 'end_image'), REFERENCES, FILM, ...SHAPED],
  ...[field('audio', 'audio_url'), RESOLUTION, SOUND, SEED, field('fps', 'fps')],
];

const fieldsOf = (model: string) => MODELS.find(([pattern]) => pattern.test(model))?.[1] ?? OTHER;

/** Returns the input of a prediction that makes a video. */
export const replicateVideo = (model: string, input: VideoInput): JsonObject =>
  bodyOf(fieldsOf(model), input);

/** Returns the members of the input that a prediction of this model contains. */
export function replicateVideoMembers(model: string, { resolution }: VideoInput): string[] {
  const names = membersOf(fieldsOf(model));
  // An upscaler takes no prompt. `prompt` counts as sent, because it may be left out here (P18).
  if (model.includes('upscale')) return [...names, 'prompt'];
  const isOffered = !/veo|kling/.test(model) || resolution !== '4k';
  return isOffered ? names : names.filter((name) => name !== 'resolution');
}
