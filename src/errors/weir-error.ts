import type { Fault } from './fault.ts';
import { ERRORS, type ErrorEntry, type ErrorId } from './registry.ts';

/** The optional members of the error envelope (spec: Errors). */
export interface ErrorDetails {
  /** The wrong parameter as a path, e.g. `messages.0.role`. */
  param?: string | null;
  did_you_mean?: string;
  suggestions?: { id: string }[];
  hint?: string;
  /**
   * Replaces the value of `retryable` in the registry. Used, for example, if an upstream refused a
   * request and a retry cannot help.
   */
  retryable?: boolean;
  /** Time to wait before a retry, whole seconds. It is also sent as the `Retry-After` header. */
  retry_after?: number;
  alternatives?: { id: string; status: string; tags: string[] }[];
  /**
   * Codes that Anthropic's SDKs read, e.g. `{ error_code: 'thread_unsupported_request' }`. Only the
   * native envelope has this member.
   */
  details?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Only on routes of operators: whose fault the failure of a provider is, and the provider's own words
   * and HTTP status.
   */
  fault?: Fault;
  provider_message?: string;
  provider_status?: number;
  /** With 402: the most that the key's cap and the balance let the request spend, USD. */
  balance_usd?: number;
  /** With 402: the upper bound of the request's charge, USD. */
  estimated_cost_usd?: number;
}

/**
 * An error for a client. `message` and `details` are public. `cause` is internal: it is logged, but
 * never sent to the client (P5).
 */
export class WeirError extends Error {
  override readonly name = 'WeirError';

  constructor(
    readonly id: ErrorId,
    message: string,
    readonly details: ErrorDetails = {},
    cause?: unknown,
  ) {
    super(message, { cause });
  }

  get entry(): ErrorEntry {
    return ERRORS[this.id];
  }

  get retryable(): boolean {
    return this.details.retryable ?? this.entry.retryable;
  }
}
