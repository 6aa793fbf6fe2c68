import { describe, expect, test } from 'bun:test';
import { type Accepted, accept, type Refused, refusal } from '../support/contracts.ts';

const BOTH = 'tripo-2.5';
const FROM_IMAGE = 'trellis';
const SOUND = 'elevenlabs-sound-effects';
const URL = 'https://example.com/chair.png';
const DATA = 'data:image/png;base64,aGVsbG8=';

const ACCEPTED: Accepted[] = [
  ['3d: a prompt alone', BOTH, {}, { scene: '3d', prompt: 'a lighthouse' }],
  ['3d: an image alone', FROM_IMAGE, { prompt: null, image_url: URL }, { image: URL }],
  [
    '3d: an inline image under its alias',
    FROM_IMAGE,
    { prompt: null, image: DATA },
    { image: DATA },
  ],
  ['3d: prompt and seed', BOTH, { seed: 7 }, { seed: 7 }],
  ['3d: image and seed', BOTH, { prompt: null, image_url: URL, seed: 7 }, { image: URL, seed: 7 }],
  ['sound: a prompt alone, five seconds', SOUND, {}, { scene: 'audio', duration: 5 }],
  ['sound: a duration', SOUND, { duration: 22 }, { duration: 22 }],
  ['sound: a long duration that the model has', 'stable-audio-2.5', { duration: 190 }, {}],
  ['sound: seed of a model that has it', 'stable-audio-2.5', { seed: 7 }, { seed: 7 }],
];

const REFUSED: Refused[] = [
  ['3d: neither prompt nor image', BOTH, { prompt: null }, 'prompt'],
  ['3d: neither a prompt nor the required image', FROM_IMAGE, { prompt: null }, 'image_url'],
  ['3d: a prompt for a model of images', FROM_IMAGE, { image_url: URL }, 'prompt'],
  ['3d: a prompt and an image', BOTH, { image_url: URL }, 'prompt'],
  ['3d: an image that is not a URL', BOTH, { prompt: null, image_url: 'chair.png' }, 'image_url'],
  [
    '3d: audio as the image',
    BOTH,
    { prompt: null, image_url: 'data:audio/mpeg;base64,aGVs' },
    'image_url',
  ],
  ['3d: an invalid seed', BOTH, { seed: -1 }, 'seed'],
  ['3d: two images under two names', BOTH, { prompt: null, image_url: URL, image: DATA }, 'image'],
  ['sound: prompt is required', SOUND, { prompt: null }, 'prompt'],
  ['sound: a duration that the model does not have', SOUND, { duration: 23 }, 'duration'],
  ['sound: half a second', SOUND, { duration: 0.5 }, 'duration'],
  ['sound: seed of a model without it', SOUND, { seed: 7 }, 'seed'],
  ['sound: an unknown parameter', SOUND, { nonsense: 1 }, 'nonsense'],
  ['3d: an unknown parameter', BOTH, { nonsense: 1 }, 'nonsense'],
];

describe('3d and sound: accepted bodies', () => {
  test.each(ACCEPTED)('%s', (_, model, body, expected) => {
    expect(accept(model, body)).toMatchObject(expected);
  });
});

describe('3d and sound: bodies that are refused with the parameter', () => {
  test.each(REFUSED)('%s', (_, model, body, param) => {
    expect(refusal(model, body)).toMatchObject({ id: 'invalid_request', details: { param } });
  });
});
