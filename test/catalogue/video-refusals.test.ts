import { describe, expect, test } from 'bun:test';
import { accept, type Refused, refusal } from '../support/contracts.ts';
import { audio, element, image, open, PNG, urls, video } from '../support/video-requests.ts';

const VEO = 'veo-3.1';
const KLING = 'kling-3.0';
const MOTION = 'kling-3.0-motion-control';
const SEEDANCE = 'seedance-2.0';
const UPSCALER = 'topaz-video-upscale';
const GROK = 'grok-imagine-video';
const ALEPH = 'runway-aleph-2';

const REFUSED: Refused[] = [
  [
    'reference audios alone',
    SEEDANCE,
    { operation: 'reference-to-video', audio_urls: [audio] },
    'reference_images',
  ],
  ['prompt is required for most models', VEO, { prompt: null }, 'prompt'],
  ['prompt is text', VEO, { prompt: ['x'] }, 'prompt'],
  ['operation is one of eight', VEO, { operation: 'dance' }, 'operation'],
  [
    'rule 4: no public model offers audio-to-video',
    VEO,
    { operation: 'audio-to-video', audio_url: audio },
    'operation',
  ],
  [
    'rule 4: no public model offers video-extension',
    KLING,
    { operation: 'video-extension', task_id: 'x' },
    'operation',
  ],
  ['rule 4: task_id means video-extension', KLING, { task_id: 'x' }, 'operation'],
  [
    'rule 5: an operation of other models',
    VEO,
    { operation: 'motion-control', video_url: video, image_url: image },
    'operation',
  ],
  [
    'rule 5: inputs that mean an operation of other models',
    'runway-gen4.5',
    { image_url: image, end_image: image },
    'operation',
  ],
  ['image-to-video needs an image', VEO, { operation: 'image-to-video' }, 'start_image'],
  [
    'start-end-to-video needs a last frame',
    VEO,
    { operation: 'start-end-to-video', start_image: image },
    'end_image',
  ],
  ['start-end-to-video needs a first frame', VEO, { end_image: image }, 'start_image'],
  [
    'reference-to-video needs a reference',
    VEO,
    { operation: 'reference-to-video' },
    'reference_images',
  ],
  ['video-to-video needs video_url', UPSCALER, {}, 'video_url'],
  ['motion-control needs video_url', MOTION, { image_url: image }, 'video_url'],
  ['motion-control needs a subject image', MOTION, { video_url: video }, 'start_image'],
  [
    'text-to-video uses no image',
    VEO,
    { operation: 'text-to-video', image_url: image },
    'image_url',
  ],
  [
    'an input that the operation does not use',
    VEO,
    { image_url: image, reference_images: [image] },
    'image_url',
  ],
  ['two first frames', KLING, { image_url: image, start_image: image }, 'image_url'],
  ['two last frames', KLING, { image_urls: [image, image], end_image: image }, 'end_image'],
  [
    'rule 1: two names with different values',
    VEO,
    { outputAudio: true, output_audio: false },
    'outputAudio',
  ],
  [
    'rule 2: ten reference images',
    SEEDANCE,
    { reference_images: urls(10, 'png') },
    'reference_images',
  ],
  ['rule 2: four reference videos', SEEDANCE, { video_urls: urls(4, 'mp4') }, 'video_urls'],
  [
    'rule 2: four reference videos, one of them video_url',
    SEEDANCE,
    { operation: 'reference-to-video', video_urls: urls(3, 'mp4'), video_url: video },
    'video_urls',
  ],
  [
    'rule 2: four reference audios',
    SEEDANCE,
    { reference_images: [image], audio_urls: urls(4, 'mp3') },
    'audio_urls',
  ],
  [
    'Veo-type: three reference images',
    VEO,
    { reference_images: urls(4, 'png') },
    'reference_images',
  ],
  ['rule 3: inline and remote inputs', VEO, { start_image: PNG, end_image: image }, 'start_image'],
  [
    'rule 3: inline data for a model that takes none',
    UPSCALER,
    { video_url: 'data:video/mp4;base64,AAAA' },
    'video_url',
  ],
  ['rule 3: a private scheme', VEO, { image_url: 'file:///etc/passwd' }, 'image_url'],
  [
    'rule 3: a URL with a password',
    VEO,
    { image_url: 'https://u:p@example.com/a.png' },
    'image_url',
  ],
  ['rule 3: not a URL', VEO, { image_url: 'a.png' }, 'image_url'],
  ['image is a data URL', VEO, { image: 'https://example.com/a.png' }, 'image'],
  ['image must be of type image', VEO, { image: 'data:text/html;base64,AAAA' }, 'image'],
  ['image is Base64', VEO, { image: 'data:image/png;base64,%%%' }, 'image'],
  ['image is not empty', VEO, { image: 'data:image/png;base64,' }, 'image'],
  ['reference_images is a list', VEO, { reference_images: image }, 'reference_images'],
  [
    'reference_image_type',
    VEO,
    { reference_images: [image], reference_image_type: 'mood' },
    'reference_image_type',
  ],
  [
    'kling_elements: only one model has them',
    VEO,
    { image_url: image, kling_elements: [element('cat')] },
    'kling_elements',
  ],
  [
    'kling_elements: not for the other Kling model',
    MOTION,
    { video_url: video, image_url: image, kling_elements: [element('cat')] },
    'kling_elements',
  ],
  [
    'kling_elements: only with an image',
    KLING,
    { kling_elements: [element('cat')] },
    'kling_elements',
  ],
  ['kling_elements: none', KLING, { image_url: image, kling_elements: [] }, 'kling_elements'],
  [
    'kling_elements: four',
    KLING,
    { image_url: image, kling_elements: ['a', 'b', 'c', 'd'].map((name) => element(name)) },
    'kling_elements',
  ],
  [
    'kling_elements: one image',
    KLING,
    { image_url: image, kling_elements: [element('cat', 1)] },
    'kling_elements.0.element_input_urls',
  ],
  [
    'kling_elements: five images',
    KLING,
    { image_url: image, kling_elements: [element('cat', 5)] },
    'kling_elements.0.element_input_urls',
  ],
  [
    'kling_elements: an image that is not a URL',
    KLING,
    { image_url: image, kling_elements: [{ name: 'cat', element_input_urls: [image, 'x'] }] },
    'kling_elements.0.element_input_urls.1',
  ],
  [
    'kling_elements: without a name',
    KLING,
    { image_url: image, kling_elements: [{ element_input_urls: urls(2, 'png') }] },
    'kling_elements.0.name',
  ],
  [
    'kling_elements: the same name twice',
    KLING,
    { image_url: image, kling_elements: [element('cat'), element('cat')] },
    'kling_elements',
  ],
  [
    'kling_elements: @name without an element',
    KLING,
    { prompt: '@cat and @dog', image_url: image, kling_elements: [element('cat')] },
    'prompt',
  ],
  ['duration: one that the model does not offer', VEO, { duration: 5 }, 'duration'],
  ['duration: not an integer', VEO, { duration: 4.5 }, 'duration'],
  [
    'duration: for a model that uses the duration of the source',
    MOTION,
    { video_url: video, image_url: image, duration: 5 },
    'duration',
  ],
  ['resolution: one that the model does not offer', VEO, { resolution: '8k' }, 'resolution'],
  ['aspect_ratio: one that the model does not offer', VEO, { aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['seed for a model without seed', VEO, { seed: 1 }, 'seed'],
  ['fps for a model without fps', VEO, { fps: 24 }, 'fps'],
  ['cfg_scale over 20', KLING, { cfg_scale: 20.1 }, 'cfg_scale'],
  ['cfg_scale below 0', KLING, { cfg_scale: -1 }, 'cfg_scale'],
  ['output_audio is true or false', VEO, { output_audio: 'yes' }, 'output_audio'],
  ['an unknown parameter', VEO, { nonsense: 1 }, 'nonsense'],
  ['an alias of a parameter that the model lacks', UPSCALER, { outputAudio: true }, 'outputAudio'],
  ['output_audio false for a model with sound', GROK, { output_audio: false }, 'output_audio'],
  [
    'a reference audio for a model without it',
    VEO,
    { reference_images: [image], audio_url: audio },
    'audio_url',
  ],
  [
    'a reference video for a model without it',
    VEO,
    { operation: 'reference-to-video', reference_images: [image], video_url: video },
    'video_url',
  ],
  [
    'two image_urls for a video with a first frame only',
    GROK,
    { operation: 'image-to-video', image_urls: [image, image] },
    'image_urls',
  ],
  [
    'Kling-type: aspect_ratio beside a first frame',
    KLING,
    { image_url: image, aspect_ratio: '1:1' },
    'aspect_ratio',
  ],
  [
    'Kling-type: aspect_ratio beside two frames',
    KLING,
    { start_image: image, end_image: image, aspect_ratio: '1:1' },
    'aspect_ratio',
  ],
  [
    'Seedance-type: aspect_ratio beside a first frame',
    SEEDANCE,
    { image_url: image, aspect_ratio: '1:1' },
    'aspect_ratio',
  ],
  [
    'motion-control: output_audio',
    MOTION,
    { video_url: video, image_url: image, output_audio: true },
    'output_audio',
  ],
  ['Aleph: duration', ALEPH, { video_url: video, duration: 5 }, 'duration'],
  ['Aleph: aspect_ratio', ALEPH, { video_url: video, aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['Aleph: an image', ALEPH, { video_url: video, image_url: image }, 'image_url'],
  ['Aleph: audio', ALEPH, { video_url: video, audio_url: audio }, 'audio_url'],
  ['upscaler: an image', UPSCALER, { video_url: video, image_url: image }, 'image_url'],
  ['upscaler: audio', UPSCALER, { video_url: video, audio_url: audio }, 'audio_url'],
  ['Grok edit: audio', GROK, { video_url: video, audio_url: audio }, 'audio_url'],
  [
    'Grok edit: reference_images',
    GROK,
    { operation: 'video-to-video', video_url: video, reference_images: [image] },
    'reference_images',
  ],
  [
    'output_audio for a model without output_audio',
    UPSCALER,
    { video_url: video, output_audio: true },
    'output_audio',
  ],
];

describe('fields and rules: bodies that are refused with the parameter', () => {
  test.each(REFUSED)('%s', (_rule, model, body, param) => {
    expect(refusal(model, body)).toMatchObject({ id: 'invalid_request', details: { param } });
  });

  test.each([
    ['fps', [0, 121, 23.976, '24']],
    ['cfg_scale', [-0.1, 20.1, '7']],
    ['motion_strength', [-0.1, 1.1, '1']],
    ['seed', [-1, 1.5, '1']],
    ['extend_at', [-1, 0.5]],
    ['watermark', ['no', 0]],
    ['negative_prompt', [7]],
    ['size', [7]],
    ['effect_type', [7, '']],
    ['user', [7]],
  ] as const)('%s: outside of its range', (name, values) => {
    for (const value of values) expect(refusal(open, { [name]: value }).details.param).toBe(name);
  });

  test.each([
    ['image', VEO],
    ['start_image', KLING],
    ['image_url', SEEDANCE],
  ])('413: %s of more than 20 MB', (param, model) => {
    const tooLarge = `data:image/png;base64,${'A'.repeat(28 * 1024 * 1024)}`;
    expect(refusal(model, { [param]: tooLarge })).toMatchObject({
      id: 'payload_too_large',
      details: { param },
    });
  });

  test('an image of 20 MB is accepted', () => {
    const whole = Buffer.alloc(20 * 1024 * 1024).toString('base64');
    accept(VEO, { image: `data:image/png;base64,${whole}` });
  });
});
