import type { TSchema } from '@sinclair/typebox';
import type { KeyRecord } from '../../db/keys.ts';
import type { CatalogueFor, CatalogueModel } from '../catalogue/catalogue.ts';
import type { ErrorFamily } from '../errors/render.ts';
import type { Validator } from '../errors/validate.ts';
import { CACHE_CONTROL_HEADER, readCacheControl } from '../inference/cache/cache-control.ts';
import type { Caller } from '../inference/call.ts';
import type { InferencePort } from '../inference/inference.ts';
import type { RepeatPort } from '../inference/repeats/repeats.ts';
import { refuseLargeImages } from '../inference/requests/image-limit.ts';
import { resolveModel } from '../inference/requests/resolve-model.ts';
import type { CacheControl } from '../protocols/cache-controls.ts';
import type { ClientProtocol } from '../protocols/names.ts';
import type { Authentication } from './auth/authentication.ts';
import { MAX_INFERENCE_BODY_BYTES, parseJsonBytes, readJsonBytes } from './body.ts';
import { callSignal } from './call-signal.ts';
import type { Handler, RequestContext } from './endpoint.ts';
import type { RateLimit } from './rate-limit.ts';
import { type CallMode, readIdempotencyKey, serveOnce } from './serve-once.ts';

/** The headers of a route that passes none on. One object, so that the cache compares them at once. */
const NO_HEADERS = Object.freeze({});

/** Dependencies of every route that takes an API key. */
export interface InferenceRouteDeps {
  authentication: Pick<Authentication, 'requireKey'>;
  rateLimit: Pick<RateLimit, 'consume'>;
  catalogue: CatalogueFor;
  inference: () => InferencePort;
  /** Runs a call with an `Idempotency-Key` once. */
  repeats: () => RepeatPort;
}

/**
 * The body that goes to the upstream. `storeAnswer` stores the answer; it is missing if the answer
 * must not be stored.
 */
export interface PreparedBody {
  readonly body: Record<string, unknown>;
  readonly body_text: string;
  readonly storeAnswer?: (answer: object) => Promise<void>;
}

/** The differences between the chat routes. */
export interface InferenceRoute<Schema extends TSchema> {
  protocol: ClientProtocol;
  /** The path, without its variable part: Gemini's paths end with a model id and a method. */
  path: string;
  /** The error format of the route; default: `openai`. */
  family?: ErrorFamily;
  validate: Validator<Schema>;
  /** Checks rules that a schema cannot express, before validation. Throws WeirError. */
  precheck?: (context: RequestContext, body: Record<string, unknown>) => void;
  /** Prepares the body after validation, and may return a function that stores the answer. */
  prepare?: (
    context: RequestContext,
    body: Record<string, unknown>,
    key: Caller,
    body_text: string,
  ) => Promise<PreparedBody>;
  /** Request headers that go to the upstream. */
  headers?: (request: Request) => Record<string, string>;
}

/** A request that was read. Without a repeat and without `prepare`, it runs as it is. */
interface ReadRequest extends CallMode, PreparedBody {
  readonly context: RequestContext;
  readonly key: KeyRecord;
  readonly cache_control: CacheControl | undefined;
}

/**
 * Returns the handler of a chat route. It authenticates the key, counts the request against the
 * rate limit, validates the body, resolves the model, and runs the call. The steps that few requests need are
 * functions of their own: a function inside of the handler would be made anew for every request.
 */
export function inferenceRoute<Schema extends TSchema>(
  deps: InferenceRouteDeps,
  route: InferenceRoute<Schema>,
): Handler {
  const isCallable = (model: CatalogueModel, key: Caller) =>
    deps.inference().isCallable(model, key);
  const run = (read: ReadRequest, mode: CallMode, prepared: PreparedBody) => {
    const { context, key, cache_control } = read;
    const { request, uuid, server, bytes, record } = context;
    const { signal, recorder } = mode;
    const { body, body_text, storeAnswer } = prepared;
    const name = String(body['model']);
    const catalogue = deps.catalogue(key.organization_id);
    const model = resolveModel(catalogue, name, key, route.protocol, isCallable);
    const answer = deps.inference().run({
      protocol: route.protocol,
      request_id: uuid,
      key,
      model,
      body,
      body_text,
      storeAnswer,
      stream: body['stream'] === true,
      headers: route.headers?.(request) ?? NO_HEADERS,
      signal,
      recorder,
      bytes,
      record,
      cache_control,
      own_headers: recorder ? undefined : context.own_headers,
    });
    // Bun closes a silent connection after its idle timeout. A model may think longer than that.
    if (answer instanceof Promise) server?.timeout(request, 0);
    return answer;
  };
  const runOnce = (read: ReadRequest) => {
    const { context, key, signal, body, body_text } = read;
    const family = route.family ?? 'openai';
    const paid = { key, route: route.path, body: body_text, signal, family };
    return serveOnce(deps, context, paid, (mode) =>
      route.prepare
        ? route.prepare(context, body, key, body_text).then((each) => run(read, mode, each))
        : run(read, mode, read),
    );
  };
  return async (context) => {
    const { request } = context;
    const found = deps.authentication.requireKey(context, route.protocol);
    // Each `await` costs a turn of the microtask queue, and nearly all keys are in memory.
    const key = found instanceof Promise ? await found : found;
    const counted = deps.rateLimit.consume(key, context);
    if (counted) await counted;
    const signal = callSignal(context, key);
    const bytes = context.bytes.of(key.id);
    const sent = await readJsonBytes(request, bytes, MAX_INFERENCE_BODY_BYTES, signal);
    const parsed = parseJsonBytes(sent, request.headers);
    const { text, value } = parsed instanceof Promise ? await parsed : parsed;
    context.record?.ask(value);
    route.precheck?.(context, value);
    route.validate(value);
    const cache_control = readCacheControl(value, request.headers.get(CACHE_CONTROL_HEADER));
    refuseLargeImages(route.protocol, value, text);
    const read = { context, key, cache_control, signal, body: value, body_text: text };
    const isPlain = !route.prepare && readIdempotencyKey(request) === undefined;
    return isPlain ? run(read, read, read) : runOnce(read);
  };
}
