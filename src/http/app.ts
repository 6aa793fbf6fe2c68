import { Elysia } from 'elysia';
import type { Orm } from '../../db/client.ts';
import { WeirError } from '../errors/weir-error.ts';
import { chatCompletions } from './chat/route.ts';
import { type ErrorReport, endpoint, type Handler, json } from './endpoint.ts';
import type { ErrorFamily } from './errors/render.ts';
import type { InferenceRouteDeps } from './inference-route.ts';
import { getBalance } from './management/balance.ts';
import { createApiKey, listApiKeys, updateApiKey } from './management/keys.ts';
import { messages } from './messages/route.ts';
import { getModel, listModels } from './models/route.ts';

export interface AppDeps extends InferenceRouteDeps {
  orm: Orm;
  /** True while requests can be served. */
  isReady: () => boolean;
  /** Told of every error before it is rendered. Must not throw. */
  onError: ErrorReport;
}

/** Bun answers a larger body with an empty 413 before any code runs; ours come first, with a reason. */
const MAX_REQUEST_BODY_BYTES = 300 * 1024 * 1024;
/** Bun's default of 10 s would cut quiet answers; 255 s is the most it takes. */
const IDLE_TIMEOUT_S = 255;

/** The routes of Weir. Bodies are read by the handlers: so nothing is stripped or coerced on the way. */
export function createApp(deps: AppDeps) {
  const route = (family: ErrorFamily, handler: Handler) => endpoint(family, deps.onError, handler);
  const openai = (handler: Handler) => route('openai', handler);
  const raw = { parse: 'none' as const };
  const unknown = openai(({ request }) => {
    const { pathname } = new URL(request.url);
    throw new WeirError('not_found', `There is no ${request.method} ${pathname.slice(0, 200)}.`);
  });
  return new Elysia({
    serve: { maxRequestBodySize: MAX_REQUEST_BODY_BYTES, idleTimeout: IDLE_TIMEOUT_S },
  })
    .get('/healthz', () => json({ status: 'ok' }))
    .get('/readyz', () =>
      deps.isReady() ? json({ status: 'ready' }) : json({ status: 'not ready' }, 503),
    )
    .post('/v1/chat/completions', openai(chatCompletions(deps)), raw)
    .post('/v1/messages', route('native', messages(deps)), raw)
    .get('/v1/models', openai(listModels(deps)))
    .get('/v1/models/*', openai(getModel(deps)))
    .get('/v1/management/balance', openai(getBalance(deps)))
    .get('/v1/management/api-keys', openai(listApiKeys(deps)))
    .post('/v1/management/api-keys', openai(createApiKey(deps)), raw)
    .patch('/v1/management/api-keys/:keyId', openai(updateApiKey(deps)), raw)
    .all('/*', unknown, raw)
    .all('/', unknown, raw);
}
