import type { Server } from 'bun';
import type { ErrorFamily } from './errors/render.ts';
import { renderError } from './errors/render.ts';

/** What a handler gets: the request, its ids, and what the path named. */
export interface RequestContext {
  readonly request: Request;
  /** UUID of the request; `request_id` is how clients see it. */
  readonly uuid: string;
  readonly request_id: string;
  readonly params: Readonly<Record<string, string>>;
  readonly server: Server<unknown> | null;
}

export type Handler = (context: RequestContext) => Response | Promise<Response>;

/** What Elysia hands to a route. */
interface ElysiaContext {
  request: Request;
  params?: unknown;
  server: Server<unknown> | null;
}

/** Reports of what clients are not told. Must not throw. */
export type ErrorReport = (error: unknown, requestId: string) => void;

/**
 * One route: runs the handler, gives every answer its request id, turns every error into the
 * family's envelope. One function instead of a chain of hooks: it is on every request's path.
 */
export function endpoint(family: ErrorFamily, report: ErrorReport, handler: Handler) {
  return async ({ request, params, server }: ElysiaContext): Promise<Response> => {
    const uuid = Bun.randomUUIDv7();
    const request_id = `req_${uuid.replaceAll('-', '')}`;
    let response: Response;
    try {
      response = await handler({
        request,
        uuid,
        request_id,
        params: (params ?? {}) as Record<string, string>,
        server,
      });
    } catch (error) {
      report(error, request_id);
      response = renderError(error, family, request_id);
    }
    response.headers.set('x-request-id', request_id);
    response.headers.set('request-id', request_id);
    return response;
  };
}

/** A JSON answer. */
export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json' },
  });
}
