/** A request to a route, with the model that the test chooses. */
export type ModelCall = (model: string) => [path: string, body: object | FormData];

const turn = { messages: [{ role: 'user', content: 'Hello' }] };
const contents = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };

/** Returns a form with a file of 1,000 bytes and the fields. */
export function formWithFile(
  fields: Readonly<Record<string, string>>,
  name = 'file',
  type = 'audio/wav',
): FormData {
  const form = new FormData();
  form.set(name, new File([new Uint8Array(1_000)], `a.${type.split('/')[1]}`, { type }));
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  return form;
}

/** A valid request to each route of chat, text and speech, and a model of the route. */
export const MODEL_CALLS: readonly [name: string, model: string, call: ModelCall][] = [
  ['chat', 'gpt-4o', (model) => ['/v1/chat/completions', { model, ...turn }]],
  ['messages', 'claude-haiku-4-5', (model) => ['/v1/messages', { model, max_tokens: 9, ...turn }]],
  ['Gemini', 'gemini-2.5-flash', (id) => [`/v1beta/models/${id}:generateContent`, contents]],
  ['embeddings', 'text-embedding-3-small', (model) => ['/v1/embeddings', { model, input: 'a' }]],
  [
    'rerank',
    'rerank-v3.5',
    (model) => ['/v1/rerank', { model, query: 'a', documents: ['a', 'b'] }],
  ],
  [
    'text translations',
    'deepl-translate',
    (model) => ['/v1/translations', { model, text: 'Hello', target_lang: 'DE' }],
  ],
  ['speech', 'tts-1', (model) => ['/v1/audio/speech', { model, voice: 'alloy', input: 'Hello' }]],
  ['transcriptions', 'whisper-1', (model) => ['/v1/audio/transcriptions', formWithFile({ model })]],
  [
    'audio translations',
    'whisper-1',
    (model) => ['/v1/audio/translations', formWithFile({ model })],
  ],
];
