import { anthropicRoute } from './anthropic/routes.ts';
import { arkRoute } from './ark/routes.ts';
import { bedrockRoute } from './bedrock/routes.ts';
import { bflRoute } from './bfl/routes.ts';
import { cohereRoute } from './cohere/routes.ts';
import { controlRoute } from './control.ts';
import { deeplRoute } from './deepl/routes.ts';
import { answerCall, type Simulator } from './exchange.ts';
import { falRoute } from './fal/routes.ts';
import { googleRoute } from './google/routes.ts';
import { ideogramRoute } from './ideogram/routes.ts';
import { klingRoute } from './kling/routes.ts';
import { midjourneyRoute } from './midjourney/routes.ts';
import { openaiImages } from './openai/images.ts';
import { azureChat } from './openai/protocol.ts';
import { openaiRoute } from './openai/routes.ts';
import { replicateRoute } from './replicate/routes.ts';
import { runwayRoute } from './runway/routes.ts';
import { Accounts } from './shared/accounts.ts';
import { Books } from './shared/books.ts';
import { stabilityRoute } from './stability/routes.ts';
import { sunoRoute } from './suno/routes.ts';
import { FILES_PREFIX, serveFile } from './tasks/files.ts';
import { vertexRoute } from './vertex/routes.ts';
import { xaiRoute } from './xai/routes.ts';

type Route = (simulator: Simulator, path: string, request: Request) => Response | Promise<Response>;

/** One entry per provider. The path after the prefix is the provider's own path. */
const ROUTES: [prefix: string, route: Route][] = [
  [
    '/openai/v1/images/generations',
    (sim, _, request) =>
      openaiImages(sim, request, request.headers.get('authorization')?.slice('Bearer '.length)),
  ],
  [
    '/openai/v1/images/edits',
    (sim, _, request) =>
      openaiImages(sim, request, request.headers.get('authorization')?.slice('Bearer '.length)),
  ],
  ['/openai/v1', openaiRoute],
  ['/anthropic/v1', anthropicRoute],
  ['/azure/openai/v1/chat/completions', (sim, _, request) => answerCall(sim, azureChat, request)],
  [
    '/azure',
    (sim, _, request) => openaiImages(sim, request, request.headers.get('api-key') ?? undefined),
  ],
  ['/bedrock', bedrockRoute],
  ['/vertex', vertexRoute],
  ['/cohere', cohereRoute],
  ['/deepl', deeplRoute],
  ['/bfl/v1', bflRoute],
  ['/midjourney/mj', midjourneyRoute],
  ['/suno', sunoRoute],
  ['/fal', falRoute],
  ['/google/v1beta', googleRoute],
  ['/google/v1', googleRoute],
  ['/xai/v1', xaiRoute],
  ['/ideogram', ideogramRoute],
  ['/stability', stabilityRoute],
  ['/kling', klingRoute],
  ['/runway', runwayRoute],
  ['/ark/api/v3', arkRoute],
  ['/replicate/v1', replicateRoute],
  [FILES_PREFIX, (_, path, request) => serveFile(path, request)],
  ['/_sim', controlRoute],
];

/**
 * Bun refuses a larger body by itself. Every provider's own limit is smaller, so a body above that
 * limit gets the provider's error.
 */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

/** Serves on a port of the loopback interface; 0 chooses a free port. */
export function serveSimulator(port: number): Bun.Server<undefined> {
  const simulator: Simulator = { accounts: new Accounts(), books: new Books() };
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    // Some tests need silent streams and calls that never answer.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY_BYTES,
    development: false,
    fetch: (request) => dispatch(simulator, request),
    error(error) {
      console.error(error);
      return new Response('The simulator failed: see its stderr.', { status: 500 });
    },
  });
}

function dispatch(simulator: Simulator, request: Request): Response | Promise<Response> {
  const path = pathOf(request.url);
  for (const [prefix, route] of ROUTES) {
    if (path.startsWith(prefix)) return route(simulator, path.slice(prefix.length), request);
  }
  return new Response(`Nothing is simulated at ${path}`, { status: 404 });
}

/**
 * Returns the path of a URL. This function runs for every call, and costs less than a URL parser.
 */
function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
