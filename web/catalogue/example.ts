import type { Model } from '../api/types.ts';
import type { ShownCall } from '../snippets/languages.ts';

type Scene = ShownCall['scene'];

/** The route and the smallest call of each category. */
const EXAMPLES: Record<
  Model['category'],
  { scene: Scene; path: string; body: Readonly<Record<string, unknown>> }
> = {
  chat: {
    scene: 'chat',
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'Say hello in one word.' }] },
  },
  image: {
    scene: 'image',
    path: '/v1/images/generations',
    body: { prompt: 'A lighthouse in a storm' },
  },
  video: {
    scene: 'video',
    path: '/v1/videos/generations',
    body: { prompt: 'A lighthouse in a storm' },
  },
  music: {
    scene: 'music',
    path: '/v1/music/generations',
    body: { prompt: 'A sea shanty about a lighthouse' },
  },
  '3d': { scene: '3d', path: '/v1/3d/generations', body: { prompt: 'A small lighthouse' } },
  audio: {
    scene: 'audio',
    path: '/v1/audio/generations',
    body: { prompt: 'Waves that break on rocks' },
  },
  tts: {
    scene: 'tts',
    path: '/v1/audio/speech',
    body: { input: 'The light is on.', voice: 'alloy' },
  },
  stt: { scene: 'stt', path: '/v1/audio/transcriptions', body: {} },
  embedding: { scene: 'other', path: '/v1/embeddings', body: { input: 'The light is on.' } },
  rerank: {
    scene: 'other',
    path: '/v1/rerank',
    body: { query: 'lighthouse', documents: ['A tower with a light.', 'A boat.'] },
  },
  translation: {
    scene: 'other',
    path: '/v1/translations',
    body: { text: 'The light is on.', target_lang: 'de' },
  },
};

/** Returns the smallest call of a model that works. */
export function exampleCall({ id, category, operations }: Model): ShownCall {
  const { scene, path, body } = EXAMPLES[category];
  return { scene, path, body: { model: id, ...body, ...neededInputs(operations) } };
}

/** The input that a model needs beside or instead of a prompt. */
function neededInputs(operations: readonly string[]): Readonly<Record<string, string>> {
  if (operations.some((each) => each.startsWith('text-to-'))) return {};
  if (operations.includes('image-to-3d') || operations.includes('image-to-video')) {
    return { image_url: 'https://example.com/picture.png' };
  }
  return operations.includes('video-to-video')
    ? { video_url: 'https://example.com/video.mp4' }
    : {};
}
