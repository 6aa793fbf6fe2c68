import { describe, expect, test } from 'bun:test';
import {
  type Accepted,
  accept,
  generationModel,
  type Refused,
  refusal,
} from '../support/contracts.ts';

const MUSIC = 'suno_music';
const LYRICS = 'suno_lyrics';

const ACCEPTED: Accepted[] = [
  ['a prompt alone', MUSIC, {}, { action: 'MUSIC', prompt: 'a lighthouse' }],
  ['action MUSIC', MUSIC, { action: 'MUSIC' }, { action: 'MUSIC' }],
  ['action LYRICS', MUSIC, { action: 'LYRICS' }, { action: 'LYRICS' }],
  ['suno_lyrics is for lyrics only', LYRICS, {}, { action: 'LYRICS' }],
  [
    'title, tags, mv and user',
    MUSIC,
    { title: 'Light', tags: 'folk, calm', mv: 'chirp-v5', user: 'u' },
    { title: 'Light', tags: 'folk, calm', mv: 'chirp-v5', user: 'u' },
  ],
  [
    'continuation: of a clip, from a given second',
    MUSIC,
    { continue_clip_id: 'clip_1', continue_at: 61.5 },
    { continue_clip_id: 'clip_1', continue_at: 61.5 },
  ],
  [
    'continuation: of a clip, from its end',
    MUSIC,
    { continue_clip_id: 'clip_1' },
    { continue_clip_id: 'clip_1' },
  ],
  [
    'null is the same as a missing parameter',
    MUSIC,
    { title: null, action: null },
    { action: 'MUSIC' },
  ],
];

const REFUSED: Refused[] = [
  ['prompt is required', MUSIC, { prompt: null }, 'prompt'],
  ['prompt is not empty', MUSIC, { prompt: '' }, 'prompt'],
  ['action', MUSIC, { action: 'VIDEO' }, 'action'],
  ['action in lower case', MUSIC, { action: 'lyrics' }, 'action'],
  ['suno_lyrics makes no music', LYRICS, { action: 'MUSIC' }, 'action'],
  ['tags are text', MUSIC, { tags: ['folk'] }, 'tags'],
  ['mv', MUSIC, { mv: 'chirp v5' }, 'mv'],
  ['continue_at without a clip', MUSIC, { continue_at: 3 }, 'continue_clip_id'],
  ['continue_at below 0', MUSIC, { continue_clip_id: 'c', continue_at: -1 }, 'continue_at'],
  ['continue_at is a number', MUSIC, { continue_clip_id: 'c', continue_at: '3' }, 'continue_at'],
  ['an unknown parameter', MUSIC, { nonsense: 1 }, 'nonsense'],
  ['title with LYRICS', MUSIC, { action: 'LYRICS', title: 'Light' }, 'title'],
  ['tags with LYRICS', MUSIC, { action: 'LYRICS', tags: 'folk' }, 'tags'],
  ['mv with LYRICS', MUSIC, { action: 'LYRICS', mv: 'chirp-v5' }, 'mv'],
  ['title for a model of lyrics', LYRICS, { title: 'Light' }, 'title'],
  [
    'continue_clip_id with LYRICS',
    MUSIC,
    { action: 'LYRICS', continue_clip_id: 'c' },
    'continue_clip_id',
  ],
];

describe('music: accepted bodies', () => {
  test.each(ACCEPTED)('%s', (_rule, model, body, input) => {
    expect(accept(model, body)).toMatchObject({ scene: 'music', ...input });
  });

  test('every music model returns tasks', () => {
    expect([MUSIC, LYRICS].map((id) => generationModel(id).by_task)).toEqual([true, true]);
  });
});

describe('music: bodies that are refused with the parameter', () => {
  test.each(REFUSED)('%s', (_rule, model, body, param) => {
    expect(refusal(model, body)).toMatchObject({ id: 'invalid_request', details: { param } });
  });
});
