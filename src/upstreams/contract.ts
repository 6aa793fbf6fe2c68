/**
 * The interface between `src/inference` and an upstream, i.e. a provider's API. The files in
 * `src/upstreams/chat` implement `UpstreamProtocol`. No code outside `src/upstreams` knows a
 * provider's wire format.
 */

import type { Abilities } from '../catalogue/abilities.ts';
import type { Fault } from '../errors/fault.ts';
import type { WeirError } from '../errors/weir-error.ts';
import type { DialectName } from '../protocols/dialects.ts';
import type { ChannelProtocol, ChatProtocol } from '../protocols/names.ts';
import type { TokenUsage } from '../protocols/token-usage.ts';

/**
 * The HTTP clients that can carry requests to an upstream: Weir's own client, or the platform's
 * `fetch`.
 */
export const TRANSPORTS = ['own', 'fetch'] as const;

/**
 * The HTTP client of a channel. `guarded` is Weir's own client for addresses that a tenant gave: it
 * connects only to the public internet. No configuration can name it.
 */
export type TransportName = (typeof TRANSPORTS)[number] | 'guarded';

/** Where a channel sends its requests. The key is a secret: no log line and no error shows it. */
export interface UpstreamTarget {
  readonly channel_id: string;
  /** Decides what a provider's error codes mean. */
  readonly protocol?: ChannelProtocol | undefined;
  readonly base_url: string;
  readonly api_key: string;
  readonly timeout_ms: number;
  /** The longest pause inside a stream, in ms. If absent, `timeout_ms` applies. */
  readonly stall_timeout_ms?: number | undefined;
  /** If absent, `own`. */
  readonly transport?: TransportName | undefined;
  /** The dialect of chat completions. If absent, the host of `base_url` decides. */
  readonly dialect?: DialectName | undefined;
  /** The version of Azure's interface, which its requests carry in the query. */
  readonly api_version?: string | undefined;
  /** Members that the upstream refused. Absent if nothing is remembered. */
  readonly refused?: RefusedMembers | undefined;
}

/**
 * The members that Weir itself added to requests of one model on one channel, and that the upstream
 * refused by name. Later requests do without them.
 */
export interface RefusedMembers {
  has(member: string): boolean;
  /** Called only after the upstream accepted the same request without the member. */
  add(member: string): void;
}

/** Returns the target of a channel's requests. */
export function targetOf({
  id: channel_id,
  protocol,
  base_url,
  api_key,
  timeout_ms,
  stall_timeout_ms,
  transport,
  dialect,
  api_version,
}: ChannelConfig): UpstreamTarget {
  const times = { timeout_ms, stall_timeout_ms };
  return { channel_id, protocol, base_url, api_key, ...times, transport, dialect, api_version };
}

/**
 * Why an upstream call failed. `client` means that the client's request is wrong. `unclear` means
 * that the upstream refused the request and proved no reason. These two classes never lower the
 * channel's health; every other class does (P9, P19).
 */
type FailureClass =
  | 'client'
  | 'auth'
  | 'throttle'
  | 'timeout'
  | 'server'
  | 'malformed'
  | 'connection'
  | 'unclear';

/** The class of a failure after which another channel is tried. */
export type RetryableUpstreamFailure = Exclude<FailureClass, 'client'>;

/** The facts of a failed attempt. */
export interface UpstreamFailureDetails {
  /**
   * The wait that the upstream requested in `Retry-After` or in its body, in ms; absent if it
   * requested none.
   */
  readonly retry_after_ms?: number | undefined;
  /** HTTP status of the upstream; absent if no response arrived. */
  readonly status?: number | undefined;
  /** Whose fault the failure is. If absent, `failure` decides. */
  readonly fault?: Exclude<Fault, 'caller'> | undefined;
  /** The upstream's sentence, without anything that reveals the upstream (P5). */
  readonly public_message?: string | undefined;
  /** The error for the client if every channel refuses the request in this way. */
  readonly error_id?: TerminalUpstreamError['error_id'] | undefined;
}

/** A failure of one attempt. Another channel, or a later attempt on this channel, may succeed. */
export class RetryableUpstreamError extends Error {
  override readonly name = 'RetryableUpstreamError';
  readonly retry_after_ms: number | undefined;
  /** HTTP status of the upstream; 0 if no response arrived. */
  readonly status: number;
  /** Whose fault the failure is. */
  readonly fault: Exclude<Fault, 'caller'>;
  readonly public_message: string | undefined;
  readonly error_id: TerminalUpstreamError['error_id'] | undefined;

  constructor(
    readonly failure: RetryableUpstreamFailure,
    /** Internal wording that is never shown to a client (P5). */
    message: string,
    { retry_after_ms, status, fault, public_message, error_id }: UpstreamFailureDetails = {},
  ) {
    super(message);
    this.retry_after_ms = retry_after_ms;
    this.status = status ?? 0;
    this.fault = fault ?? faultOf(failure);
    this.public_message = public_message;
    this.error_id = error_id;
  }

