import { describe, expect, test } from 'bun:test';
import { builtInModels } from '../../src/catalogue/built-in.ts';
import {
  type Accepted,
  accept,
  declaredModel,
  type Refused,
  refusal,
} from '../support/contracts.ts';

const TOKEN = 'gpt-image-2';
const CLASSIC = 'dall-e-3';
const PRO = 'gemini-3-pro-image-preview';
const FLASH = 'gemini-2.5-flash-image';
const PROMPT_ONLY = 'gemini-2.0-flash-preview-image-generation';
const GROK = 'grok-imagine-image';

const IMAGE_MODELS = builtInModels()
  .filter(({ category }) => category === 'image')
  .map(({ id }) => id);

describe('fields of every image model', () => {
  test.each(IMAGE_MODELS)('%s: prompt is required, one image by URL is the default', (model) => {
    expect(accept(model, {})).toMatchObject({
      scene: 'image',
      prompt: 'a lighthouse',
      n: 1,
      response_format: 'url',
    });
    for (const prompt of [undefined, null, '', 7, ['x']]) {
      expect(refusal(model, { prompt })).toMatchObject({
        id: 'invalid_request',
        details: { param: 'prompt' },
      });
    }
  });

  test.each(IMAGE_MODELS)('%s: n is 1 to 10 at most, model dependent', (model) => {
    for (const n of [0, 11, 1.5, '1', -1]) {
      expect(refusal(model, { n }).details.param).toBe('n');
    }
  });

  test.each(IMAGE_MODELS)('%s: response_format is url or b64_json', (model) => {
    expect(accept(model, { response_format: 'b64_json' })).toMatchObject({
      response_format: 'b64_json',
    });
    expect(refusal(model, { response_format: 'jpg' }).details.param).toBe('response_format');
  });

  test.each(IMAGE_MODELS)('%s: user is passed on', (model) => {
    expect(accept(model, { user: 'u-1' })).toMatchObject({ user: 'u-1' });
  });

  test.each(IMAGE_MODELS)('%s: null is the same as a missing parameter', (model) => {
    const nulls = { n: null, size: null, quality: null, style: null, aspect_ratio: null };
    expect(accept(model, nulls)).toEqual(accept(model, {}));
  });

  test.each(IMAGE_MODELS)('%s: unknown parameters are refused', (model) => {
    expect(accept(model, { stream: false, nonsense: null })).toEqual(accept(model, {}));
    for (const name of ['metadata', 'nonsense', 'scene', 'seeed']) {
      expect(refusal(model, { [name]: 1 })).toMatchObject({
        id: 'invalid_request',
        details: { param: name },
      });
    }
  });

  test.each(IMAGE_MODELS)('%s: the defaults of SDKs are accepted', (model) => {
    const quality = model === TOKEN || model === 'gpt-image-1' ? 'auto' : 'standard';
    accept(model, { size: '1024x1024', quality, style: 'vivid', n: 1, stream: false });
  });
});

