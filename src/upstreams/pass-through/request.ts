import { type Edit, editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamStream } from '../contract.ts';
import { RetryableUpstreamError } from '../contract.ts';
import type { Dialect } from '../stream/event-batches.ts';
import { type EventExchange, readEvents } from '../stream/events.ts';
import {
  Exchange,
  joinUrl,
  MAX_ERROR_BYTES,
  parseObject,
  type ResponseHead,
  readAll,
  requestWhole,
} from '../transport/exchange.ts';
import { classifyFailure, classifyInlineError } from '../transport/failures.ts';
import { streamOf } from '../transport/http1/decoded.ts';

/** Where and how a protocol sends a call. */
export interface UpstreamRequest {
  path: string;
  headers: Record<string, string>;
  /** What Weir changes in the client's body. */
  edits: Record<string, Edit>;
  /** Headers that depend on what is sent, or on a token that has to be fetched. Throws like a call. */
  authorize?: (url: string, body: string) => Promise<Record<string, string>>;
  /** The stream's bytes as server-sent events, where the wire has other frames. */
  unwrap?: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

/** What a stream's dialect knows beside its events. */
export interface MeteredDialect extends Dialect {
  /** The usage of the whole answer; null until it was reported. */
  usage(): TokenUsage | null;
  /** What was reported of the input so far. */
  inputUsage(): TokenUsage | null;
  cutShort(usage: TokenUsage): string;
  /** The whole answer, where the protocol's last event has it. */
  answer?(): object;
}

/** Values of `cache_control.type` that are Weir's own and not for an upstream (spec: Cache controls). */
const OWN_CACHE_TYPES = ['no_cache', 'no_store', 'response_only', 'semantic_only'];

/** The changes that every protocol makes: the physical model in, Weir's own cache control out. */
export function commonEdits({ body, physical_model }: UpstreamCall): Record<string, Edit> {
  const cache = body['cache_control'];
  const isOwn = isObject(cache) && OWN_CACHE_TYPES.includes(String(cache['type']));
  return { model: JSON.stringify(physical_model), ...(isOwn ? { cache_control: null } : {}) };
}

/**
 * Asks for a whole answer, and gives back what `make` makes of it. Throws RetryableUpstreamError,
 * TerminalUpstreamError, or the signal's reason; an error inside a 200 is one of the two as well.
 */
export function requestAnswer<Made>(
  call: UpstreamCall,
  request: UpstreamRequest,
  make: (text: string, answer: Record<string, unknown>, call: UpstreamCall) => Made,
): Promise<Made> {
  const { path, headers, authorize } = request;
  const body = editMembers(call.body_text, request.edits);
  const read = (head: ResponseHead, text: string) => {
    if (!head.ok) throw classifyFailure(call, head.status, head.headers, text);
    const answer = parseObject(text);
    if (answer['error']) throw classifyInlineError(call, text);
    return make(text, answer, call);
  };
  if (!authorize) return requestWhole(call, path, headers, body, read);
  return authorized(call, request, body).then((all) => requestWhole(call, path, all, body, read));
}

/** Asks for a stream; resolves when the upstream accepted the call. Throws like requestAnswer. */
export async function requestStream(
  call: UpstreamCall,
  request: UpstreamRequest,
  dialect: MeteredDialect,
): Promise<UpstreamStream> {
  const exchange = await send(call, request);
  const kind = exchange.response.headers.get('content-type') ?? '';
  if (kind.startsWith('application/json')) {
    const text = await readAll(exchange);
    if (parseObject(text)['error']) throw classifyInlineError(call, text);
    throw new RetryableUpstreamError('malformed', 'a whole answer where a stream was asked for');
  }
  const events = request.unwrap ? unwrapped(exchange, request.unwrap) : exchange;
  return new DialectStream(readEvents(events, dialect), dialect);
}

class DialectStream implements UpstreamStream {
  constructor(
    readonly events: AsyncIterable<StreamEvent[]>,
    private readonly dialect: MeteredDialect,
  ) {}

  usage(): TokenUsage | null {
    return this.dialect.usage();
  }

  inputUsage(): TokenUsage | null {
    return this.dialect.inputUsage();
  }

  endEarly(usage: TokenUsage): string {
    return this.dialect.cutShort(usage);
  }

  answer(): object | undefined {
    return this.dialect.answer?.();
  }
}

/** Sends a call; resolves when the upstream accepted it. Throws like requestAnswer. */
export async function send(call: UpstreamCall, request: UpstreamRequest): Promise<Exchange> {
  const body = editMembers(call.body_text, request.edits);
  const headers = request.authorize ? await authorized(call, request, body) : request.headers;
  const exchange = new Exchange(call);
  try {
    exchange.attach(await exchange.send(request.path, headers, body));
  } catch (error) {
    exchange.close();
    throw exchange.toUpstreamError(error);
  }
  const { ok, status, headers: said } = exchange.response;
  if (ok) return exchange;
  throw classifyFailure(call, status, said, await readAll(exchange, MAX_ERROR_BYTES));
}

async function authorized(
  call: UpstreamCall,
  { path, headers, authorize }: UpstreamRequest,
  body: string,
): Promise<Record<string, string>> {
  return { ...headers, ...(await authorize?.(joinUrl(call.target.base_url, path), body)) };
}

/** The same exchange with its bytes in other frames. */
function unwrapped(
  exchange: Exchange,
  unwrap: NonNullable<UpstreamRequest['unwrap']>,
): EventExchange {
  const { body } = exchange.response;
  return {
    response: new Response(body && unwrap(streamOf(body))),
    startClock: () => exchange.startClock(),
    stopClock: () => exchange.stopClock(),
    useStallTimeout: () => exchange.useStallTimeout(),
    markComplete: () => exchange.markComplete(),
    close: () => exchange.close(),
    toUpstreamError: (error) => exchange.toUpstreamError(error),
  };
}
