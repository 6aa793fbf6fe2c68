import { answerCall, type Simulator } from '../exchange.ts';
import { ProviderError } from '../shared/protocol.ts';
import { newId } from '../shared/random.ts';
import { errorBody, invalid, notFound } from './errors.ts';
import { countMessage } from './parsed-request.ts';
import { anthropicHeaders, anthropicMessages } from './protocol.ts';

/** The newest first. Older models have a date in their names. */
const MODELS = [
  ...['claude-opus-4-8', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-opus-4-5-20251101'],
  ...['claude-haiku-4-5-20251001', 'claude-3-haiku-20240307'],
];
const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 1_000;

/** Handles requests below `/anthropic/v1`; `path` is the rest of the path. */
export function anthropicRoute(
  simulator: Simulator,
  path: string,
  request: Request,
): Response | Promise<Response> {
  if (path === '/messages' && request.method === 'POST') {
    return answerCall(simulator, anthropicMessages, request);
  }
  return answerFree(simulator, path, request);
}

/** Serves the routes that charge nothing. The simulator's books do not record their calls. */
async function answerFree(simulator: Simulator, path: string, request: Request): Promise<Response> {
  const request_id = newId('req_');
  const headers = { ...anthropicHeaders(request_id), 'content-type': 'application/json' };
  try {
    const key = anthropicMessages.keyIn(request.headers);
    const account = simulator.accounts.findByKey(key);
    if (account === undefined || account.control.revoked) throw anthropicMessages.wrongKey(key);
    anthropicMessages.checkHeaders(request.headers);
    return Response.json(await freeAnswer(path, request), { headers });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return new Response(errorBody(error, request_id), { status: error.status, headers });
  }
}

async function freeAnswer(path: string, request: Request): Promise<object> {
  if (request.method === 'POST' && path === '/messages/count_tokens') {
    const body: unknown = await request.json().catch(() => {
      throw anthropicMessages.badJson();
    });
    return { input_tokens: countMessage(body, request.headers) };
  }
  if (request.method !== 'GET' || !path.startsWith('/models')) throw notFound('Not Found');
  if (path === '/models') return modelPage(new URL(request.url).searchParams);
  const id = decodeURIComponent(path.slice('/models/'.length));
  if (id.startsWith('missing-')) throw notFound(`model: ${id}`);
  return model(id);
}

/** Returns a page of models (Anthropic docs: List Models). */
function modelPage(query: URLSearchParams): object {
  const limit = Number(query.get('limit') ?? DEFAULT_PAGE_SIZE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw invalid(`limit: Input should be between 1 and ${MAX_PAGE_SIZE}`);
  }
  const after = MODELS.indexOf(query.get('after_id') ?? '') + 1;
  const ids = MODELS.slice(after, after + limit);
  return {
    data: ids.map(model),
    has_more: after + limit < MODELS.length,
    ...{ first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null },
  };
}

function model(id: string): object {
  return {
    ...{ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' },
    ...{ capabilities: null, lifecycle: 'active', line: null, deprecated_at: null },
    ...{ retires_at: null, max_input_tokens: 200_000, max_tokens: 64_000 },
  };
}
