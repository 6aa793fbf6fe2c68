import type { Orm, Sql } from '../../db/client.ts';
import type { ErrorReport } from '../errors/report.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { ArrivalRing } from '../inference/records/arrival-ring.ts';
import type { BodyBudget } from '../upstreams/transport/body-budget.ts';
import { createSolid } from './3d/route.ts';
import type { AlertRouteDeps } from './alerts/owner.ts';
import { alertRoutes } from './alerts/routes.ts';
import { createSound } from './audio/generations.ts';
import { audio } from './audio/route.ts';
import { speech } from './audio/speech.ts';
import type { Authentication } from './auth/authentication.ts';
import { type BudgetRouteDeps, budgetRoutes } from './budgets/routes.ts';
import { cacheFeedback } from './cache/feedback.ts';
import { chatCompletions } from './chat/route.ts';
import { familyOfClient } from './client-family.ts';
import { embeddings } from './embeddings/route.ts';
import { json } from './endpoint.ts';
import { type FileRouteDeps, getFile } from './files/route.ts';
import { geminiModels } from './gemini/route.ts';
import { editImage } from './images/edits.ts';
import { createImage } from './images/route.ts';
import { inspectRoutes } from './inspect/routes.ts';
import type { InspectDeps } from './inspect/scope.ts';
import type { CachePurgeDeps } from './management/cache.ts';
import type { DebugRouteDeps } from './management/debug-windows.ts';
import type { ManagementDeps } from './management/keys.ts';
import { managementRoutes } from './management/routes.ts';
import type { UsageDeps } from './management/usage/lines.ts';
import type { WebhookRouteDeps } from './management/webhooks.ts';
import { type BatchRouteDeps, BatchRoutes } from './messages/batches/route.ts';
import { countMessageTokens } from './messages/count-tokens.ts';
import { messages } from './messages/route.ts';
import { type MetricsDeps, metrics } from './metrics.ts';
import { getModel, listModels, type ModelRouteDeps } from './models/route.ts';
import { createMusic } from './music/route.ts';
import { notServedHere } from './not-served.ts';
import { getOpenapi } from './openapi.ts';
import type { ArrivalDeps } from './operator/arrivals.ts';
import type { OperatorParts } from './operator/operator-parts.ts';
import type { OrganizationDeps } from './operator/organization-change.ts';
import { operatorRoutes } from './operator/routes.ts';
import { peopleRoutes } from './people/routes.ts';
import type { RateLimit } from './rate-limit.ts';
import { rerank } from './rerank/route.ts';
import {
  cancelResponse,
  createResponse,
  getResponse,
  listInputItems,
  type ResponsesDeps,
  removeResponse,
} from './responses/route.ts';
import type { HttpRoute, PathMethods } from './route.ts';
import type { PeopleParts } from './sign-in/parts.ts';
import { signInRoutes } from './sign-in/routes.ts';
import { getTaskEvents } from './tasks/events.ts';
import type { GenerationRouteDeps } from './tasks/ports.ts';
import { getTask } from './tasks/route.ts';
import { translations } from './translations/route.ts';
import { type OwnKeyRouteDeps, ownKeyRoutes } from './upstream-keys/routes.ts';
import { createVideo } from './videos/route.ts';
import { getXaiVideo } from './videos/xai.ts';
import type { Dashboard } from './web/build.ts';
import { getAsset } from './web/routes.ts';

/** What the routes of Weir need. */
export interface AppDeps
  extends ModelRouteDeps,
    ManagementDeps,
    Omit<ResponsesDeps, 'responses'>,
    FileRouteDeps,
    MetricsDeps,
    Pick<OrganizationDeps, 'organizationNews'>,
    Pick<OwnKeyRouteDeps, 'ownKeys'>,
    Pick<BudgetRouteDeps, 'budgetedTags'>,
    Pick<AlertRouteDeps, 'alerts'>,
    WebhookRouteDeps {
  authentication: Authentication;
  rateLimit: RateLimit;
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
  /** Removes stored answers. Missing if this process stores none. */
  cacheChanges?: CachePurgeDeps['cacheChanges'];
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
  /** People and their sessions. Missing if this process lets nobody sign in. */
  people?: PeopleParts;
  /** The dashboard. Missing if this process serves none. */
  dashboard?: Dashboard | undefined;
  /** Notes the calls that arrive. Missing if nobody can listen to them. */
  arrivalRing?: ArrivalRing;
  /** The calls of all replicas. Missing if nobody can listen to them. */
  arrivals?: ArrivalDeps['arrivals'];
  /** Shows actors. Missing if this process shows none. */
  inspection?: InspectDeps['inspection'];
  /** Returns true while this replica can serve requests. */
  isReady: () => boolean;
  /** Called with every error before the error response is created. Must not throw. */
  onError: ErrorReport;
}

/** Every path with its methods and their handlers. */
export function routes(deps: AppDeps): HttpRoute[] {
  const openai = (path: string, methods: HttpRoute['methods']): HttpRoute => ({
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
    openai('/v1/cache/feedback', {
      POST: cacheFeedback({ ...deps, cacheChanges: deps.cacheChanges ?? notServedHere }),
    }),
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
    openai('/openapi.json', { GET: getOpenapi }),
    openai('/assets/:name', { GET: getAsset(deps.dashboard) }),
    ...signInRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...peopleRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...operatorRoutes({
      ...{ ...deps, generation: deps.generation ?? notServedHere },
      ...{ responses: deps.responses ?? notServedHere },
    }).map(([path, methods]) => openai(path, methods)),
    ...inspectRoutes({ ...deps, inspection: deps.inspection ?? notServedHere }).map(
      ([path, methods]) => openai(path, methods),
    ),
    ...managementRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...ownKeyRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...budgetRoutes(deps).map(([path, methods]) => openai(path, methods)),
    ...alertRoutes(deps).map(([path, methods]) => openai(path, methods)),
  ];
}

function withGeneration(app: AppDeps): GenerationRouteDeps {
  return { ...app, generation: app.generation ?? notServedHere };
}

/** The routes that create generations, and those that return the status of a task. */
function generationRoutes(app: AppDeps): PathMethods[] {
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

function batchRoutes(app: AppDeps): HttpRoute[] {
  const routes = new BatchRoutes({ ...app, batches: app.batches ?? notServedHere });
  const native = (path: string, methods: HttpRoute['methods']): HttpRoute => ({
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

function responseRoutes(app: AppDeps): PathMethods[] {
  const deps: ResponsesDeps = { ...app, responses: app.responses ?? notServedHere };
  return [
    ['/v1/responses', { POST: createResponse(deps) }],
    ['/v1/responses/:id', { GET: getResponse(deps), DELETE: removeResponse(deps) }],
    ['/v1/responses/:id/cancel', { POST: cancelResponse(deps) }],
    ['/v1/responses/:id/input_items', { GET: listInputItems(deps) }],
  ];
}

function readiness(deps: AppDeps): Response {
  if (deps.isReady()) return json({ status: 'ready' });
  throw new WeirError('service_unavailable', 'This replica is not ready to serve requests.', {
    retry_after: 1,
  });
}
