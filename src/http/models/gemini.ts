import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;
/** What the methods of Gemini's interface do with each chat model. */
const CHAT_METHODS = ['generateContent', 'streamGenerateContent', 'countTokens'];

/**
 * Returns a model as Google's SDKs read it (Gemini API docs: models, `Model`). Other models than
 * those for chat have no methods: OpenAI's routes serve them. Limits are in tokens.
 */
export function geminiModel(model: CatalogueModel): object {
  const limits =
    model.kind === 'chat'
      ? { inputTokenLimit: model.context_window, outputTokenLimit: model.max_output_tokens }
      : {};
  return {
    name: `models/${model.id}`,
    version: model.id,
    displayName: model.id,
    description: `A model of the category ${model.category}.`,
    ...limits,
    supportedGenerationMethods: model.kind === 'chat' ? CHAT_METHODS : [],
  };
}

/**
 * Returns a page of models (Gemini API docs: models.list). A page token is the id of the first model
 * of its page. Throws WeirError (400) for a wrong size or token.
 */
export function geminiPage(models: readonly CatalogueModel[], query: URLSearchParams): object {
  const size = pageSize(query.get('pageSize') ?? query.get('page_size'));
  const token = query.get('pageToken') ?? query.get('page_token') ?? '';
  const start = token === '' ? 0 : models.findIndex(({ id }) => id === token);
  if (start < 0) {
    throw new WeirError('invalid_request', 'The page token is not valid.', { param: 'pageToken' });
  }
  const next = models[start + size];
  return {
    models: models.slice(start, start + size).map(geminiModel),
    ...(next ? { nextPageToken: next.id } : {}),
  };
}

function pageSize(text: string | null): number {
  if (text === null || text === '') return DEFAULT_PAGE_SIZE;
  const size = Number(text);
  if (!Number.isInteger(size) || size < 0) {
    throw new WeirError('invalid_request', 'pageSize must be a positive whole number.', {
      param: 'pageSize',
    });
  }
  // Zero means the default, and larger pages are cut, as the vendor does.
  return size === 0 ? DEFAULT_PAGE_SIZE : Math.min(size, MAX_PAGE_SIZE);
}
