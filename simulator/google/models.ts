/** Gemini's lists of models (Gemini API docs: models.list, models.get). */

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

const CHAT = ['generateContent', 'countTokens', 'createCachedContent', 'batchGenerateContent'];
const MODELS: readonly [id: string, methods: readonly string[]][] = [
  ['gemini-2.5-flash', CHAT],
  ['gemini-2.5-flash-lite', CHAT],
  ['gemini-2.5-pro', CHAT],
  ['gemini-2.5-flash-preview-tts', ['countTokens', 'generateContent']],
  ['gemini-2.5-flash-image', CHAT],
  ['gemini-3-flash-preview', CHAT],
  ['gemma-3-27b-it', ['generateContent', 'countTokens']],
  ['gemini-embedding-001', ['embedContent', 'countTextTokens', 'countTokens']],
  ['aqa', ['generateAnswer']],
  ['veo-3.1-generate-preview', ['predictLongRunning']],
];

/** Returns the body of a page of all models; undefined if a parameter is wrong. */
export function geminiModelPage(query: URLSearchParams): object | undefined {
  const asked = Number(query.get('pageSize') || DEFAULT_PAGE_SIZE);
  const start = Number(Buffer.from(query.get('pageToken') ?? '', 'base64url').toString() || 0);
  if (!Number.isInteger(asked) || asked < 0 || !Number.isInteger(start)) return undefined;
  const end = start + Math.min(asked || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const nextPageToken = Buffer.from(String(end)).toString('base64url');
  return {
    models: MODELS.slice(start, end).map(([id, methods]) => geminiModelInfo(id, methods)),
    ...(end < MODELS.length ? { nextPageToken } : {}),
  };
}

/** Returns the body of one model. The simulator has every name, so it has the name's model, too. */
export function geminiModelInfo(
  id: string,
  methods: readonly string[] = MODELS.find(([known]) => known === id)?.[1] ?? CHAT,
): object {
  return {
    name: `models/${id}`,
    version: '001',
    displayName: id,
    description: 'A simulated model.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: methods,
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
  };
}
