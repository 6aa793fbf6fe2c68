import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import { VIDEO_OPERATIONS } from '../../src/catalogue/inputs.ts';
import { type Accepted, accept, generationModel } from '../support/contracts.ts';
import { audio, element, image, open, PNG, url, urls, video } from '../support/video-requests.ts';

const VEO = 'veo-3.1';
const KLING = 'kling-3.0';
const MOTION = 'kling-3.0-motion-control';
const SEEDANCE = 'seedance-2.0';
const GROK = 'grok-imagine-video';
const UPSCALER = 'topaz-video-upscale';

const VIDEO_MODELS = builtInModels()
  .filter(({ category }) => category === 'video')
  .map(({ id }) => id);

const OPERATIONS: Accepted[] = [
  ['a prompt alone is text-to-video', VEO, {}, { operation: 'text-to-video' }],
  [
    'image_url is image-to-video',
    VEO,
    { image_url: image },
    { operation: 'image-to-video', image },
  ],
  ['image is image-to-video', VEO, { image: PNG }, { operation: 'image-to-video', image: PNG }],
  [
    'start_image is image-to-video',
    KLING,
    { start_image: image },
    { operation: 'image-to-video', image },
  ],
  [
    'one of image_urls is image-to-video',
    KLING,
    { image_urls: [image] },
    { operation: 'image-to-video', image },
  ],
  [
    'two of image_urls are start-end-to-video',
    KLING,
    { image_urls: [image, url('b.png')] },
    { operation: 'start-end-to-video', start_image: image, end_image: url('b.png') },
  ],
  [
    'start_image and end_image are start-end-to-video',
    VEO,
    { start_image: image, end_image: url('b.png') },
    { operation: 'start-end-to-video', start_image: image, end_image: url('b.png') },
  ],
  [
    'image_url and end_image are start-end-to-video',
    KLING,
    { image_url: image, end_image: url('b.png') },
    { operation: 'start-end-to-video', start_image: image, end_image: url('b.png') },
  ],
  [
    'reference_images are reference-to-video',
    VEO,
    { reference_images: [image] },
    { operation: 'reference-to-video', reference_images: [image] },
  ],
  [
    'video_urls are reference-to-video',
    SEEDANCE,
    { video_urls: [video] },
    { operation: 'reference-to-video', video_urls: [video] },
  ],
  ['video_url is video-to-video', SEEDANCE, { video_url: video }, { operation: 'video-to-video' }],
  [
    'video_url and image_url are motion-control if the model offers it',
    MOTION,
    { video_url: video, image_url: image },
    { operation: 'motion-control', video_url: video, image },
  ],
  [
    'video_url and image_url are video-to-video for other models',
    SEEDANCE,
    { video_url: video, image_url: image },
    { operation: 'video-to-video', video_url: video, image },
  ],
  [
    'an upscaler uses video-to-video',
    UPSCALER,
    { video_url: video },
    { operation: 'video-to-video' },
  ],
  [
    'audio is a reference if the model does not offer audio-to-video',
    SEEDANCE,
    { audio_url: audio, reference_images: [image] },
    { operation: 'reference-to-video', audio_url: audio },
  ],
  [
    'operation has precedence over the inference',
    SEEDANCE,
    { operation: 'reference-to-video', video_url: video },
    { operation: 'reference-to-video', video_url: video },
  ],
];

const FIELDS: Accepted[] = [
  ['rule 1: referenceImages', VEO, { referenceImages: [image] }, { reference_images: [image] }],
  [
    'rule 1: referenceImageType',
    VEO,
    { referenceImages: [image], referenceImageType: 'style' },
    { reference_image_type: 'style' },
  ],
  ['rule 1: outputAudio', VEO, { outputAudio: false }, { output_audio: false }],
  [
    'rule 1: both names with the same value',
    VEO,
    { outputAudio: false, output_audio: false },
    { output_audio: false },
  ],
  ['Veo-type: output_audio is true when omitted', VEO, {}, { output_audio: true }],
  ['Veo-type: output_audio false is kept', VEO, { output_audio: false }, { output_audio: false }],
  ['Kling-type: output_audio is false when omitted', KLING, {}, { output_audio: false }],
  [
    'rule 2: nine reference images, three videos, three audios',
    SEEDANCE,
    { reference_images: urls(9, 'png'), video_urls: urls(3, 'mp4'), audio_urls: urls(3, 'mp3') },
    { reference_images: urls(9, 'png'), video_urls: urls(3, 'mp4'), audio_urls: urls(3, 'mp3') },
  ],
  [
    'rule 2: the same for the other model of the family',
    'seedance-2.0-fast',
    { reference_images: urls(9, 'png') },
    { reference_images: urls(9, 'png') },
  ],
  [
    'rule 3: only inline inputs',
    VEO,
    { start_image: PNG, end_image: PNG },
    { start_image: PNG, end_image: PNG },
  ],
  ['rule 3: a data URL as image_url', VEO, { image_url: PNG }, { image: PNG }],
  [
    'kling_elements: one to three, each with two to four images',
    KLING,
    {
      prompt: '@cat meets @dog, says hello@example.com',
      image_url: image,
      kling_elements: [
        element('cat', 4),
        { ...element('dog'), description: 'brown' },
        element('owl', 3),
      ],
    },
    {
      kling_elements: [
        element('cat', 4),
        { ...element('dog'), description: 'brown' },
        element('owl', 3),
      ],
    },
  ],
  [
    'kling_elements: with image_urls',
    KLING,
    { image_urls: [image], kling_elements: [element('cat')] },
    { image, kling_elements: [element('cat')] },
  ],
  [
    'kling_elements: with start_image and end_image',
    KLING,
    { start_image: image, end_image: image, kling_elements: [element('cat')] },
    { operation: 'start-end-to-video' },
  ],
  ['duration: the model’s default if it is missing', VEO, {}, { duration: 8 }],
  ['duration: one that the model offers', VEO, { duration: 4 }, { duration: 4 }],
  ['resolution: the model’s default if it is missing', VEO, {}, { resolution: '720p' }],
  ['resolution: 4k', VEO, { resolution: '4k' }, { resolution: '4k' }],
  ['aspect_ratio', VEO, { aspect_ratio: '9:16' }, { aspect_ratio: '9:16' }],
  ['negative_prompt', VEO, { negative_prompt: 'fog' }, { negative_prompt: 'fog' }],
  ['seed', SEEDANCE, { seed: 42 }, { seed: 42 }],
  ['cfg_scale 0', KLING, { cfg_scale: 0 }, { cfg_scale: 0 }],
  ['cfg_scale 20', KLING, { cfg_scale: 20 }, { cfg_scale: 20 }],
  ['watermark', KLING, { watermark: true }, { watermark: true }],
  ['watermark false for a model without watermark', VEO, { watermark: false }, {}],
  ['user', VEO, { user: 'u' }, { user: 'u' }],
  ['prompt is optional for an upscaler', UPSCALER, { prompt: null, video_url: video }, {}],
  [
    'prompt is optional for motion-control',
    MOTION,
    { prompt: null, video_url: video, image_url: image },
    {},
  ],
  [
    'motion-control has no duration, because it is that of the source',
    MOTION,
    { video_url: video, image_url: image },
    { operation: 'motion-control', resolution: '720p' },
  ],
  [
    'null is the same as a missing parameter',
    VEO,
    { image_url: null, seed: null, duration: null },
    { duration: 8 },
  ],
  ['an unknown parameter without a value', VEO, { nonsense: null }, { operation: 'text-to-video' }],
];

