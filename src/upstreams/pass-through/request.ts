import type { WeirError } from '../../errors/weir-error.ts';
import { type Edit, editMembers } from '../../json/members.ts';
import { isOwnControl } from '../../protocols/cache-controls.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamStream } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { StreamProtocol } from '../stream/event-batches.ts';
import { type EventExchange, readEvents } from '../stream/events.ts';
import { MAX_ERROR_BYTES } from '../transport/bounded-body.ts';
import {
  Exchange,
  joinUrl,
  parseObject,
  postOf,
  type ResponseHead,
  readFailure,
  requestWhole,
} from '../transport/exchange.ts';
import { classifyFailure, classifyInlineError, reportsFailure } from '../transport/failures.ts';
import { toReadableStream } from '../transport/http1/decoded.ts';

/** Path, headers and edits of one upstream request. */
export interface UpstreamRequest {
  path: string;
  headers: Record<string, string>;
  /** Edits of the client's body. */
  edits: Record<string, Edit>;
  /**
   * Returns headers that depend on the final body, or on a token that must be fetched. Throws the
   * same errors as `requestAnswer`.
   */
  authorize?: (url: string, body: string) => Promise<Record<string, string>>;
  /** Converts a response body in another stream format to server-sent events. */
  unwrap?: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
  /**
   * Called with the status and text of an error response. Returns the request to send at once
   * instead; undefined if the error stands.
   */
  mended?: ((status: number, text: string) => UpstreamRequest | undefined) | undefined;
  /** Called when the upstream has accepted the request. */
  onAccepted?: (() => void) | undefined;
}

/** A stream protocol that also reports the usage of the answer. */
export interface MeteredStreamProtocol extends StreamProtocol {
  /** The usage of the whole answer; null until the upstream reports it. */
  usage(): TokenUsage | null;
  /** The usage of the input; null until the upstream reports it. */
  inputUsage(): TokenUsage | null;
  /** The web searches in the answer so far; absent if the protocol has none. */
  webSearches?(): number;
  /** True after the upstream reported impossible usage (see `UsageReport`). */
  hasImpossibleUsage(): boolean;
  /**
   * Returns the text of the events that end a started answer as if it reached its output limit. Used
   * when no money is left to continue. `usage` is the usage that is charged.
   */
  cutShort(usage: TokenUsage): string;
  /** Works like `UpstreamStream.errorEvents`. */
  errorEvents(error: WeirError, request_id: string): string;
  /** The complete answer, if the protocol's last event carries it. */
  answer?(): object;
}

/**
 * Returns the edits that every protocol makes. They set the physical model and remove Weir's cache
 * control.
 */
export function commonEdits({ body, physical_model }: UpstreamCall): Record<string, Edit> {
  const model = JSON.stringify(physical_model);
  return isOwnControl(body['cache_control']) ? { model, cache_control: null } : { model };
}

/**
 * Returns the JSON text of a lowered output limit. A requested limit that is not a positive integer
 * is replaced, because an upstream may read 0 or -1 as no limit.
 */
export function loweredLimit(requested: unknown, limit: number): string {
  const isLimit = typeof requested === 'number' && Number.isInteger(requested) && requested > 0;
  return String(isLimit ? Math.min(requested, limit) : limit);
}

/**
 * Sends a call and returns what `make` builds from its complete answer. Throws
 * RetryableUpstreamError, TerminalUpstreamError, or the signal's reason. An error inside a 200
 * response is thrown as one of the two upstream errors.
 */
export function requestAnswer<Made>(
  call: UpstreamCall,
  request: UpstreamRequest,
  make: (text: string, answer: Record<string, unknown>, call: UpstreamCall) => Made,
): Promise<Made> {
  const { path, headers, authorize } = request;
  const body = editMembers(call.body_text, request.edits);
  // A returned promise resolves to the answer of the mended request. Only a refusal pays for it.
  const read = (head: ResponseHead, text: string): Made | Promise<Made> => {
    if (!head.ok) {
      const mended = request.mended?.(head.status, text);
      if (mended) return requestAnswer(call, mended, make);
      throw classifyFailure(call, head.status, head.headers, text);
    }
    request.onAccepted?.();
    const answer = parseObject(text);
    if (reportsFailure(answer)) throw classifyInlineError(call, text);
    return make(text, answer, call);
  };
  if (!authorize) return requestWhole(call, postOf(call, path, headers, body), read);
  return authorized(call, request, body).then((all) =>
    requestWhole(call, postOf(call, path, all, body), read),
  );
}