  /** Returns the same error with the public message as `translate` words it. */
  withPublicMessage(
    translate: (refusal: TerminalUpstreamError) => TerminalUpstreamError,
  ): RetryableUpstreamError {
    const { failure, message, public_message, status, error_id = 'invalid_request' } = this;
    if (public_message === undefined) return this;
    const refusal = new TerminalUpstreamError(error_id, public_message, null, status);
    const translated = translate(refusal).public_message;
    return new RetryableUpstreamError(failure, message, { ...this, public_message: translated });
  }
}

function faultOf(failure: RetryableUpstreamFailure): Exclude<Fault, 'caller'> {
  switch (failure) {
    case 'auth':
      return 'account';
    case 'throttle':
    case 'unclear':
      return failure;
    default:
      return 'broken';
  }
}

/** The client's request is wrong. So no other channel is tried, and no channel's health changes. */
export class TerminalUpstreamError extends Error {
  override readonly name = 'TerminalUpstreamError';
  /** Codes of Anthropic's `error.details`, for clients of the same protocol. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    /** An id of the error registry, e.g. `invalid_request`. */
    readonly error_id:
      | 'invalid_request'
      | 'context_length_exceeded'
      | 'content_policy_violation'
      | 'payload_too_large',
    /** Wording for the client. It names no provider, account or physical model. */
    readonly public_message: string,
    readonly param: string | null,
    readonly status: number,
    { details }: { readonly details?: Readonly<Record<string, unknown>> | undefined } = {},
  ) {
    super(public_message);
    this.details = details;
  }
}

/** One event of an upstream's stream, after Weir replaced the upstream's ids and model names. */
export interface StreamEvent {
  /**
   * The complete server-sent event for the client, with its blank line. It is '' if the client gets
   * nothing.
   */
  readonly text: string;
  /**
   * New text of the model (answer, reasoning, tool arguments) for metering. It is '' if the event
   * has none.
   */
  readonly produced: string;
  /**
   * True for the event that completes the answer and for all later events. The client gets these
   * events only after the charge is committed.
   */
  readonly final: boolean;
  /**
   * Set if the event would show the client impossible usage, or lacks usage that the client's
   * protocol requires. Returns the event with the given usage. Weir sends the result instead of
   * `text`.
   */
  readonly withUsage?: (usage: TokenUsage) => string;
  /**
   * The parsed event of the upstream, for the translation. It is null for the end mark `[DONE]`.
   * Absent if the event was not parsed, because it matches `template`.
   */
  readonly value?: Readonly<Record<string, unknown>> | null;
  /**
   * The JSON around the produced text. Set if Weir recognised the event by this JSON and did not
   * parse the event.
   */
  readonly template?: TextTemplate;
  /**
   * The produced texts of the merged events that match `template`. Absent if only one event
   * matched; then `produced` is its text.
   */
  readonly pieces?: readonly string[];
  /** Set if the merged events can be a single one with all of `produced`: it says the same as `text`, and is shorter. */
  readonly frame?: EventFrame | undefined;
  /** True if the event before it in the batch is a delta with the same `frame`, so that both can be one. */
  readonly isSecond?: boolean;
  /**
   * Set if the event tells whether the answer is fit to be sent again later (`fitness.ts`).
   */
  readonly is_fit?: boolean | undefined;
}

/** How many characters of an event's `text` stand before the first produced text, and after the last one. */
export interface EventFrame {
  readonly before: number;
  readonly after: number;
}

/** The JSON of an upstream's event, before and after its produced text. */
export interface TextTemplate {
  readonly before: string;
  readonly after: string;
}

/** Tells whether a call was canceled, and why. Any AbortSignal has these members. */
export type CallSignal = Pick<AbortSignal, 'aborted' | 'reason'>;

/** The bytes that a request holds in the budget of bodies and answers (see `BodyBudget`). */
export interface AnswerBytes {
  /** The largest answer that can be admitted at all, bytes. */
  readonly max_body_bytes: number;
  countAnswer(): AnswerCount;
}

/** The bytes of one answer while it arrives. */
export interface AnswerCount {
  /** Counts further bytes. Throws WeirError (503) if there is no room for them. */
  add(bytes: number): void;
  /** Counts further bytes if there is room for them. Returns false if there is none. */
  tryAdd(bytes: number): boolean;
  /** Counts further bytes, even if there is no room for them. */
  addAlways(bytes: number): void;
  /** Takes all bytes of the answer out of the count. Called when the answer is no longer needed. */
  drop(): void;
}

