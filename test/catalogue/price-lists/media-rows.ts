/** The sources of the prices of direct calls, images, music, sounds and 3D objects. */
import { INPUT_IMAGE, list, nowhere, page, RELAYS, type Row } from './media-sources.ts';

const BY_TOKENS = 'the provider bills tokens; the price is its own estimate for a minute';
const IMAGE = ['text-to-image'];
const EDIT = ['image-to-image'];
const BOTH = [...IMAGE, ...EDIT];

function tokenImage(model: string): Row[] {
  return (
    [
      ['text_input', 'input_cost_per_token'],
      ['cached_input', 'cache_read_input_token_cost'],
      ['image_input', 'input_cost_per_image_token'],
      ['output', 'output_cost_per_image_token'],
    ] as const
  ).map(([kind, member]) => [model, BOTH, '', `${kind} token`, list(model, member)]);
}

function direct(model: string, operation: string, unit: string, row: string, member: string): Row {
  return [model, [operation], '', unit, list(row, member)];
}

export const MEDIA_ROWS: readonly Row[] = [
  direct(
    'text-embedding-3-large',
    'embedding',
    'input_tokens',
    'text-embedding-3-large',
    'input_cost_per_token',
  ),
  direct(
    'text-embedding-3-small',
    'embedding',
    'input_tokens',
    'text-embedding-3-small',
    'input_cost_per_token',
  ),
  direct(
    'text-embedding-ada-002',
    'embedding',
    'input_tokens',
    'text-embedding-ada-002',
    'input_cost_per_token',
  ),
  direct(
    'gemini-embedding-001',
    'embedding',
    'input_tokens',
    'gemini/gemini-embedding-001',
    'input_cost_per_token',
  ),
  direct('whisper-1', 'stt', 'seconds', 'whisper-1', 'input_cost_per_second'),
  ...['gpt-4o-transcribe', 'gpt-4o-mini-transcribe'].map(
    (model): Row => [model, ['stt'], '', 'seconds', nowhere(BY_TOKENS)],
  ),
  direct('tts-1', 'tts', 'characters', 'tts-1', 'input_cost_per_character'),
  direct('tts-1-hd', 'tts', 'characters', 'tts-1-hd', 'input_cost_per_character'),
  ...['gemini-2.5-flash-preview-tts', 'gemini-2.5-pro-preview-tts'].flatMap((model) => [
    direct(model, 'tts', 'input_tokens', `gemini/${model}`, 'input_cost_per_token'),
    direct(model, 'tts', 'output_tokens', `gemini/${model}`, 'output_cost_per_audio_token'),
  ]),
  direct('rerank-v3.5', 'rerank', 'requests', 'rerank-v3.5', 'input_cost_per_query'),
  ['deepl-translate', ['translation'], '', 'characters', page('deepl', 25)],

  ...tokenImage('gpt-image-2'),
  ...tokenImage('gpt-image-1'),
  ['dall-e-3', IMAGE, 'quality=standard size=1024x1024', 'image', page('openai_2025', 0.04)],
  [
    'dall-e-3',
    IMAGE,
    'quality=standard size=1792x1024|1024x1792',
    'image',
    page('openai_2025', 0.08),
  ],
  ['dall-e-3', IMAGE, 'quality=hd size=1024x1024', 'image', page('openai_2025', 0.08)],
  ['dall-e-3', IMAGE, 'quality=hd size=1792x1024|1024x1792', 'image', page('openai_2025', 0.12)],
  [
    'gemini-3-pro-image-preview',
    BOTH,
    'resolution=1k|2k',
    'image',
    list('gemini/gemini-3-pro-image', 'output_cost_per_image'),
  ],
  ['gemini-3-pro-image-preview', BOTH, 'resolution=4k', 'image', page('gemini', 0.24)],
  [
    'gemini-2.5-flash-image',
    BOTH,
    '',
    'image',
    list('gemini/gemini-2.5-flash-image', 'output_cost_per_image'),
  ],
  [
    ...(['gemini-2.0-flash-preview-image-generation', BOTH, '', 'image'] as const),
    nowhere('retired, and in no list; the price is that of its successor'),
  ],
  [
    'grok-imagine-image',
    IMAGE,
    'resolution=1k|2k',
    'image',
    list('xai/grok-imagine-image', 'input_cost_per_image'),
  ],
  ['grok-imagine-image', EDIT, 'resolution=1k|2k', 'image', page('xai_edit', 0.022, INPUT_IMAGE)],
  [
    'grok-imagine-image-quality',
    IMAGE,
    'resolution=1k',
    'image',
    list('xai/grok-imagine-image-quality', 'input_cost_per_image'),
  ],
  ['grok-imagine-image-quality', IMAGE, 'resolution=2k', 'image', page('xai_bill', 0.07)],
  [
    'grok-imagine-image-quality',
    EDIT,
    'resolution=1k',
    'image',
    page('xai_reference', 0.06, INPUT_IMAGE),
  ],
  [
    'grok-imagine-image-quality',
    EDIT,
    'resolution=2k',
    'image',
    page('xai_reference', 0.08, INPUT_IMAGE),
  ],
  [
    'flux-1.1-pro',
    IMAGE,
    '',
    'image',
    list('black_forest_labs/flux-pro-1.1', 'output_cost_per_image'),
  ],
  ['flux-2-pro', IMAGE, 'size=1024x1024', 'image', page('flux', 0.03)],
  ['flux-2-pro', IMAGE, 'size=1920x1088', 'image', page('flux', 0.045)],
  ['flux-2-pro', IMAGE, 'size=1440x1472', 'image', page('flux', 0.06)],
  ['midjourney', IMAGE, '', 'image', nowhere(RELAYS)],
  ['ideogram-v3', IMAGE, '', 'image', page('ideogram', 0.06)],
  [
    'stable-diffusion-3.5-large',
    IMAGE,
    '',
    'image',
    list('stability/sd3.5-large', 'output_cost_per_image'),
  ],

  ['suno_music', ['text-to-music'], 'action=MUSIC|LYRICS', 'song', nowhere(RELAYS)],
  ['suno_lyrics', ['text-to-music'], 'action=LYRICS', 'song', nowhere(RELAYS)],
  [
    'trellis',
    ['image-to-3d'],
    '',
    'request',
    list('fal_ai/fal-ai/trellis', 'output_cost_per_image'),
  ],
  ['hunyuan3d-2.1', ['image-to-3d'], '', 'request', page('hunyuan', 0.3)],
  ['tripo-2.5', ['image-to-3d'], '', 'request', page('tripo', 0.3)],
  [
    'tripo-2.5',
    ['text-to-3d'],
    '',
    'request',
    nowhere('the page gives the price of an image only'),
  ],
  ['elevenlabs-sound-effects', ['text-to-audio'], '', 'second', page('sounds', 0.002)],
  ['stable-audio-2.5', ['text-to-audio'], '', 'request', page('stable_audio', 0.2)],
];

