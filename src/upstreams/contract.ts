/**
 * What the inference floor knows of an upstream: one provider protocol per file implements
 * `UpstreamProtocol`; nothing above this floor knows a provider's wire format.
 */

import type { ChannelProtocol, ChatProtocol } from '../protocols/names.ts';
import type { TokenUsage } from '../protocols/token-usage.ts';

/** Where a channel's calls go. The key is a secret: never logged, never in an error. */
export interface UpstreamTarget {
  readonly channel_id: string;
  readonly base_url: string;
  readonly api_key: string;
  readonly timeout_ms: number;
  /** The longest silence in the middle of a stream; as long as `timeout_ms` if nothing is said. */
  readonly stall_timeout_ms?: number | undefined;
}

/**
 * Why an upstream call failed (design 3, channel machine). Only `throttle`, `timeout`, `server`,
 * `malformed`, `connection` and `auth` count against a channel; `client` never does (P9).
 */
export type FailureClass =
  | 'client'
  | 'auth'
  | 'throttle'
  | 'timeout'
  | 'server'
  | 'malformed'
  | 'connection';

/** A failure that another channel, or the same one later, may not repeat. */
export class RetryableUpstreamError extends Error {
  override readonly name = 'RetryableUpstreamError';
  constructor(
    readonly failure: Exclude<FailureClass, 'client'>,
    /** Internal wording: never shown to a client (P5). */
    message: string,
    /** What the upstream asked for in `Retry-After` or its body; undefined = nothing said. */
    readonly retry_after_ms?: number,
    /** HTTP status of the upstream, 0 where there was no answer. */
    readonly status = 0,
  ) {
    super(message);
  }
}

/** The request itself is at fault: no other channel is tried and no channel is blamed. */
export class TerminalUpstreamError extends Error {
  override readonly name = 'TerminalUpstreamError';
  constructor(
    /** An id of the error registry: `invalid_request`, `context_length_exceeded` … */
    readonly error_id:
      | 'invalid_request'
      | 'context_length_exceeded'
      | 'content_policy_violation'
      | 'payload_too_large',
    /** Cleaned for the public: names no provider, account or physical model. */
    readonly public_message: string,
    readonly param: string | null,
    readonly status: number,
  ) {
    super(public_message);
  }
}

/** One event of an upstream stream, already made public (ids and model names replaced). */
export interface StreamEvent {
  /** The bytes-to-be for the client, a whole SSE event with its blank line; '' = nothing to send. */
  readonly text: string;
  /** Newly produced text (answer, reasoning, tool arguments), for metering; '' if none. */
  readonly produced: string;
  /** True from the event on that completes the answer: held back until the settlement committed. */
  readonly final: boolean;
}

/** Says whether a call was given up, to who looks: an AbortSignal, or what is as good as one. */
export type CallSignal = Pick<AbortSignal, 'aborted' | 'reason'>;

/** One upstream call. The client's body goes on as the bytes that it is (design 5). */
export interface UpstreamCall {
  readonly target: UpstreamTarget;
  readonly physical_model: string;
  readonly public_model: string;
  /** The id of the answer that the client sees: the upstream's own would name its request. */
  readonly answer_id: string;
  readonly body_text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The answer must not be longer: what the hold covers. undefined = as the client asked. */
  readonly max_output_tokens?: number | undefined;
  /** The most that the model can answer, for protocols that want a bound. */
  readonly model_max_output_tokens: number;
  /** Request headers of the client that its protocol carries on, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client leaves or the call's deadline passes. */
  readonly signal: CallSignal;
}

/** A whole answer, made public. */
export interface UpstreamAnswer {
  readonly body_text: string;
  /** null = the upstream reported none. An explicit zero is a report (P12). */
  readonly usage: TokenUsage | null;
  /** Everything that was produced, for counting where no usage was reported. */
  readonly produced: () => string;
}

/** An answer that is being produced. */
export interface UpstreamStream {
  /**
   * Batches of events as the bytes come. Ends after the terminal event. Throws
   * RetryableUpstreamError when the upstream breaks off; leaving the loop aborts the upstream.
   */
  readonly events: AsyncIterable<StreamEvent[]>;
  /** The usage of the whole answer, once the upstream has reported it. */
  usage(): TokenUsage | null;
  /** What it has reported of the input by now; null = nothing. */
  inputUsage(): TokenUsage | null;
  /** The events that end a started answer cleanly when no more can be paid. */
  endEarly(usage: TokenUsage): string;
  /** The answer by now, as its protocol has it whole; only where it was put together here. */
  answer?(): object | undefined;
}

/**
 * One provider's wire format. Both calls throw RetryableUpstreamError or TerminalUpstreamError, or
 * the signal's reason when it was aborted.
 */
export interface UpstreamProtocol {
  readonly name: ChatProtocol;
  complete(call: UpstreamCall): Promise<UpstreamAnswer>;
  /** Resolves once the upstream has accepted the call and began to answer. */
  stream(call: UpstreamCall): Promise<UpstreamStream>;
  /** The event that tells a client of a stream that it broke. */
  errorEvent(error: { type: string; native_type: string; code: string; message: string }): string;
}

/** A connection to an upstream account, as `weir.yaml` declares it (design 8). */
export interface ChannelConfig {
  readonly id: string;
  readonly protocol: ChannelProtocol;
  readonly base_url: string;
  readonly api_key: string;
  /** Lower is tried first. */
  readonly priority: number;
  /** Share of the calls among channels of the same priority. */
  readonly weight: number;
  readonly max_concurrency: number;
  readonly timeout_ms: number;
  /** How long a stream may take to its first words, while another channel could still serve it. */
  readonly first_token_timeout_ms?: number;
  readonly stall_timeout_ms?: number;
  /** What the account costs beside the catalogue's price; for routing by price. */
  readonly cost_factor?: number;
  /** Seconds between calls of Weir's own that find out whether a sick channel is well again. */
  readonly probe_s?: number;
  readonly enabled: boolean;
  /** Public model id → what the upstream calls it. */
  readonly models: Readonly<Record<string, string>>;
}
