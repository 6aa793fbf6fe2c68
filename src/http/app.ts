import { Elysia } from 'elysia';
import type { Orm, Sql } from '../../db/client.ts';
import { type ErrorFamily, renderError } from '../errors/render.ts';
import type { ErrorReport } from '../errors/report.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { BodyBudget } from '../upstreams/transport/body-budget.ts';
import { createSolid } from './3d/route.ts';
import { createSound } from './audio/generations.ts';
import { audio } from './audio/route.ts';
import { speech } from './audio/speech.ts';
import { chatCompletions } from './chat/route.ts';
import { familyOfClient } from './client-family.ts';
import { embeddings } from './embeddings/route.ts';
import { endpoint, type Handler, json } from './endpoint.ts';
import { type FileRouteDeps, getFile } from './files/route.ts';
import { geminiModels } from './gemini/route.ts';
import { editImage } from './images/edits.ts';
import { createImage } from './images/route.ts';
import { getBalance } from './management/balance.ts';
import { ManagedBatches } from './management/batches.ts';
import { type DebugRouteDeps, DebugWindowRoutes } from './management/debug-windows.ts';
import { WebhookDeliveries } from './management/deliveries.ts';
import { createApiKey, listApiKeys, type ManagementDeps, updateApiKey } from './management/keys.ts';
import { getOrganization, updateOrganization } from './management/organization.ts';
import { ManagedTasks } from './management/tasks.ts';
import type { UsageDeps } from './management/usage/lines.ts';
import { usageRoutes } from './management/usage/routes.ts';
import {
  getWebhookSecret,
  rotateWebhookSecret,
  type WebhookRouteDeps,
} from './management/webhooks.ts';
import { type BatchRouteDeps, BatchRoutes } from './messages/batches/route.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { messages } from './messages/route.ts';
import { type MetricsDeps, metrics } from './metrics.ts';
import { getModel, listModels, type ModelRouteDeps } from './models/route.ts';
import { createMusic } from './music/route.ts';
import { notOffered, refuseUnknownPath } from './not-offered.ts';
import { getBooks } from './operator/books.ts';
import { OperatorChannels, type OperatorParts } from './operator/channels.ts';
import { getCircuitHistory } from './operator/circuit-history.ts';
import { importBill, reconcileUsage } from './operator/reconciliation.ts';
import { listOperatorTasks } from './operator/tasks.ts';
import { rerank } from './rerank/route.ts';
import {
  cancelResponse,
  createResponse,
  getResponse,
  listInputItems,
  type ResponsesDeps,
  removeResponse,
} from './responses/route.ts';
import { getTaskEvents } from './tasks/events.ts';
import type { GenerationRouteDeps } from './tasks/ports.ts';
import { getTask } from './tasks/route.ts';
import { translations } from './translations/route.ts';
import { createVideo } from './videos/route.ts';
import { getXaiVideo } from './videos/xai.ts';

export interface AppDeps
  extends ModelRouteDeps,
    ManagementDeps,
    Omit<ResponsesDeps, 'responses'>,
    FileRouteDeps,
    MetricsDeps,
    WebhookRouteDeps {
  orm: Orm;
  /** Limits the bodies and answers of all requests in flight. */
  bodies: BodyBudget;
  /** The database of stored responses. Missing if this process stores no responses. */
  responses?: ResponsesDeps['responses'];
  /** The database of usage, for statements that are written by hand. */
  usage: UsageDeps['usage'];
  /** The calls that run on all replicas. */
  running: UsageDeps['running'];
  /** What happens in each organization. */
  feed: UsageDeps['feed'];
  /** The debug windows. Missing if this process copies no calls. */
  debug?: DebugRouteDeps['debug'];
  /** Tasks and their files. Missing if this process serves no generation routes. */
  generation?: GenerationRouteDeps['generation'];
  /** Message batches. Missing if this process serves no batches. */
  batches?: BatchRouteDeps['batches'];
  /** The database of the lists of the management routes. Missing if this process serves no lists. */
  lists?: () => Sql;
  /** The origin of URLs in responses (WEIR_PUBLIC_URL). If missing, the origin of each request. */
  public_url?: string | undefined;
  /**
   * The database, channels and prober of the operator routes. Missing if this process does not serve
   * these routes.
   */
  operator?: OperatorParts;
  /** Returns true while this replica can serve requests. */
  isReady: () => boolean;
  /** Called with every error before the error response is created. Must not throw. */
  onError: ErrorReport;
}