/** One upstream call. The client's body is forwarded with as few changes as possible. */
export interface UpstreamCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  /**
   * The id of the answer that the client sees. The upstream's own id would reveal which upstream
   * served the call.
   */
  readonly answer_id: string;
  readonly body_text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** True if Weir wrote the body, because the client speaks another protocol. */
  readonly is_translated?: boolean | undefined;
  /**
   * The most output tokens per choice that the call's reservation (the money set aside for the
   * call) covers. The request to the upstream gets this limit. Undefined if the reservation covers
   * all output that the client requested.
   */
  readonly max_output_tokens?: number | undefined;
  /**
   * Returns the most answers (choices) that the request may produce, e.g. from its parameter `n`.
   */
  readonly mostAnswers: () => number;
  /** Size of the model's context window, in tokens. Reported usage far above it is impossible. */
  readonly model_context_window: number;
  /** The longest answer of the model, in tokens. Some protocols require a limit in each request. */
  readonly model_max_output_tokens: number;
  /** What the model can do. Undefined if it is not known; then the upstream refuses what it lacks. */
  readonly model_abilities?: Abilities | undefined;
  /** Client headers that the protocol forwards. Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects or the call's deadline passes. */
  readonly signal: CallSignal;
  /** Counts the bytes of an answer that is read whole. Absent for a probe. */
  readonly bytes?: AnswerBytes | undefined;
}

/** A complete answer with public ids and model names. */
export interface UpstreamAnswer {
  readonly body_text: string;
  /** null if the upstream reported no usage. An explicit zero is a report (P12). */
  readonly usage: TokenUsage | null;
  /**
   * Set if the body would show the client impossible usage (see `UsageReport`), or lacks usage that
   * the client's protocol requires. Then `usage` is null. Returns the body with the given usage.
   * Weir sends the result instead of `body_text`.
   */
  readonly withUsage?: ((usage: TokenUsage) => string) | undefined;
  /** True if the upstream reported impossible usage. */
  readonly has_impossible_usage?: boolean | undefined;
  /** True if the answer is fit to be sent again later (`fitness.ts`). */
  readonly is_fit: boolean;
  /** The number of web searches in the answer. Weir charges this number if `usage` is null. */
  readonly web_searches?: number;
  /** Returns all text that the model produced. Weir counts its tokens if no usage was reported. */
  readonly produced: () => string;
}

/** An answer that arrives as a stream. */
export interface UpstreamStream {
  /**
   * The events in batches, as the bytes arrive. The last batch ends with the event that ends the
   * stream. If the stream breaks off before that event, the iteration throws
   * RetryableUpstreamError. If the consumer leaves its loop early, the request to the upstream is
   * canceled.
   */
  readonly events: AsyncIterable<StreamEvent[]>;
  /** Usage of the whole answer; null until the upstream reports it. */
  usage(): TokenUsage | null;
  /** Usage of the input; null until the upstream reports it. */
  inputUsage(): TokenUsage | null;
  /** The number of web searches in the answer so far; absent if the protocol has none. */
  webSearches?(): number;
  /** True once the upstream reported impossible usage (see `UsageReport`). */
  hasImpossibleUsage(): boolean;
  /**
   * Returns the text of the server-sent events that end a started answer, as if the answer reached
   * its output limit. Used when no money is left to continue. `usage` is the usage that is charged.
   */
  endEarly(usage: TokenUsage): string;
  /**
   * Returns the text of the server-sent events that tell the client that its started answer broke
   * off. They are sent after the last event that is not `final`. `request_id` is the public id.
   */
  errorEvents(error: WeirError, request_id: string): string;
  /** Returns the whole answer in the client's protocol; undefined if the stream did not keep it. */
  answer?(): object | undefined;
}

/**
 * One provider's wire format. `complete` and `stream` throw RetryableUpstreamError or
 * TerminalUpstreamError. If the signal was aborted, both throw the signal's reason.
 */
export interface UpstreamProtocol {
  readonly name: ChatProtocol;
  complete(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Resolves once the upstream has accepted the call and begins to answer. */
  stream(call: UpstreamCall): Promise<UpstreamStream>;
}

/** A connection to an upstream account, as `weir.yaml` declares it. */
export interface ChannelConfig {
  readonly id: string;
  readonly protocol: ChannelProtocol;
  readonly base_url: string;
  readonly api_key: string;
  /** Channels with a lower number are tried first. */
  readonly priority: number;
  /** Channels of the same priority share the calls in proportion to their weights. */
  readonly weight: number;
  readonly max_concurrency: number;
  readonly timeout_ms: number;
  /**
   * The longest wait for the first token of a stream, in ms. After this wait, another channel is
   * tried.
   */
  readonly first_token_timeout_ms?: number;
  readonly stall_timeout_ms?: number;
  /** The HTTP client of the channel's requests. If absent, `own`. */
  readonly transport?: TransportName;
  /** The vendor's dialect of the protocol `openai`. If absent, the host of `base_url` decides. */
  readonly dialect?: DialectName;
  /** The query `api-version` of requests to Azure OpenAI. */
  readonly api_version?: string;
  /**
   * The account's price as a multiple of the catalogue's price. The routing policy `price` uses it.
   */
  readonly cost_factor?: number;
  /** Seconds between the probes of a channel that is not healthy. */
  readonly probe_s?: number;
  readonly enabled: boolean;
  /**
   * Set for the own key of an organization: what its calls cost, in millionths of the list price.
   */
  readonly fee_ppm?: number;
  /** Public model id → physical model id. */
  readonly models: Readonly<Record<string, string>>;
}
