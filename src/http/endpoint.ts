import type { Server } from 'bun';
import { isTransient } from '../../db/transient.ts';
import { type ErrorFamily, renderError } from '../errors/render.ts';
import type { ErrorReport } from '../errors/report.ts';
import { WeirError } from '../errors/weir-error.ts';

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
}

/**
 * One route: runs the handler, gives every answer its request id, turns every error into the
 * family's envelope. One function instead of a chain of hooks: it is on every request's path.
 */
export function endpoint(
  family: ErrorFamily,
  report: ErrorReport,
  handler: Handler,
  server: () => Server<unknown> | null,
) {
  return async ({ request, params }: ElysiaContext): Promise<Response> => {
    const uuid = Bun.randomUUIDv7();
    const request_id = `req_${uuid.replaceAll('-', '')}`;
    let response: Response;
    try {
      response = await handler({
        request,
        uuid,
        request_id,
        params: (params ?? {}) as Record<string, string>,
        server: server(),
      });
    } catch (error) {
      const known = withDatabaseAway(error);
      report(known, request_id);
      response = renderError(known, family, request_id);
    }
    // OpenAI's SDK reads the one, Anthropic's the other (contracts 1.1).
    response.headers.set('x-request-id', request_id);
    response.headers.set('request-id', request_id);
    return response;
  };
}

const DATABASE_RETRY_AFTER_S = 2;

/** What a request's own queries met: a database that is away is no defect, and said as 503 (design 4). */
function withDatabaseAway(error: unknown): unknown {
  if (error instanceof WeirError || !(error instanceof Error)) return error;
  // The query builder wraps the driver's error.
  if (!isTransient(error) && !isTransient(error.cause)) return error;
  const details = { retry_after: DATABASE_RETRY_AFTER_S };
  return new WeirError('service_unavailable', 'The service is busy.', details, error);
}

/** Where clients reach us, as the operator says or as they did; no slash at its end. */
export function publicOrigin(request: Request, public_url: string | undefined): string {
  return public_url?.replace(/\/+$/, '') ?? new URL(request.url).origin;
}

/** Part of a path without its percent-encoding; unchanged if it encodes no text. */
export function decodePath(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A JSON answer. */
export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json' },
  });
}