/**
 * Switches off Bun's limit for the size of a request body. Bun answers a larger body with 413 and
 * an empty body, before a handler runs. Weir's handlers have their own limits, and their 413 has
 * the usual error body. If no handler reads a body, Bun does not keep that body in memory.
 */
const MAX_REQUEST_BODY_BYTES = Number.MAX_SAFE_INTEGER;
/**
 * After this time Bun closes a connection without traffic. Bun's default of 10 s would end slow
 * answers. 255 s is Bun's maximum.
 */
const IDLE_TIMEOUT_S = 255;

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

type Family = ErrorFamily | ((request: Request) => ErrorFamily);

interface Route {
  path: string;
  /** The API whose error format the responses of this path have, or how a request tells it. */
  family: Family;
  methods: Partial<Record<Method, Handler>>;
  /** The error family of each method that does not use `family`. */
  families?: Partial<Record<Method, Family>>;
}

/** Every path with its methods and their handlers. */
function routes(deps: AppDeps): Route[] {
  const openai = (path: string, methods: Route['methods']): Route => ({
    path,
    family: 'openai',
    methods,
  });
  return [
    openai('/healthz', { GET: () => json({ status: 'ok' }) }),
    openai('/readyz', { GET: () => readiness(deps) }),
    openai('/metrics', { GET: metrics(deps) }),
    openai('/v1/chat/completions', { POST: chatCompletions(deps) }),
    { path: '/v1/messages', family: 'native', methods: { POST: messages(deps) } },
    {
      path: '/v1/messages/count_tokens',
      family: 'native',
      methods: { POST: countMessageTokens(deps) },
    },
    ...batchRoutes(deps),
    { path: '/v1beta/models', family: 'gemini', methods: { GET: listModels(deps) } },
    {
      path: '/v1beta/models/*',
      family: 'gemini',
      methods: { GET: getModel(deps), POST: geminiModels(withGeneration(deps)) },
    },
    ...responseRoutes(deps).map(([path, methods]) => openai(path, methods)),
    openai('/v1/embeddings', { POST: embeddings(deps) }),
    openai('/v1/audio/translations', { POST: audio(deps, 'translations') }),
    openai('/v1/audio/transcriptions', { POST: audio(deps, 'transcriptions') }),
    openai('/v1/audio/speech', { POST: speech(deps) }),
    openai('/v1/rerank', { POST: rerank(deps) }),
    openai('/v1/translations', { POST: translations(deps) }),
    ...generationRoutes(deps).map(([path, methods]) => openai(path, methods)),
    // The SDKs of OpenAI, Anthropic and Google request these paths.
    { path: '/v1/files/*', family: familyOfClient, methods: { GET: getFile(deps) } },
    { path: '/v1/models', family: familyOfClient, methods: { GET: listModels(deps) } },
    {
      path: '/v1/models/*',
      family: familyOfClient,
      methods: { GET: getModel(deps), POST: geminiModels(withGeneration(deps)) },
      families: { POST: 'gemini' },
    },
    ...operatorRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...managementRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...debugRoutes(deps).map(([path, methods]) => openai(path, methods)),
    openai('/v1/management/balance', { GET: getBalance(deps) }),
    openai('/v1/management/organization', {
      GET: getOrganization(deps),
      PATCH: updateOrganization(deps),
    }),
    openai('/v1/management/api-keys', { GET: listApiKeys(deps), POST: createApiKey(deps) }),
    openai('/v1/management/api-keys/:keyId', { PATCH: updateApiKey(deps) }),
    ...usageRoutes(deps).map(([path, methods]) => openai(path, methods)),
    openai('/v1/management/webhook-secret', { GET: getWebhookSecret(deps) }),
    openai('/v1/management/webhook-secret/rotate', { POST: rotateWebhookSecret(deps) }),
  ];
}