describe('operation: inferred from the inputs if it is missing', () => {
  test.each(OPERATIONS)('%s', (_rule, model, body, input) => {
    expect(accept(model, body)).toMatchObject({ scene: 'video', ...input });
  });

  test('extend_at, extend_times and task_id mean video-extension', () => {
    for (const more of [{ extend_at: 3 }, { extend_times: '2' }, {}]) {
      expect(accept(open, { task_id: 'task_1', ...more })).toMatchObject({
        operation: 'video-extension',
        continued_job: 'task_1',
        ...more,
      });
    }
  });

  test('audio_url means audio-to-video if the model offers it', () => {
    for (const body of [{ audio_url: audio }, { audio_urls: [audio] }]) {
      expect(accept(open, body)).toMatchObject({ operation: 'audio-to-video', ...body });
    }
  });

  test('rule 4: contracts exist for all eight operations', () => {
    const inputs: Record<(typeof VIDEO_OPERATIONS)[number], object> = {
      'text-to-video': {},
      'image-to-video': { image_url: image },
      'reference-to-video': { reference_images: [image] },
      'start-end-to-video': { start_image: image, end_image: image },
      'video-to-video': { video_url: video },
      'video-extension': { task_id: 'x' },
      'audio-to-video': { audio_url: audio },
      'motion-control': { video_url: video, image_url: image },
    };
    for (const operation of VIDEO_OPERATIONS) {
      expect(accept(open, { operation, ...inputs[operation] })).toMatchObject({ operation });
    }
  });
});

describe('fields and rules: accepted bodies', () => {
  test.each(FIELDS)('%s', (_rule, model, body, input) => {
    expect(accept(model, body)).toMatchObject({ scene: 'video', ...input });
  });

  test.each([
    ['fps', [1, 60, 120]],
    ['cfg_scale', [0, 7.5, 20]],
    ['motion_strength', [0, 0.5, 1]],
    ['size', ['1280x720']],
    ['effect_type', ['hug']],
  ] as const)('%s: within its range', (name, values) => {
    for (const value of values)
      expect(accept(open, { [name]: value })).toMatchObject({ [name]: value });
  });

  test('parameters are forwarded under their canonical names only', () => {
    const input = accept(VEO, {
      referenceImages: [image],
      referenceImageType: 'asset',
      outputAudio: true,
    });
    expect(Object.keys(input).filter((name) => /[A-Z]/.test(name))).toEqual([]);
  });
});

describe('the models', () => {
  test.each(VIDEO_MODELS)('%s accepts a call with only the required parameters', (model) => {
    const { operations } = generationModel(model).contract;
    const media = {
      'text-to-video': {},
      'image-to-video': { image_url: image },
      'video-to-video': { video_url: video },
      'motion-control': { video_url: video, image_url: image },
    };
    const usual = media[(operations[0] ?? 'text-to-video') as keyof typeof media];
    expect(accept(model, usual)).toMatchObject({ operation: operations[0] });
  });

  test('rule 2: two models belong to the multimodal-reference family', () => {
    const family = 'multimodal-reference-video';
    const models = VIDEO_MODELS.filter((id) => generationModel(id).family === family);
    expect(models).toEqual(['seedance-2.0', 'seedance-2.0-fast']);
  });

  test('kling_elements: one model takes them', () => {
    const models = VIDEO_MODELS.filter(
      (id) => 'kling_elements' in generationModel(id).contract.schema.properties,
    );
    expect(models).toEqual([KLING]);
  });

  test('every video model returns tasks', () => {
    expect(VIDEO_MODELS.filter((id) => !generationModel(id).by_task)).toEqual([]);
  });

  test('the duration of a Grok-type edit is that of its source', () => {
    const edit = accept(GROK, { video_url: video });
    expect(edit).not.toHaveProperty('duration');
    expect(edit).not.toHaveProperty('resolution');
    expect(accept(GROK, { duration: 12 })).toMatchObject({ duration: 12 });
  });
});
