import type { ListenableSignal } from '../actors/money/admission-queue.ts';
import { type ErrorFamily, renderError } from '../errors/render.ts';
import { WeirError } from '../errors/weir-error.ts';
import type { Caller } from '../inference/call.ts';
import type { AnswerRecorder } from '../inference/repeats/recorder.ts';
import type { RepeatPort } from '../inference/repeats/repeats.ts';
import { StopSignal } from '../inference/streaming/stop-signal.ts';
import { callSignal } from './call-signal.ts';
import type { RequestContext } from './endpoint.ts';
import type { Form } from './form.ts';
import { addSoftHeaders } from './soft-headers.ts';

const MAX_IDEMPOTENCY_KEY_CHARS = 255;
const HEADER = 'Idempotency-Key';

/**
 * Returns the value of `Idempotency-Key`; undefined if the request has none. Throws WeirError if
 * the value has other characters than visible ASCII, because proxies may change such characters.
 */
export function readIdempotencyKey(request: Request): string | undefined {
  const key = request.headers.get(HEADER);
  if (key === null) return undefined;
  if (key.length <= MAX_IDEMPOTENCY_KEY_CHARS && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new WeirError(
    'invalid_request',
    `${HEADER} must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} visible ASCII characters.`,
    { param: HEADER },
  );
}

/** A validated request of a route that costs money. */
export interface PaidRequest {
  readonly key: Caller & { readonly timeout_ms: number | null };
  /** The route. Idempotency keys of different routes are independent. */
  readonly route: string;
  /** The body as the client sent it. */
  readonly body: string | Form;
  /** Aborted when the client leaves or its deadline passes. */
  readonly signal: ListenableSignal;
  /** The error format of the route; default: `openai`. */
  readonly family?: ErrorFamily;
}

/** What `serveOnce` passes to the function that runs the call. */
export interface CallMode {
  readonly signal: ListenableSignal;
  /** Set if the call has an idempotency key. A streamed answer must be written to the recorder. */
  readonly recorder?: AnswerRecorder;
}

/**
 * Runs a call that costs money. If the request has an `Idempotency-Key`, the call runs once, and a
 * repeat gets the first answer (see `Repeats.run`). Such a call continues if its client leaves;
 * only its deadline ends it early.
 */
export function serveOnce(
  deps: { readonly repeats: () => RepeatPort },
  context: RequestContext,
  paid: PaidRequest,
  work: (mode: CallMode) => Response | Promise<Response>,
): Response | Promise<Response> {
  const idempotency_key = readIdempotencyKey(context.request);
  if (idempotency_key === undefined) return work({ signal: paid.signal });
  return runOnce(deps, context, paid, idempotency_key, work);
}

async function runOnce(
  deps: { readonly repeats: () => RepeatPort },
  context: RequestContext,
  { key, route, body, family = 'openai' }: PaidRequest,
  idempotency_key: string,
  work: (mode: CallMode) => Response | Promise<Response>,
): Promise<Response> {
  const { request, uuid, request_id } = context;
  const lasting = callSignal(context, key, new StopSignal());
  const call = {
    ...{ key, route, idempotency_key, request_id: uuid, client: request.signal },
    request_hash: await hashRequest(request, body),
    renderError: (error: unknown) => renderError(error, family, request_id),
  };
  const response = await deps.repeats().run(call, async (recorder) => {
    const first = await work({ signal: lasting, recorder });
    // A repeat gets these headers too.
    if (context.record) addSoftHeaders(first.headers, context.record);
    return first;
  });
  const { record } = context;
  const isRepeat = response.headers.has('idempotent-replayed');
  if (isRepeat && record && !record.lasts) record.outcome = 'repeated';
  return response;
}

/**
 * Returns the SHA-256 of path and body, hex. Two forms with the same fields have the same hash,
 * although each form has its own random boundary.
 */
async function hashRequest(request: Request, body: string | Form): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(`${new URL(request.url).pathname}\n`);
  if (typeof body === 'string') return hasher.update(body).digest('hex');
  for (const name of new Set(body.keys())) {
    for (const value of body.getAll(name)) {
      if (typeof value === 'string') {
        hasher.update(JSON.stringify([name, value]));
      } else {
        const file = value instanceof File ? value.name : '';
        hasher.update(JSON.stringify([name, file, value.type, value.size]));
        hasher.update(await value.arrayBuffer());
      }
    }
  }
  return hasher.digest('hex');
}