const ACCEPTED: Accepted[] = [
  [
    'rule 1: token-priced: every accepted parameter',
    TOKEN,
    {
      n: 2,
      size: '2048x1024',
      quality: 'high',
      response_format: 'b64_json',
      async: false,
      background: 'opaque',
      output_format: 'webp',
      output_compression: 80,
      moderation: 'low',
      partial_images: 2,
      user: 'u',
    },
    {
      n: 2,
      size: '2048x1024',
      quality: 'high',
      response_format: 'b64_json',
      background: 'opaque',
      output_format: 'webp',
      output_compression: 80,
      moderation: 'low',
      user: 'u',
    },
  ],
  ['rule 1: omitting size or quality means auto', TOKEN, {}, { size: 'auto', quality: 'auto' }],
  ['rule 1: size auto', TOKEN, { size: 'auto' }, { size: 'auto' }],
  ['rule 1: smallest square', TOKEN, { size: '816x816' }, { size: '816x816' }],
  ['rule 1: fewest pixels', TOKEN, { size: '1024x640' }, { size: '1024x640' }],
  ['rule 1: longest edge and most pixels', TOKEN, { size: '3840x2160' }, { size: '3840x2160' }],
  ['rule 1: portrait', TOKEN, { size: '2160x3840' }, { size: '2160x3840' }],
  ['rule 1: ratio of exactly 3:1', TOKEN, { size: '1536x512' }, { size: '1536x512' }],
  [
    'rule 1: compression is an alias of output_compression',
    TOKEN,
    { compression: 50 },
    { output_compression: 50 },
  ],
  ['classic: defaults', CLASSIC, {}, { size: '1024x1024', quality: 'standard', style: 'vivid' }],
  [
    'classic: quality hd and style natural',
    CLASSIC,
    { size: '1792x1024', quality: 'hd', style: 'natural' },
    { size: '1792x1024', quality: 'hd', style: 'natural' },
  ],
  [
    'rule 2: pro Gemini-type: aspect_ratio and resolution',
    PRO,
    { aspect_ratio: '16:9', resolution: '4k' },
    { aspect_ratio: '16:9', resolution: '4k' },
  ],
  [
    'rule 2: pro Gemini-type: resolution in capitals',
    PRO,
    { resolution: '2K' },
    { resolution: '2k' },
  ],
  ['rule 2: nano-banana-type alias', 'nano-banana-pro', { resolution: '2k' }, { resolution: '2k' }],
  [
    'rule 2: size is an alias of aspect_ratio and resolution',
    PRO,
    { size: '3840x2160' },
    { aspect_ratio: '16:9', resolution: '4k' },
  ],
  [
    'rule 2: size: 1024x1024 is 1:1 at 1k',
    PRO,
    { size: '1024x1024' },
    { aspect_ratio: '1:1', resolution: '1k' },
  ],
  [
    'rule 2: size: 2048x2048 is 1:1 at 2k',
    PRO,
    { size: '2048x2048' },
    { aspect_ratio: '1:1', resolution: '2k' },
  ],
  ['rule 2: size: the nearest ratio', PRO, { size: '1792x1024' }, { aspect_ratio: '16:9' }],
  [
    'rule 2: size that agrees with aspect_ratio and resolution',
    PRO,
    { size: '2560x1440', aspect_ratio: '16:9', resolution: '2k' },
    { aspect_ratio: '16:9', resolution: '2k' },
  ],
  [
    'rule 2: flash Gemini-type: aspect_ratio',
    FLASH,
    { aspect_ratio: '21:9' },
    { aspect_ratio: '21:9' },
  ],
  [
    'rule 2: flash Gemini-type: size as aspect_ratio',
    FLASH,
    { size: '1024x1536' },
    { aspect_ratio: '2:3' },
  ],
  [
    'rule 3: Grok-type: aspect_ratio and resolution',
    GROK,
    { aspect_ratio: '3:2', resolution: '2k' },
    { aspect_ratio: '3:2', resolution: '2k' },
  ],
  ['rule 3: Grok-type: 1k is the default', GROK, {}, { resolution: '1k' }],
  [
    'rule 3: the legacy pro id',
    'grok-imagine-image-pro',
    { resolution: '2k' },
    { resolution: '2k' },
  ],
  ['FLUX-type: exact pixel size', 'flux-1.1-pro', { size: '1440x960' }, { size: '1440x960' }],
  ['FLUX-type: size is 1024x1024 by default', 'flux-1.1-pro', {}, { size: '1024x1024' }],
  [
    'FLUX-type: size that agrees with aspect_ratio',
    'flux-1.1-pro',
    { size: '1440x960', aspect_ratio: '3:2' },
    { size: '1440x960', aspect_ratio: '3:2' },
  ],
  [
    'FLUX-type: aspect_ratio instead of size',
    'flux-2-pro',
    { aspect_ratio: '16:9' },
    { aspect_ratio: '16:9' },
  ],
  ['FLUX-type: async', 'flux-2-pro', { async: true }, {}],
  ['token-priced: async', TOKEN, { async: true }, {}],
  [
    'Midjourney-type: any aspect ratio',
    'midjourney',
    { aspect_ratio: '7:4' },
    { aspect_ratio: '7:4' },
  ],
  [
    'Midjourney-type: size in lowest terms',
    'midjourney',
    { size: '1920x1080' },
    { aspect_ratio: '16:9' },
  ],
  ['Midjourney-type: async is accepted', 'midjourney', { async: true }, {}],
  ['Midjourney-type: any size', 'midjourney', { size: '1000x777' }, { aspect_ratio: '1000:777' }],
  ['Ideogram-type: seed', 'ideogram-v3', { seed: 2_147_483_647 }, { seed: 2_147_483_647 }],
  ['Ideogram-type: size', 'ideogram-v3', { size: '800x1280' }, { aspect_ratio: '10:16' }],
  [
    'Ideogram-type: aspect_ratio',
    'ideogram-v3',
    { aspect_ratio: '10:16' },
    { aspect_ratio: '10:16' },
  ],
  [
    'Stable-Diffusion-type: aspect_ratio, negative prompt and seed',
    'stable-diffusion-3.5',
    { aspect_ratio: '21:9', negative_prompt: 'fog', seed: 7 },
    { aspect_ratio: '21:9', negative_prompt: 'fog', seed: 7 },
  ],
];