/**
 * Sends a call for a stream. Resolves when the upstream has accepted the call. Throws like
 * `requestAnswer`.
 */
export async function requestStream(
  call: UpstreamCall,
  request: UpstreamRequest,
  protocol: MeteredStreamProtocol,
): Promise<UpstreamStream> {
  const exchange = await send(call, request);
  const kind = exchange.response.headers.get('content-type') ?? '';
  if (kind.startsWith('application/json')) {
    throw await readFailure(exchange, (text) =>
      reportsFailure(parseObject(text))
        ? classifyInlineError(call, text)
        : new RetryableUpstreamError(
            'malformed',
            'the upstream sent a whole answer instead of a stream',
          ),
    );
  }
  const events = request.unwrap ? unwrapped(exchange, request.unwrap) : exchange;
  return new ProtocolStream(readEvents(events, protocol), protocol);
}

class ProtocolStream implements UpstreamStream {
  constructor(
    readonly events: AsyncIterable<StreamEvent[]>,
    private readonly protocol: MeteredStreamProtocol,
  ) {}

  usage(): TokenUsage | null {
    return this.protocol.usage();
  }

  inputUsage(): TokenUsage | null {
    return this.protocol.inputUsage();
  }

  webSearches(): number {
    return this.protocol.webSearches?.() ?? 0;
  }

  hasImpossibleUsage(): boolean {
    return this.protocol.hasImpossibleUsage();
  }

  endEarly(usage: TokenUsage): string {
    return this.protocol.cutShort(usage);
  }

  errorEvents(error: WeirError, request_id: string): string {
    return this.protocol.errorEvents(error, request_id);
  }

  answer(): object | undefined {
    return this.protocol.answer?.();
  }
}

/**
 * Sends a call and returns the exchange when the upstream has accepted the call. The caller must
 * read the attached response or close the exchange. Throws like `requestAnswer`.
 */
export async function send(call: UpstreamCall, request: UpstreamRequest): Promise<Exchange> {
  const body = editMembers(call.body_text, request.edits);
  const headers = request.authorize ? await authorized(call, request, body) : request.headers;
  const exchange = new Exchange(call);
  try {
    exchange.attach(await exchange.send(postOf(call, request.path, headers, body)));
  } catch (error) {
    exchange.close();
    throw exchange.toUpstreamError(error);
  }
  const { ok, status, headers: response_headers } = exchange.response;
  if (ok) {
    request.onAccepted?.();
    return exchange;
  }
  let mended: UpstreamRequest | undefined;
  const toError = (text: string) => {
    mended = request.mended?.(status, text);
    return classifyFailure(call, status, response_headers, text);
  };
  const error = await readFailure(exchange, toError, MAX_ERROR_BYTES);
  if (mended) return send(call, mended);
  throw error;
}

async function authorized(
  call: UpstreamCall,
  { path, headers, authorize }: UpstreamRequest,
  body: string,
): Promise<Record<string, string>> {
  return { ...headers, ...(await authorize?.(joinUrl(call.target.base_url, path), body)) };
}

/** Wraps an exchange so that its body is converted to server-sent events. */
function unwrapped(
  exchange: Exchange,
  unwrap: NonNullable<UpstreamRequest['unwrap']>,
): EventExchange {
  const { body } = exchange.response;
  return {
    response: new Response(body && unwrap(toReadableStream(body))),
    startClock: () => exchange.startClock(),
    stopClock: () => exchange.stopClock(),
    useStallTimeout: () => exchange.useStallTimeout(),
    markComplete: () => exchange.markComplete(),
    close: () => exchange.close(),
    toUpstreamError: (error) => exchange.toUpstreamError(error),
  };
}
