/** The sources of the prices of videos. */
import { list, nowhere, page, type Row } from './media-sources.ts';

const FRAMES = ['text-to-video', 'image-to-video', 'start-end-to-video'];
const REFERENCE = ['reference-to-video'];
const EDIT_VIDEO = ['video-to-video'];
const SOUND = 'output_audio=true|false';
const SOURCE_FILM =
  'fal.ai also counts the seconds of the source film, at 0.6 of the price; Weir prices the result';

function seedance(operation: string, row: string): Row[] {
  const name = `fal_ai/bytedance/seedance-2.0/${row}`;
  const rounded = 'the list rounds 0.134505 USD up; Weir keeps four digits';
  return [
    [
      'seedance-2.0',
      [operation],
      `${SOUND} resolution=720p`,
      'second',
      list(name, 'output_cost_per_second_720p'),
    ],
    [
      'seedance-2.0',
      [operation],
      `${SOUND} resolution=480p`,
      'second',
      list(name, 'output_cost_per_second_480p', rounded),
    ],
  ];
}

const VEO = 'gemini/veo-3.1-generate-001';
const VEO_FAST = 'gemini/veo-3.1-fast-generate-001';
const GROK = 'xai/grok-imagine-video';

export const VIDEO_ROWS: readonly Row[] = [
  [
    'veo-3.1',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=720p|1080p`,
    'second',
    list(VEO, 'output_cost_per_second'),
  ],
  [
    'veo-3.1',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=4k`,
    'second',
    list(VEO, 'output_cost_per_second_4k'),
  ],
  [
    'veo-3.1-fast',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=720p`,
    'second',
    list(VEO_FAST, 'output_cost_per_second'),
  ],
  [
    'veo-3.1-fast',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=1080p`,
    'second',
    list(VEO_FAST, 'output_cost_per_second_1080p'),
  ],
  [
    'veo-3.1-fast',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=4k`,
    'second',
    list(VEO_FAST, 'output_cost_per_second_4k'),
  ],
  ['kling-3.0', FRAMES, 'output_audio=false resolution=720p', 'second', page('kling', 0.084)],
  ['kling-3.0', FRAMES, 'output_audio=true resolution=720p', 'second', page('kling', 0.126)],
  ['kling-3.0', FRAMES, 'output_audio=false resolution=1080p', 'second', page('kling', 0.112)],
  ['kling-3.0', FRAMES, 'output_audio=true resolution=1080p', 'second', page('kling', 0.168)],
  [
    'kling-3.0-motion-control',
    ['motion-control'],
    'resolution=720p',
    'second',
    page('kling', 0.126),
  ],
  [
    'kling-3.0-motion-control',
    ['motion-control'],
    'resolution=1080p',
    'second',
    page('kling', 0.168),
  ],
  ...seedance('text-to-video', 'text-to-video'),
  ...seedance('image-to-video', 'image-to-video'),
  ...seedance('start-end-to-video', 'image-to-video'),
  ...seedance('reference-to-video', 'reference-to-video'),
  ['seedance-2.0', EDIT_VIDEO, `${SOUND} resolution=720p|480p`, 'second', nowhere(SOURCE_FILM)],
  [
    'seedance-2.0-fast',
    [...FRAMES, ...REFERENCE],
    `${SOUND} resolution=720p`,
    'second',
    page('seedance_fast', 0.2419),
  ],
  [
    ...([
      'seedance-2.0-fast',
      [...FRAMES, ...REFERENCE],
      `${SOUND} resolution=480p`,
      'second',
    ] as const),
    nowhere('the page gives 720p only; the price follows from its tokens of 854x480'),
  ],
  [
    'seedance-2.0-fast',
    EDIT_VIDEO,
    `${SOUND} resolution=720p|480p`,
    'second',
    nowhere(SOURCE_FILM),
  ],
  [
    'runway-gen4.5',
    ['text-to-video', 'image-to-video'],
    '',
    'second',
    list('runwayml/gen4.5', 'output_cost_per_second'),
  ],
  [
    'runway-gen4-turbo',
    ['image-to-video'],
    '',
    'second',
    list('runwayml/gen4_turbo', 'output_cost_per_video_per_second'),
  ],
  ['runway-aleph-2', EDIT_VIDEO, '', 'second', page('runway', 0.28)],
  [
    'grok-imagine-video',
    ['text-to-video', 'image-to-video', ...REFERENCE],
    'resolution=720p',
    'second',
    list(GROK, 'output_cost_per_second_720p'),
  ],
  [
    'grok-imagine-video',
    ['text-to-video', 'image-to-video', ...REFERENCE],
    'resolution=480p',
    'second',
    list(GROK, 'output_cost_per_second_480p'),
  ],
  [
    ...(['grok-imagine-video', EDIT_VIDEO, 'resolution=480p', 'second'] as const),
    page('xai_video_edit', 0.06, 'the provider also charges the seconds of the source film'),
  ],
  [
    ...(['grok-imagine-video', EDIT_VIDEO, 'resolution=720p', 'second'] as const),
    nowhere('no page gives an edit at 720p; the provider also charges the source film'),
  ],
  ...(['', 'fps=60 '] as const).flatMap((fps): Row[] => {
    const times = fps === '' ? 1 : 2;
    return [
      [
        'topaz-video-upscale',
        EDIT_VIDEO,
        `${fps}resolution=480p|720p`,
        'second',
        page('topaz', 0.01 * times),
      ],
      [
        'topaz-video-upscale',
        EDIT_VIDEO,
        `${fps}resolution=1080p`,
        'second',
        page('topaz', 0.02 * times),
      ],
      [
        'topaz-video-upscale',
        EDIT_VIDEO,
        `${fps}resolution=4k`,
        'second',
        page('topaz', 0.08 * times),
      ],
    ];
  }),
];