const PICTURE_ONLY =
  'Weir prices the picture; the tokens of the prompt and of thoughts are not charged';
const NOT_OFFERED = 'Weir does not offer it';
const REPEATED = 'it repeats the price of a cell';

/** Prices of the rows of LiteLLM that no cell has: `row member`, and the reason. */
export const NOT_PRICED: Readonly<Record<string, string>> = {
  'gpt-image-2 cache_read_input_image_token_cost':
    'Weir has one price of cached tokens, that of text',
  'gpt-image-1 cache_read_input_image_token_cost':
    'Weir has one price of cached tokens, that of text',
  ...Object.fromEntries(
    [
      ...['input_cost_per_image', 'input_cost_per_token', 'output_cost_per_token'],
      'output_cost_per_image_token',
    ].map((member) => [`gemini/gemini-3-pro-image ${member}`, PICTURE_ONLY]),
  ),
  ...Object.fromEntries(
    [
      ...['cache_read_input_token_cost', 'input_cost_per_audio_token', 'input_cost_per_token'],
      ...[
        'output_cost_per_image_token',
        'output_cost_per_reasoning_token',
        'output_cost_per_token',
      ],
    ].map((member) => [`gemini/gemini-2.5-flash-image ${member}`, PICTURE_ONLY]),
  ),
  'xai/grok-imagine-image-2.0 input_cost_per_image':
    'an alias; Weir sends and prices grok-imagine-image-quality, which costs 0.01 USD less',
  'fal_ai/fal-ai/ideogram/v3 output_cost_per_image': REPEATED,
  ...Object.fromEntries(
    ['text-to-video', 'image-to-video', 'reference-to-video'].flatMap((operation) => [
      [`fal_ai/bytedance/seedance-2.0/${operation} output_cost_per_second`, REPEATED],
      [`fal_ai/bytedance/seedance-2.0/${operation} output_cost_per_second_1080p`, NOT_OFFERED],
      [`fal_ai/bytedance/seedance-2.0/${operation} output_cost_per_second_4k`, NOT_OFFERED],
    ]),
  ),
  'xai/grok-imagine-video input_cost_per_image': INPUT_IMAGE,
  'xai/grok-imagine-video output_cost_per_second': REPEATED,
  'whisper-1 output_cost_per_second': REPEATED,
  'gemini/gemini-2.5-flash-preview-tts output_cost_per_token': REPEATED,
  'gemini/gemini-2.5-pro-preview-tts output_cost_per_token': REPEATED,
  'gemini/gemini-2.5-pro-preview-tts cache_read_input_token_cost': NOT_OFFERED,
  'gemini/gemini-2.5-pro-preview-tts input_cost_per_audio_token': NOT_OFFERED,
};