function withGeneration(app: AppDeps): GenerationRouteDeps {
  return { ...app, generation: app.generation ?? notServedHere };
}

/** The routes that create generations, and those that return the status of a task. */
function generationRoutes(app: AppDeps): [path: string, methods: Route['methods']][] {
  const deps = withGeneration(app);
  const image = getTask(deps, ['image']);
  return [
    ['/v1/images/generations', { POST: createImage(deps) }],
    ['/v1/images/edits', { POST: editImage(deps) }],
    ['/v1/videos/generations', { POST: createVideo(deps) }],
    ['/v1/music/generations', { POST: createMusic(deps) }],
    ['/v1/3d/generations', { POST: createSolid(deps) }],
    ['/v1/audio/generations', { POST: createSound(deps) }],
    ['/v1/tasks/:id', { GET: getTask(deps) }],
    ['/v1/tasks/:id/events', { GET: getTaskEvents(deps) }],
    ['/v1/images/generations/:id', { GET: image }],
    ['/v1/images/:id', { GET: image }],
    ['/v1/videos/:id', { GET: getXaiVideo(deps) }],
    ['/v1/music/generations/:id', { GET: getTask(deps, ['music']) }],
  ];
}

/** The routes that list and change tasks, batches and webhooks of an organization. */
function managementRoutes(app: AppDeps): [path: string, methods: Route['methods']][] {
  const lists = app.lists ?? notServedHere;
  const tasks = new ManagedTasks({ ...app, lists, generation: app.generation ?? notServedHere });
  const batches = new ManagedBatches({ ...app, lists, batches: app.batches ?? notServedHere });
  const deliveries = new WebhookDeliveries(app);
  return [
    ['/v1/management/tasks', { GET: tasks.list }],
    ['/v1/management/tasks/:id', { GET: tasks.get }],
    ['/v1/management/tasks/:id/cancel', { POST: tasks.cancel }],
    ['/v1/management/batches', { GET: batches.list }],
    ['/v1/management/batches/:id', { GET: batches.get }],
    ['/v1/management/batches/:id/cancel', { POST: batches.cancel }],
    ['/v1/management/webhook-deliveries', { GET: deliveries.list }],
    ['/v1/management/webhook-deliveries/:id/redeliver', { POST: deliveries.redeliver }],
  ];
}

/** The routes that copy calls for a while, and show the copies. */
function debugRoutes(app: AppDeps): [path: string, methods: Route['methods']][] {
  const debug = new DebugWindowRoutes(app);
  return [
    ['/v1/management/debug-windows', { GET: debug.list, POST: debug.open }],
    ['/v1/management/debug-windows/:id', { GET: debug.get }],
    ['/v1/management/debug-windows/:id/close', { POST: debug.close }],
    ['/v1/management/debug-events', { GET: debug.listEvents }],
    ['/v1/management/requests/:id/debug', { GET: debug.readCopy }],
  ];
}

function batchRoutes(app: AppDeps): Route[] {
  const routes = new BatchRoutes({ ...app, batches: app.batches ?? notServedHere });
  const native = (path: string, methods: Route['methods']): Route => ({
    path: `/v1/messages/batches${path}`,
    family: 'native',
    methods,
  });
  return [
    native('', { POST: routes.create, GET: routes.list }),
    native('/:id', { GET: routes.get, DELETE: routes.delete }),
    native('/:id/results', { GET: routes.results }),
    native('/:id/cancel', { POST: routes.cancel }),
  ];
}

function responseRoutes(app: AppDeps): [path: string, methods: Route['methods']][] {
  const deps: ResponsesDeps = { ...app, responses: app.responses ?? notServedHere };
  return [
    ['/v1/responses', { POST: createResponse(deps) }],
    ['/v1/responses/:id', { GET: getResponse(deps), DELETE: removeResponse(deps) }],
    ['/v1/responses/:id/cancel', { POST: cancelResponse(deps) }],
    ['/v1/responses/:id/input_items', { GET: listInputItems(deps) }],
  ];
}