const REFUSED: Refused[] = [
  // replicate.com/ideogram-ai/ideogram-v3-balanced: seed, maximum 2147483647.
  ['Ideogram-type: a seed above 31 bits', 'ideogram-v3', { seed: 2_147_483_648 }, 'seed'],
  [
    'rule 1: aspect_ratio is not part of the contract',
    TOKEN,
    { aspect_ratio: '1:1' },
    'aspect_ratio',
  ],
  ['rule 1: resolution is not part of the contract', TOKEN, { resolution: '1k' }, 'resolution'],
  ['rule 1: size: width no multiple of 16', TOKEN, { size: '1025x1024' }, 'size'],
  ['rule 1: size: height no multiple of 16', TOKEN, { size: '1024x1032' }, 'size'],
  ['rule 1: size: longest edge over 3840', TOKEN, { size: '3856x2048' }, 'size'],
  ['rule 1: size: ratio over 3:1', TOKEN, { size: '1552x512' }, 'size'],
  ['rule 1: size: ratio over 1:3', TOKEN, { size: '512x1552' }, 'size'],
  ['rule 1: size: fewer than 655360 pixels', TOKEN, { size: '800x800' }, 'size'],
  ['rule 1: size: more than 8294400 pixels', TOKEN, { size: '3840x2176' }, 'size'],
  ['rule 1: size: not WIDTHxHEIGHT', TOKEN, { size: 'big' }, 'size'],
  ['rule 1: size: zero', TOKEN, { size: '0x0' }, 'size'],
  ['rule 1: size of a model with three sizes', 'gpt-image-1', { size: '2048x2048' }, 'size'],
  ['rule 1: quality standard is the classic family’s', TOKEN, { quality: 'standard' }, 'quality'],
  ['rule 1: quality hd is the classic family’s', TOKEN, { quality: 'hd' }, 'quality'],
  ['rule 1: background', TOKEN, { background: 'red' }, 'background'],
  ['rule 1: output_format', TOKEN, { output_format: 'gif' }, 'output_format'],
  ['rule 1: output_compression over 100', TOKEN, { output_compression: 101 }, 'output_compression'],
  ['rule 1: output_compression below 0', TOKEN, { compression: -1 }, 'output_compression'],
  [
    'rule 1: two values for one parameter',
    TOKEN,
    { compression: 1, output_compression: 2 },
    'compression',
  ],
  ['rule 1: moderation', TOKEN, { moderation: 'none' }, 'moderation'],
  ['rule 1: partial_images over 3', TOKEN, { partial_images: 4 }, 'partial_images'],
  ['text with NUL', TOKEN, { prompt: 'a\0b' }, 'prompt'],
  ['text with an unpaired surrogate', TOKEN, { prompt: 'a\ud800' }, 'prompt'],
  ['only some images are streamed', CLASSIC, { stream: true }, 'stream'],
  ['one image at a time is streamed', TOKEN, { stream: true, n: 2 }, 'n'],
  ['a stream is no task', TOKEN, { stream: true, async: true }, 'async'],
  ['classic: quality', CLASSIC, { quality: 'high' }, 'quality'],
  ['classic: style', CLASSIC, { style: 'wild' }, 'style'],
  ['classic: size', CLASSIC, { size: '512x512' }, 'size'],
  ['classic: one image at a time', CLASSIC, { n: 2 }, 'n'],
  ['classic: no aspect_ratio', CLASSIC, { aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['classic: async is for other families', CLASSIC, { async: true }, 'async'],
  ['async is true or false', TOKEN, { async: 'yes' }, 'async'],
  ['rule 2: flash Gemini-type: no resolution', FLASH, { resolution: '2k' }, 'resolution'],
  ['rule 2: prompt-only: no aspect_ratio', PROMPT_ONLY, { aspect_ratio: '1:1' }, 'aspect_ratio'],
  ['rule 2: prompt-only: no resolution', PROMPT_ONLY, { resolution: '1k' }, 'resolution'],
  ['rule 2: pro Gemini-type: resolution', PRO, { resolution: '8k' }, 'resolution'],
  ['rule 2: pro Gemini-type: aspect_ratio', PRO, { aspect_ratio: '17:9' }, 'aspect_ratio'],
  ['rule 2: size: not WIDTHxHEIGHT', PRO, { size: '1024' }, 'size'],
  ['rule 2: Gemini-type: async is for other families', PRO, { async: true }, 'async'],
  ['rule 3: Grok-type: no 4k', GROK, { resolution: '4k' }, 'resolution'],
  ['rule 3: Grok-type: async is for other families', GROK, { async: true }, 'async'],
  ['FLUX-type: no resolution', 'flux-1.1-pro', { resolution: '2k' }, 'resolution'],
  ['FLUX-type: too large', 'flux-1.1-pro', { size: '4096x1024' }, 'size'],
  ['FLUX-type: too small', 'flux-1.1-pro', { size: '128x1024' }, 'size'],
  ['FLUX-type: not in steps of 32 pixels', 'flux-2-pro', { size: '1000x777' }, 'size'],
  ['FLUX-type: webp', 'flux-2-pro', { output_format: 'webp' }, 'output_format'],
  [
    'FLUX-type: size against aspect_ratio',
    'flux-2-pro',
    { size: '1024x1024', aspect_ratio: '16:9' },
    'size',
  ],
  ['rule 2: size against aspect_ratio', PRO, { size: '1024x1024', aspect_ratio: '9:16' }, 'size'],
  ['rule 2: size against resolution', PRO, { size: '1024x1024', resolution: '4k' }, 'size'],
  ['rule 2: size without a ratio of the model', PRO, { size: '1000x777' }, 'size'],
  ['rule 3: size above the largest resolution', GROK, { size: '3840x2160' }, 'size'],
  ['rule 2: prompt-only: no size', PROMPT_ONLY, { size: '1792x1024' }, 'size'],
  ['rule 2: prompt-only: no quality', PROMPT_ONLY, { quality: 'hd' }, 'quality'],
  ['style of the classic family', 'flux-2-pro', { style: 'natural' }, 'style'],
  ['an alias of another family’s parameter', 'flux-2-pro', { compression: 5 }, 'compression'],
  ['input_fidelity of another family', GROK, { input_fidelity: 'high' }, 'input_fidelity'],
  ['Stable-Diffusion-type: inline', 'stable-diffusion-3.5', { async: true }, 'async'],
];

describe('model-specific rules: accepted bodies', () => {
  test.each(ACCEPTED)('%s', (_rule, model, body, input) => {
    expect(accept(model, body)).toMatchObject({ scene: 'image', ...input });
  });

  test('rule 1: input_fidelity is removed before forwarding', () => {
    expect(accept(TOKEN, { input_fidelity: 'high' })).not.toHaveProperty('input_fidelity');
  });

  test('rule 1: a token-priced model gets no parameters of the classic family', () => {
    expect(accept(TOKEN, { style: 'vivid' })).not.toHaveProperty('style');
  });

  test('rule 2: a prompt-only model gets no shape parameters', () => {
    const defaults = { size: '1024x1024', quality: 'standard', style: 'vivid' };
    expect(accept(PROMPT_ONLY, defaults)).toEqual({
      scene: 'image',
      prompt: 'a lighthouse',
      n: 1,
      response_format: 'url',
    });
  });

  test('rule 2: size is not forwarded if it is an alias', () => {
    expect(accept(PRO, { size: '1024x1024' })).not.toHaveProperty('size');
  });

  test('async is not part of the input', () => {
    expect(accept(TOKEN, { async: true })).toEqual(accept(TOKEN, {}));
  });
});

describe('model-specific rules: bodies that are refused with the parameter', () => {
  test.each(REFUSED)('%s', (_rule, model, body, param) => {
    expect(refusal(model, body)).toMatchObject({ id: 'invalid_request', details: { param } });
  });
});

describe('a refused size', () => {
  test.each([
    ['flux-2-pro', '1000x777', 'Use 992x768 or 992x800.'],
    ['gpt-image-2', '1000x1024', 'Use 992x1024 or 1008x1024.'],
    [PRO, '1000x777', 'Use 1000x800 or 1024x768, or send aspect_ratio.'],
  ])('%s: the hint for %s names sizes that are accepted', (model, size, hint) => {
    expect(refusal(model, { size }).details).toEqual({ param: 'size', hint });
    for (const [near] of hint.matchAll(/\d+x\d+/g)) accept(model, { size: near });
  });

  test('the message names both parameters that contradict each other', () => {
    const { message } = refusal(PRO, { size: '1024x1024', aspect_ratio: '16:9' });
    expect(message).toBe('size 1024x1024 and aspect_ratio 16:9 contradict each other.');
  });
});

describe('a model of weir.yaml', () => {
  test('narrows its family’s contract', () => {
    const model = declaredModel({
      category: 'image',
      family: 'classic-image',
      price: { usd_per_image: 0.02 },
      offers: { sizes: ['256x256'], max_images: 10 },
    });
    expect(accept(model, { n: 10 })).toMatchObject({ n: 10, size: '256x256' });
    expect(refusal(model, { size: '1024x1024' }).details.param).toBe('size');
  });
});
