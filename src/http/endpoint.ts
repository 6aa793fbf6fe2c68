import type { Server } from 'bun';
import { isTransient } from '../../db/transient.ts';
import type { Action, OperatorAction } from '../access/actions.ts';
import { type ErrorFamily, renderError } from '../errors/render.ts';
import type { ErrorReport } from '../errors/report.ts';
import { requestIdOf } from '../errors/request-id.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { ArrivalRing, ArrivalSlot } from '../inference/records/arrival-ring.ts';
import { endRecord, failRecord } from '../inference/records/call-ends.ts';
import type { CallRecord } from '../inference/records/call-record.ts';
import { type BodyBudget, BytesInFlight } from '../upstreams/transport/body-budget.ts';
import { compressed } from './compressed-answer.ts';
import { requireHost } from './host.ts';
import { IdsAndLimit } from './own-headers.ts';
import type { ShownRateLimit } from './rate-limit-headers.ts';
import { sendCounted } from './sent-answer.ts';
import { addSoftHeaders } from './soft-headers.ts';
import { closeAfter, mayHaveLargeBody } from './unread-body.ts';

/** The input of a handler: the request, its ids, and the parameters of the path. */
export interface RequestContext extends ShownRateLimit {
  readonly request: Request;
  /** UUID of the request. Clients see it as `request_id`. */
  readonly uuid: string;
  readonly request_id: string;
  readonly params: Readonly<Record<string, string>>;
  readonly server: Server<unknown> | null;
  /** When the head of the request arrived, a value of `performance.now()`, ms. */
  readonly arrived_ms: number;
  /** The bytes that the request holds. They are given back when its response is complete. */
  readonly bytes: BytesInFlight;
  /** What the route does; undefined if it is neither a management nor an operator route. */
  readonly action: Action | OperatorAction | undefined;
  /** Set when the API key of a call is known. */
  record?: CallRecord | undefined;
  /** Set before the handler is called. */
  own_headers?: IdsAndLimit | undefined;
}

/** Handles the requests of one route and method. Throws WeirError for a refusal. */
export type Handler = (context: RequestContext) => Response | Promise<Response>;

/** What distinguishes the requests of a route. */
interface EndpointOptions {
  readonly action?: RequestContext['action'];
  /** Set if the requests are calls of models, which operators can listen to. */
  readonly noted?: NotedRoute | undefined;
}

/** How the calls of a route are noted for operators who listen. */
interface NotedRoute {
  readonly ring: ArrivalRing;
  /** The path of the route; '' for paths that do not exist. */
  readonly path: string;
  readonly onEnd: (
    slot: ArrivalSlot,
    context: RequestContext,
    status: number,
    failure: unknown,
  ) => void;
}

/** The parameters of a path without any. */
const NO_PARAMS = Object.freeze({});

/** The part of Elysia's context that Weir uses. */
interface ElysiaContext {
  request: Request;
  params?: unknown;
}

/**
 * Wraps a handler. The wrapper refuses a request without a valid `Host` header. It adds the request
 * id to each response. It reports each error, and returns it in the error format of the family, which
 * may depend on the request. It gives back the bytes that the request holds. Every request passes through the wrapper, so it is
 * one function: a chain of hooks would be slower.
 */
export function endpoint(
  family: ErrorFamily | ((request: Request) => ErrorFamily),
  report: ErrorReport,
  handler: Handler,
  server: () => Server<unknown> | null,
  bodies: BodyBudget,
  { action, noted }: EndpointOptions = {},
) {
  const familyOf = typeof family === 'string' ? () => family : family;
  return async ({ request, params }: ElysiaContext): Promise<Response> => {
    const arrived_ms = performance.now();
    const uuid = Bun.randomUUIDv7();
    const request_id = requestIdOf(uuid);
    const bytes = new BytesInFlight(bodies);
    const context: RequestContext = {
      request,
      uuid,
      request_id,
      params: (params ?? NO_PARAMS) as Record<string, string>,
      server: server(),
      arrived_ms,
      bytes,
      action,
      // A member that is added later would need memory of its own.
      rate_limit: undefined,
      record: undefined,
      own_headers: undefined,
    };
    const own = new IdsAndLimit(context, familyOf);
    context.own_headers = own;
    const slot = noted?.ring.begin(uuid, noted.path, arrived_ms, context);
    let failure: unknown;
    let response: Response;
    try {
      requireHost(request);
      response = await handler(context);
      const copy = context.record?.copy;
      if (copy) response = await copy.copy(response, isStreamed(context, response), request.signal);
      const accepted = request.headers.get('accept-encoding');
      if (accepted !== null) response = await compressed(response, accepted);
      if (bytes.isLarge) response = await sendCounted(response, request, bytes);
      if (context.record) endRecord(context.record, response);
    } catch (error) {
      const known = asUnavailableIfTransient(error);
      failure = known;
      report(known, request_id);
      response = renderError(known, familyOf(request), request_id);
      own.areSet = false;
      const copy = context.record?.copy;
      if (copy) response = await copy.copy(response, false, request.signal);
      if (context.record) failRecord(context.record, known, request.signal.aborted);
    } finally {
      bytes.end();
    }
    if (slot) noted?.onEnd(slot, context, response.status, failure);
    if (!own.areSet) own.setIn(response.headers);
    if (context.record?.reached) addSoftHeaders(response.headers, context.record);
    if (bytes.hasWholeBody || !mayHaveLargeBody(request)) return response;
    return closeAfter(response, request);
  };
}

/** True if the body of a response must be sent while it is read. A repeat may break off. */
function isStreamed({ record }: RequestContext, { headers }: Response): boolean {
  return record?.lasts === true || headers.has('idempotent-replayed');
}

const DATABASE_RETRY_AFTER_S = 2;

/** Turns a transient database error into a 503. An unreachable database is not a defect of Weir. */
function asUnavailableIfTransient(error: unknown): unknown {
  if (error instanceof WeirError || !(error instanceof Error)) return error;
  // The query builder wraps the driver's error.
  if (!isTransient(error) && !isTransient(error.cause)) return error;
  const details = { retry_after: DATABASE_RETRY_AFTER_S };
  return new WeirError('service_unavailable', 'The service is busy.', details, error);
}

/**
 * Returns the origin for absolute URLs, without a slash at the end. It is `public_url`, or the
 * request's origin if `public_url` is undefined.
 */
export function publicOrigin(request: Request, public_url: string | undefined): string {
  return public_url?.replace(/\/+$/, '') ?? new URL(request.url).origin;
}

/**
 * Returns a part of a path without its percent-encoding. A part that encodes no valid text is
 * returned unchanged.
 */
export function decodePath(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A JSON response. */
export function json(value: unknown, status = 200): Response {
  return jsonText(JSON.stringify(value), status);
}

/** A JSON response whose text exists already. */
export function jsonText(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } });
}
