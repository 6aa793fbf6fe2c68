import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../../machines/webhook.ts';
import { ForbiddenAddressError } from '../../storage/checked-address.ts';
import type { GuardedFetchOptions } from '../../storage/guarded-fetch.ts';

/**
 * How long an attempt waits for a response (Standard Webhooks: 15 to 30 s). If no response comes in
 * this time, another attempt follows.
 */
const RECEIVER_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** The HTTP status with which a receiver refuses all further attempts. */
const GONE = 410;

/** What an attempt to send a webhook needs. */
export interface WebhookSenderDeps {
  readonly fetch: (
    url: string,
    options: GuardedFetchOptions,
  ) => Promise<{ status: number; stream: ReadableStream }>;
  /**
   * Hosts (`host:port`) that may receive webhooks although their addresses are internal. The
   * operator lists them in WEIR_WEBHOOK_ALLOW_HOSTS; default: none.
   */
  readonly allow_hosts?: ReadonlySet<string>;
  readonly now: () => number;
}

/** A webhook that is ready to be signed. */
export interface SignedMessage {
  /** The same for every attempt, so that a receiver recognises a repeated attempt. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  /** `whsec_…` */
  readonly secret: string;
}

/**
 * Makes one attempt. It is signed with the present time (Standard Webhooks: webhook-id,
 * webhook-timestamp, webhook-signature).
 */
export async function sendSigned(
  deps: WebhookSenderDeps,
  { id, url, body, secret }: SignedMessage,
  signal: AbortSignal,
): Promise<WebhookEvent> {
  const sentAt = new Date(deps.now());
  try {
    const { status, stream } = await deps.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign(id, sentAt, body),
      },
      body,
      max_bytes: MAX_ANSWER_BYTES,
      timeout_ms: RECEIVER_TIMEOUT_MS,
      follow: false,
      signal,
      ...(deps.allow_hosts ? { allow_hosts: deps.allow_hosts } : {}),
    });
    await stream.cancel();
    const isAccepted = status >= 200 && status < 300;
    return isAccepted
      ? { type: 'DELIVERED', status }
      : refused(status === GONE ? 'gone' : 'http_status', status, status === GONE);
  } catch (error) {
    if (error instanceof ForbiddenAddressError) return refused('address_refused', 0, true);
    return refused(isTimeout(error) ? 'timeout' : 'no_connection', 0, false);
  }
}

/** Why an attempt failed. Organizations see it, so it names nothing inside of Weir. */
export type RefusalReason =
  /** The receiver returned 410, so no further attempt follows. */
  | 'gone'
  | 'http_status'
  | 'timeout'
  | 'no_connection'
  /** The URL is not on the public internet. */
  | 'address_refused'
  /** The task of the webhook was deleted. */
  | 'task_missing'
  /** The endpoint of the alert was deleted. */
  | 'endpoint_removed'
  /** The mail server refused the mail or its receiver. */
  | 'mail_refused'
  /** This installation sends no mail any more. */
  | 'mail_off'
  /** Weir could not make the attempt. */
  | 'unsent';

/** Returns the event of a failed attempt. */
export function refused(reason: RefusalReason, status: number, final: boolean): WebhookEvent {
  return { type: 'REFUSED', status, final, reason };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
