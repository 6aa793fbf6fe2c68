/**
 * A valid request to each POST route that costs money. A test compares the table with the routes of
 * the app.
 */
import { formWithFile } from './model-calls.ts';

/** A request to a paid route. */
export interface PaidRoute {
  readonly name: string;
  /** The path in the table of routes. */
  readonly route: string;
  readonly path: string;
  /** The provider receives `text`, so `text` may hold directives of the simulator. */
  readonly body: (text: string) => object | FormData;
  /** What the route creates. A `call` is answered with its whole answer. */
  readonly kind: 'call' | 'task' | 'batch';
}

const turn = (text: string) => ({ messages: [{ role: 'user', content: text }] });
const contents = (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] });
const sound = (prompt: string) => formWithFile({ model: 'whisper-1', prompt });

const call = (
  name: string,
  path: string,
  body: PaidRoute['body'],
  kind: PaidRoute['kind'] = 'call',
): PaidRoute => ({ name, route: path, path, body, kind });

const GEMINI = '/v1beta/models/*';

export const PAID_ROUTES: readonly PaidRoute[] = [
  call('chat', '/v1/chat/completions', (text) => ({ model: 'gpt-4o', ...turn(text) })),
  call('chat, streamed', '/v1/chat/completions', (text) => ({
    ...{ model: 'gpt-4o', stream: true, ...turn(text) },
  })),
  call('chat on another provider, streamed', '/v1/chat/completions', (text) => ({
    ...{ model: 'claude-haiku-4-5', stream: true, ...turn(text) },
  })),
  call('messages', '/v1/messages', (text) => ({
    ...{ model: 'claude-haiku-4-5', max_tokens: 500, ...turn(text) },
  })),
  call('messages, streamed', '/v1/messages', (text) => ({
    ...{ model: 'claude-haiku-4-5', max_tokens: 500, stream: true, ...turn(text) },
  })),
  call('responses', '/v1/responses', (input) => ({ model: 'gpt-4o', input })),
  call('responses, streamed', '/v1/responses', (input) => ({
    ...{ model: 'gpt-4o', stream: true, input },
  })),
  {
    ...call('Gemini', '/v1beta/models/gemini-2.5-flash:generateContent', contents),
    route: GEMINI,
  },
  {
    ...call('Gemini, streamed', '/v1beta/models/gpt-4o:streamGenerateContent?alt=sse', contents),
    route: GEMINI,
  },
  {
    ...call('Gemini under /v1', '/v1/models/gemini-2.5-flash:generateContent', contents),
    route: '/v1/models/*',
  },
  call('embeddings', '/v1/embeddings', (input) => ({ model: 'text-embedding-3-small', input })),
  call('speech', '/v1/audio/speech', (input) => ({ model: 'tts-1', voice: 'alloy', input })),
  call('audio translations', '/v1/audio/translations', sound),
  call('transcriptions', '/v1/audio/transcriptions', sound),
  call('rerank', '/v1/rerank', (query) => ({
    ...{ model: 'rerank-v3.5', query, documents: ['a', 'b'] },
  })),
  call('text translations', '/v1/translations', (text) => ({ text, target_lang: 'DE' })),
  call('images', '/v1/images/generations', (prompt) => ({ model: 'gpt-image-2', prompt }), 'task'),
  call(
    'edits of images',
    '/v1/images/edits',
    (prompt) => formWithFile({ model: 'gpt-image-2', prompt }, 'image', 'image/png'),
    'task',
  ),
  call('videos', '/v1/videos/generations', (prompt) => ({ model: 'veo-3.1', prompt }), 'task'),
  call('music', '/v1/music/generations', (prompt) => ({ prompt }), 'task'),
  call('3D', '/v1/3d/generations', (prompt) => ({ prompt }), 'task'),
  call('sounds', '/v1/audio/generations', (prompt) => ({ prompt }), 'task'),
  call(
    'message batches',
    '/v1/messages/batches',
    (text) => ({
      requests: [
        {
          custom_id: 'first',
          params: { model: 'claude-haiku-4-5', max_tokens: 500, ...turn(text) },
        },
      ],
    }),
    'batch',
  ),
];

/** POST routes that charge nothing: they count, cancel, judge, or manage. */
export const FREE_ROUTES =
  /^\/v1\/(messages\/count_tokens|messages\/batches\/:id\/cancel|responses\/:id\/cancel|cache\/feedback|auth\/.*|management\/.*|operator\/.*)$/;
