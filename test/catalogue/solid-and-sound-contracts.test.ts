import { describe, expect, test } from 'bun:test';
import { type Accepted, accept, type Refused, refusal } from '../support/contracts.ts';

const BOTH = 'tripo-2.5';
const PICTURE = 'trellis';
const SOUND = 'elevenlabs-sound-effects';
const URL = 'https://example.com/chair.png';
const DATA = 'data:image/png;base64,aGVsbG8=';

const ACCEPTED: Accepted[] = [
  ['3d: a prompt alone', BOTH, {}, { scene: '3d', prompt: 'a lighthouse' }],
  ['3d: a picture alone', PICTURE, { prompt: null, image_url: URL }, { image: URL }],
  ['3d: a picture by its other name, inline', PICTURE, { image: DATA }, { image: DATA }],
  ['3d: both, and a seed', BOTH, { image_url: URL, seed: 7 }, { image: URL, seed: 7 }],
  ['sound: a prompt alone, five seconds', SOUND, {}, { scene: 'audio', duration: 5 }],
  ['sound: its duration', SOUND, { duration: 22 }, { duration: 22 }],
  ['sound: longer ones where the model has them', 'stable-audio-2.5', { duration: 190 }, {}],
  ['what the route does not know is left out', SOUND, { nonsense: 1 }, { duration: 5 }],
];

const REFUSED: Refused[] = [
  ['3d: nothing to work from', BOTH, { prompt: null }, 'prompt'],
  ['3d: words where a picture is needed', PICTURE, {}, 'image_url'],
  ['3d: a picture that is none', BOTH, { image_url: 'chair.png' }, 'image_url'],
  ['3d: sound as a picture', BOTH, { image_url: 'data:audio/mpeg;base64,aGVs' }, 'image_url'],
  ['3d: a seed that is none', BOTH, { seed: -1 }, 'seed'],
  ['3d: two pictures by two names', BOTH, { image_url: URL, image: DATA }, 'image'],
  ['sound: prompt is required', SOUND, { prompt: null }, 'prompt'],
  ['sound: a duration that it has not', SOUND, { duration: 23 }, 'duration'],
  ['sound: half a second', SOUND, { duration: 0.5 }, 'duration'],
];

describe('3d and sound: what is accepted', () => {
  test.each(ACCEPTED)('%s', (_, model, body, expected) => {
    expect(accept(model, body)).toMatchObject(expected);
  });
});

describe('3d and sound: what is refused, by name', () => {
  test.each(REFUSED)('%s', (_, model, body, param) => {
    expect(refusal(model, body)).toMatchObject({ id: 'invalid_request', details: { param } });
  });
});
