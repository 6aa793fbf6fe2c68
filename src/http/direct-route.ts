import type { DirectModel } from '../catalogue/catalogue.ts';
import type { ErrorFamily } from '../errors/render.ts';
import { CACHE_CONTROL_HEADER, readCacheControl } from '../inference/cache/cache-control.ts';
import { addCacheHeaders, type DirectCache } from '../inference/cache/cached-direct.ts';
import type { DirectCall } from '../inference/direct/direct.ts';
import type { InferencePort } from '../inference/inference.ts';
import type { AnswerRecorder } from '../inference/repeats/recorder.ts';
import { resolveDirectModel } from '../inference/requests/resolve-model.ts';
import { withMove } from '../inference/soft/move.ts';
import { editMembers } from '../json/members.ts';
import { type CacheControl, isOwnControl } from '../protocols/cache-controls.ts';
import type { ClientProtocol } from '../protocols/names.ts';
import { type JsonBody, readJsonObject } from './body.ts';
import { callSignal } from './call-signal.ts';
import type { Handler } from './endpoint.ts';
import type { InferenceRouteDeps } from './inference-route.ts';
import { serveOnce } from './serve-once.ts';

/** A direct call whose model is known. */
interface DirectRequest<Body> {
  /** The id by which clients know the request. */
  readonly request_id: string;
  readonly body: Body;
  /** The body as the client sent it. */
  readonly text: string;
  readonly inference: InferencePort;
  readonly model: DirectModel;
  /** The members that all direct calls share. */
  readonly call: Pick<
    DirectCall<unknown, unknown>,
    | 'request_id'
    | 'key'
    | 'model'
    | 'body'
    | 'body_text'
    | 'signal'
    | 'bytes'
    | 'record'
    | 'cached'
    | 'may_move'
  >;
  /** Set if the call has an idempotency key. A streamed answer must be written to the recorder. */
  readonly recorder?: AnswerRecorder;
}

/** A route of direct calls with a JSON body. */
export interface DirectRoute<Body> {
  /** Idempotency keys of different paths are independent. */
  readonly path: string;
  readonly operation: DirectModel['operation'];
  readonly max_body_bytes: number;
  /** The protocol of the route; default: `openai`. */
  readonly protocol?: ClientProtocol;
  /** The error format of the route; default: `openai`. */
  readonly family?: ErrorFamily;
  /** Returns the valid body. Throws WeirError that names the wrong parameter. */
  readonly readBody: (value: Record<string, unknown>) => Body;
  /** True if the body is in another protocol. Then the upstream gets what `readBody` returns. */
  readonly isTranslated?: boolean;
  /** Runs the call and returns its response. */
  readonly run: (direct: DirectRequest<Body>) => Promise<Response>;
}

/**
 * Returns the handler of a route: authenticates, reads the body, and resolves the model. Refuses
 * parameters that the model does not take. Then runs the call, once if it has an `Idempotency-Key`.
 */
export function directRoute<Body extends { readonly model?: string }>(
  deps: InferenceRouteDeps,
  route: DirectRoute<Body>,
): Handler {
  const { path, operation, max_body_bytes, protocol, family = 'openai' } = route;
  return async (context) => {
    const { request, uuid, request_id, server, bytes } = context;
    const key = await deps.authentication.requireKey(context, protocol);
    await deps.rateLimit.consume(key, context);
    const signal = callSignal(context, key);
    const counted = bytes.of(key.id);
    const read = await readJsonObject(request, counted, max_body_bytes, signal);
    const control = readCacheControl(read.value, request.headers.get(CACHE_CONTROL_HEADER));
    const { text, value } = withoutOwnControl(read);
    context.record?.ask(value);
    const body = route.readBody(value);
    const paid = { key, route: path, body: text, signal, family };
    return serveOnce(deps, context, paid, async (mode) => {
      const inference = deps.inference();
      const model = resolveDirectModel(
        deps.catalogue(key.organization_id),
        body.model,
        key,
        { path, operation },
        (candidate, caller) => inference.isCallable(candidate, caller),
      );
      const accepts = (each: DirectModel) => {
        each.contract.check(body as Record<string, unknown>);
        return true;
      };
      accepts(model);
      // Bun closes a silent connection after its idle timeout. A model may need longer than that.
      server?.timeout(request, 0);
      const { recorder } = mode;
      const sent = route.isTranslated ? body : value;
      const cached = cacheOf(operation, control);
      const { record } = context;
      const run = (served: DirectModel, may_move: boolean) =>
        route.run({
          ...{ request_id, body, text, inference, model: served },
          call: {
            ...{ request_id: uuid, key, model: served, body: sent as Record<string, unknown> },
            body_text: route.isTranslated ? JSON.stringify(body) : text,
            ...{ signal: mode.signal, bytes, record, cached, may_move },
          },
          ...(recorder ? { recorder } : {}),
        });
      const response = await withMove(inference.moves, {
        ...{ key, model, record, run },
        isAble: accepts,
      });
      if (cached) addCacheHeaders(response.headers, cached);
      return response;
    });
  };
}

/** Removes Weir's own cache control, which no upstream knows. */
function withoutOwnControl({ text, value }: JsonBody): JsonBody {
  if (!isOwnControl(value['cache_control'])) return { text, value };
  const { cache_control: _, ...rest } = value;
  return { text: editMembers(text, { cache_control: null }), value: rest };
}

/** Returns how the cache treats a call; undefined for operations that are never cached. */
function cacheOf(
  operation: DirectModel['operation'],
  control: CacheControl | undefined,
): DirectCache | undefined {
  return operation === 'tts' || operation === 'stt' ? undefined : { kind: operation, control };
}