function operatorRoutes(app: AppDeps): [path: string, methods: Route['methods']][] {
  const { authentication, generation = notServedHere } = app;
  const operator = () => app.operator ?? notServedHere();
  const deps = { authentication, operator, generation };
  const channels = new OperatorChannels(deps);
  const channel = '/v1/operator/channels/:id';
  return [
    ['/v1/operator/channels', { GET: channels.list }],
    [channel, { GET: channels.get }],
    [`${channel}/test`, { POST: channels.test }],
    [`${channel}/enable`, { POST: channels.enable }],
    [`${channel}/disable`, { POST: channels.disable }],
    [`${channel}/drain`, { POST: channels.drain }],
    [`${channel}/circuit-history`, { GET: getCircuitHistory(deps) }],
    ['/v1/operator/books', { GET: getBooks(deps) }],
    ['/v1/operator/provider-bills', { POST: importBill(deps) }],
    ['/v1/operator/usage-reconciliation', { GET: reconcileUsage(deps) }],
    ['/v1/operator/tasks', { GET: listOperatorTasks(deps) }],
  ];
}

function notServedHere(): never {
  throw new WeirError('service_unavailable', 'This process does not serve this route.');
}

/**
 * Creates the HTTP app of Weir. Elysia does not parse the bodies, because it would strip and coerce
 * fields. Each handler reads the body itself.
 */
export function createApp(deps: AppDeps) {
  const app = new Elysia({
    serve: {
      maxRequestBodySize: MAX_REQUEST_BODY_BYTES,
      idleTimeout: IDLE_TIMEOUT_S,
      // Elysia's default is true. Then a second process could listen on the same port, and would get
      // a part of the requests.
      reusePort: false,
    },
  });
  const unparsed = { parse: 'none' as const };
  // `server` is read from the app. If a handler took `server` from Elysia's context, Elysia would
  // create an object with a getter for each request.
  const server = () => app.server;
  const wrap = (family: Family, handler: Handler) =>
    endpoint(family, deps.onError, handler, server, deps.bodies);
  const served = routes(deps);
  const refuseUnknown = refuseUnknownPath(served.map(({ path }) => path));
  for (const { path, family, methods, families } of served) {
    for (const [method, handler] of Object.entries(methods)) {
      const methodFamily = families?.[method as Method] ?? family;
      app.route(method, path, wrap(methodFamily, handler), unparsed);
    }
    const refuse = wrap(family, refuseMethod(path, family, Object.keys(methods)));
    // Without this route, a path with a parameter could match. For example, `GET /v1/images/edits`
    // would match `/v1/images/:id`.
    if (!methods.GET) app.route('GET', path, refuse, unparsed);
    app.all(path, refuse, unparsed);
  }
  for (const path of ['/v1/messages/*', '/*', '/']) {
    app.all(path, wrap(familyOfClient, refuseUnknown), unparsed);
  }
  // An error outside of a handler gets the usual error body too.
  return app.onError((context) =>
    wrap(familyOfClient, () => Promise.reject(context.error))(context),
  );
}

function readiness(deps: AppDeps): Response {
  if (deps.isReady()) return json({ status: 'ready' });
  throw new WeirError('service_unavailable', 'This replica is not ready to serve requests.', {
    retry_after: 1,
  });
}

/** Refuses a method of a known path. The response names the allowed methods (RFC 9110, 15.5.6). */
function refuseMethod(path: string, family: Family, methods: string[]): Handler {
  return ({ request, request_id }) => {
    // A parameter of this path may have matched a name, e.g. `compact` of `/v1/responses/compact`.
    const missing = path.includes(':') || path.includes('*') ? notOffered(request) : undefined;
    if (missing) throw missing;
    const format = typeof family === 'string' ? family : family(request);
    const message = `This path does not allow ${request.method}. Use ${methods.join(' or ')}.`;
    const refusal = new WeirError('method_not_allowed', message);
    const response = renderError(refusal, format, request_id);
    response.headers.set('allow', methods.join(', '));
    return response;
  };
}
