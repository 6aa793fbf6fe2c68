import { Elysia } from 'elysia';
import { renderError } from '../errors/render.ts';
import { WeirError } from '../errors/weir-error.ts';
import { noteEnd } from './arrival.ts';
import { familyOfClient } from './client-family.ts';
import { endpoint, type Handler } from './endpoint.ts';
import { notOffered, refuseUnknownPath } from './not-offered.ts';
import type { Method, RouteFamily } from './route.ts';
import { actionOf } from './route-actions.ts';
import { type AppDeps, routes } from './routes.ts';
import { askedPage } from './web/routes.ts';

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
  const wrap = (family: RouteFamily, handler: Handler, options?: Parameters<typeof endpoint>[5]) =>
    endpoint(family, deps.onError, handler, server, deps.bodies, options);
  const { arrivalRing: ring } = deps;
  const notedAt = (path: string) => ring && { ring, path, onEnd: noteEnd };
  const served = routes(deps);
  const refuseUnknown = refuseUnknownPath(served.map(({ path }) => path));
  for (const { path, family, methods, families } of served) {
    for (const [method, handler] of Object.entries(methods)) {
      const methodFamily = families?.[method as Method] ?? family;
      const noted = isCall(method, path) ? notedAt(path) : undefined;
      const options = { action: actionOf(method, path), noted };
      app.route(method, path, wrap(methodFamily, handler, options), unparsed);
    }
    const noted = methods.POST && isCall('POST', path) ? notedAt(path) : undefined;
    const refuse = wrap(family, refuseMethod(path, family, Object.keys(methods)), { noted });
    // Without this route, a path with a parameter could match. For example, `GET /v1/images/edits`
    // would match `/v1/images/:id`.
    if (!methods.GET) app.route('GET', path, refuse, unparsed);
    app.all(path, refuse, unparsed);
  }
  const answerUnknown: Handler = (context) =>
    askedPage(deps.dashboard, deps.people?.sessions, context) ?? refuseUnknown(context);
  // A call whose base URL is wrong comes to a path that does not exist. Scanners send GET. A route of its
  // own for POST would match before the routes above that refuse POST.
  const unknown = wrap(familyOfClient, answerUnknown);
  const unknownCall = wrap(familyOfClient, refuseUnknown, { noted: notedAt('') });
  for (const path of ['/v1/messages/*', '/*', '/']) {
    app.all(
      path,
      (context) => (context.request.method === 'POST' ? unknownCall : unknown)(context),
      unparsed,
    );
  }
  // An error outside of a handler gets the usual error body too.
  return app.onError((context) =>
    wrap(familyOfClient, () => Promise.reject(context.error))(context),
  );
}

/** The interfaces whose requests are no calls of models. */
const NO_CALLS = /^\/v1\/(?:management|operator|auth)\//;

/** True for a route on which clients call models. Polls and lists are no calls. */
function isCall(method: string, path: string): boolean {
  return method === 'POST' && !NO_CALLS.test(path);
}

/** Refuses a method of a known path. The response names the allowed methods (RFC 9110, 15.5.6). */
function refuseMethod(path: string, family: RouteFamily, methods: string[]): Handler {
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
