import type { CatalogueModel, GenerationModel } from '../catalogue/catalogue.ts';
import { isInline, isPublicUrl } from '../catalogue/contracts/media.ts';
import type { GenerationInput, GenerationScene } from '../catalogue/inputs.ts';
import { WeirError } from '../errors/weir-error.ts';
import { noteFailure } from '../inference/records/call-ends.ts';
import { resolveGenerationModel } from '../inference/requests/resolve-model.ts';
import { withMove } from '../inference/soft/move.ts';
import type { TaskView } from '../inference/tasks/port.ts';
import type { ClientProtocol } from '../protocols/names.ts';
import type { CallSignal } from '../upstreams/contract.ts';
import type { PartialImage } from '../upstreams/generation/contract.ts';
import type { BytesInFlight } from '../upstreams/transport/body-budget.ts';
import { type JsonBody, readJsonObject } from './body.ts';
import { callSignal } from './call-signal.ts';
import type { Handler } from './endpoint.ts';
import { readIdempotencyKey } from './serve-once.ts';
import { createLink, taskResponse } from './tasks/answer.ts';
import type { Link } from './tasks/link.ts';
import type { GenerationPorts, GenerationRouteDeps } from './tasks/ports.ts';

/** The differences between the routes that create generations. */
export interface GenerationRoute {
  /** What the route generates, e.g. `image`. */
  readonly scene: GenerationScene;
  readonly path: string;
  readonly max_body_bytes: number;
  /** The protocol of the route; default: `openai`. */
  readonly protocol?: ClientProtocol;
  /**
   * Reads the body of a route that also accepts forms, or that has extra rules. If missing, the
   * body is read as JSON of at most `max_body_bytes`. Throws WeirError, or the signal's reason.
   */
  readonly read?: (
    request: Request,
    counted: BytesInFlight,
    signal: CallSignal,
  ) => Promise<JsonBody>;
  /** Returns the body with the parameters that headers or the API key set. Throws WeirError. */
  readonly complete?: (
    request: Request,
    key: KeyDefaults,
    body: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>;
  /** If a call names no model, it gets the first model for which this is true. */
  readonly suits?: (model: GenerationModel, body: Readonly<Record<string, unknown>>) => boolean;
  /**
   * Renders the response if the task completed while the client waited. If missing, the client
   * never waits, and the response is always a task.
   */
  readonly inline?: (context: InlineContext) => Promise<Response>;
  /** Creates the task of an image that is streamed, and sends its events. */
  readonly streamed?: (context: StreamContext) => Promise<Response>;
}

/** Parameters that an API key sets for calls without them. */
interface KeyDefaults {
  readonly image_response_format?: 'url' | 'b64_json' | null;
}

/** The input of a route's `inline`. */
export interface InlineContext {
  readonly view: TaskView;
  readonly link: Link;
  readonly ports: GenerationPorts;
  readonly response_format: 'url' | 'b64_json';
  /** Counts the bytes that the request holds in memory. */
  readonly bytes: BytesInFlight;
}

/** The input of a route's `streamed`. */
export interface StreamContext extends Pick<InlineContext, 'ports' | 'bytes'> {
  /** Creates the task. Resolves and rejects like `TaskPort.create` with `wait`. */
  readonly create: (onPartial: (partial: PartialImage) => void) => Promise<TaskView>;
  readonly input: Extract<GenerationInput, { scene: 'image' }>;
  readonly request_id: string;
}

/**
 * Returns the handler of a generation route. It authenticates the key, counts the request against
 * the rate limit, and reads the body. Then it resolves the model, applies the model's contract, and
 * creates the task. The client's deadline ends a wait for an inline answer, but never ends a task
 * that the client polls.
 */
export function generationRoute(deps: GenerationRouteDeps, route: GenerationRoute): Handler {
  return async (context) => {
    const { request, uuid, request_id, server } = context;
    const key = await deps.authentication.requireKey(context, route.protocol);
    await deps.rateLimit.consume(key, context);
    const signal = callSignal(context, key);
    const idempotency_key = readIdempotencyKey(request);
    const bytes = context.bytes.of(key.id);
    const { text, value: body } = await (route.read?.(request, bytes, signal) ??
      readJsonObject(request, bytes, route.max_body_bytes, signal));
    const value = route.complete?.(request, key, body) ?? body;
    const { record } = context;
    record?.ask(value);
    const inference = deps.inference();
    const model = resolveGenerationModel(
      deps.catalogue(key.organization_id),
      modelName(value['model']),
      key,
      route,
      (candidate, caller) => inference.isCallable(candidate, caller),
      (candidate) => route.suits?.(candidate, value) ?? true,
    );
    record?.resolve(model, route.scene);
    const ports = deps.generation();
    const webhook_url = webhookUrl(value['webhook_url'], ports.webhook_hosts);
    const input = model.contract.accept(value);
    const wait = route.inline !== undefined && !model.by_task && value['async'] !== true;
    /** Returns the input for another model. A client that waits can be served only by a model that answers. */
    const inputFor = (other: GenerationModel) => {
      const accepted = other.contract.accept({ ...value, model: other.id });
      return wait === (route.inline !== undefined && !other.by_task && value['async'] !== true)
        ? accepted
        : undefined;
    };
    // Bun closes a silent connection after its idle timeout. An image may take longer than that.
    if (wait) server?.timeout(request, 0);
    const link = createLink(request, ports);
    const create = (onPartial?: (partial: PartialImage) => void) => {
      const createOn = (served: GenerationModel, may_move: boolean) =>
        ports.tasks.create({
          key,
          request_id: uuid,
          model: served,
          input: served === model ? input : (inputFor(served) ?? input),
          may_move,
          wait,
          body_hash: new Bun.CryptoHasher('sha256').update(text).digest('hex'),
          route: route.path,
          signal: wait ? signal : request.signal,
          ...(idempotency_key === undefined ? {} : { idempotency_key }),
          ...(webhook_url === undefined ? {} : { webhook_url }),
          ...(onPartial ? { onPartial } : {}),
          ...(record ? { record } : {}),
        });
      const creation = withMove<GenerationModel, TaskView>(inference.moves, {
        ...{ key, model, record, isAble: (other) => inputFor(other) !== undefined },
        run: (served, may_move) => {
          if (served !== model) record?.resolve(served, route.scene);
          return createOn(served, may_move);
        },
      });
      return creation.catch((error: unknown) => {
        const accepts = (other: CatalogueModel) => acceptsBody(other, value);
        throw inference.withAlternatives(error, { key, model }, accepts);
      });
    };
    if (wait && route.streamed && input.scene === 'image' && input.stream) {
      if (record) {
        record.lasts = true;
        record.stream = true;
      }
      const recorded: typeof create = async (onPartial) => {
        try {
          return await create(onPartial);
        } catch (error) {
          if (record) noteFailure(record, error, request.signal.aborted);
          throw error;
        } finally {
          record?.end();
        }
      };
      return route.streamed({ create: recorded, input, ports, bytes, request_id });
    }
    const view = await create();
    if (wait && route.inline && view.status === 'completed') {
      const response_format = input.scene === 'image' ? input.response_format : 'url';
      return route.inline({ view, link, ports, response_format, bytes });
    }
    return taskResponse(view, link);
  };
}

/**
 * True if the model can serve the body of a create request. Inline files are shortened first,
 * because a check of several megabytes for each model of the catalogue would take too long.
 */
function acceptsBody(model: CatalogueModel, body: Readonly<Record<string, unknown>>): boolean {
  if (model.kind !== 'generation') return false;
  const entries = Object.entries(body).map(([name, value]) => [name, shortened(value)]);
  try {
    model.contract.accept({ ...Object.fromEntries(entries), model: model.id });
    return true;
  } catch {
    return false;
  }
}

/** Replaces the data of a `data:` URL, or of each URL in a list, by three bytes. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'string' || !isInline(value)) return value;
  return `${value.slice(0, value.indexOf(',') + 1)}AAAA`;
}

/**
 * Returns the requested model; undefined if the request names none, so that the scene's default is
 * used. Throws WeirError if `model` is empty or not a text.
 */
function modelName(model: unknown): string | undefined {
  if (model === undefined || model === null) return undefined;
  if (typeof model === 'string' && model !== '') return model;
  throw new WeirError('invalid_request', 'model must be the id of a model.', { param: 'model' });
}

const MAX_WEBHOOK_URL_CHARS = 2_048;

/**
 * Returns the webhook URL; undefined if the request has none. Throws WeirError if it is not a
 * public https URL and its host is not in `allow_hosts`. This function does not resolve the host.
 * Each time Weir sends a webhook, it checks the host's addresses.
 */
function webhookUrl(url: unknown, allow_hosts?: ReadonlySet<string>): string | undefined {
  if (url === undefined || url === null) return undefined;
  const isText = typeof url === 'string' && url.length <= MAX_WEBHOOK_URL_CHARS;
  if (isText && isPublicUrl(url, allow_hosts)) return url;
  throw new WeirError('invalid_request', 'webhook_url must be a public https URL.', {
    param: 'webhook_url',
  });
}
