import type { CatalogueModel } from '../../catalogue/catalogue.ts';
import { WeirError } from '../../errors/weir-error.ts';

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;
/** The methods of Gemini's interface that make something. */
const MAKING_METHODS = ['generateContent', 'streamGenerateContent'];

/**
 * Returns a model as Google's SDKs read it (Gemini API docs: models, `Model`). A model without
 * methods is served by other routes. Limits are in tokens.
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
    supportedGenerationMethods: methodsOf(model),
  };
}

function methodsOf(model: CatalogueModel): string[] {
  if (model.kind === 'chat') return [...MAKING_METHODS, 'countTokens'];
  const makesImages = model.kind === 'generation' && model.scene === 'image' && !model.by_task;
  const speaks = model.kind === 'direct' && model.operation === 'tts';
  return makesImages || speaks ? MAKING_METHODS : [];
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
