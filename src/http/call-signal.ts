import type { ListenableSignal } from '../actors/money/admission-queue.ts';
import { WeirError } from '../errors/weir-error.ts';
import {
  ClientDeadline,
  ClientDeadlineError,
  MAX_CLIENT_TIMEOUT_MS,
  MIN_CLIENT_TIMEOUT_MS,
} from '../inference/client-deadline.ts';
import type { RequestContext } from './endpoint.ts';

/** The request header with the client's time for the whole call, ms. */
const TIMEOUT_HEADER = 'x-weir-timeout-ms';
/** Whole milliseconds in decimal, without a sign and without a leading zero. */
const WHOLE_MS = /^[1-9]\d{0,6}$/;

/**
 * Returns the signal of a call. The signal is aborted when the client leaves, or when the time for
 * the call is over. The header `x-weir-timeout-ms` sets this time. Without the header, `timeout_ms`
 * of the API key sets it; null means no limit. The time starts when the request arrives. Throws
 * WeirError (400) if the header is not an integer from 1,000 to 3,600,000. `client` is aborted when
 * the client leaves.
 */
export function callSignal(
  { request, arrived_ms }: RequestContext,
  key: { readonly timeout_ms: number | null },
  client: ListenableSignal = new ClientSignal(request),
): ListenableSignal {
  const header = request.headers.get(TIMEOUT_HEADER);
  if (header === null && key.timeout_ms === null) return client;
  const timeout_ms = header === null ? (key.timeout_ms ?? 0) : parseTimeout(header);
  const createError = () => deadlineError(timeout_ms, header !== null);
  return new ClientDeadline(client, arrived_ms + timeout_ms, createError);
}

/**
 * The signal of a request, which Bun makes when it is first asked for. A hit of the cache never asks. A signal that is
 * made after its client has left is aborted from the start.
 */
class ClientSignal implements ListenableSignal {
  constructor(private readonly request: Request) {}

  get aborted(): boolean {
    return this.request.signal.aborted;
  }

  get reason(): unknown {
    return this.request.signal.reason;
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.request.signal.addEventListener('abort', listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.request.signal.removeEventListener('abort', listener);
  }
}

/**
 * Returns the time in the header's value, ms. Throws WeirError (400) for other values, also if the
 * header was sent twice: then Bun joins the two values with a comma.
 */
function parseTimeout(header: string): number {
  const timeout_ms = WHOLE_MS.test(header) ? Number(header) : 0;
  if (timeout_ms >= MIN_CLIENT_TIMEOUT_MS && timeout_ms <= MAX_CLIENT_TIMEOUT_MS) return timeout_ms;
  const message = `${TIMEOUT_HEADER} must be an integer from ${MIN_CLIENT_TIMEOUT_MS} to ${MAX_CLIENT_TIMEOUT_MS}.`;
  throw new WeirError('invalid_request', message, {
    param: TIMEOUT_HEADER,
    hint: `Send milliseconds once, e.g. ${TIMEOUT_HEADER}: 30000.`,
  });
}

function deadlineError(timeout_ms: number, isFromHeader: boolean): ClientDeadlineError {
  return isFromHeader
    ? new ClientDeadlineError(
        `The answer was not complete within the ${timeout_ms} ms of ${TIMEOUT_HEADER}.`,
        `Send a higher ${TIMEOUT_HEADER}, ask for a shorter answer, or use a faster model.`,
      )
    : new ClientDeadlineError(
        `The answer was not complete within the ${timeout_ms} ms of the API key's default_timeout_ms.`,
        `Send the header ${TIMEOUT_HEADER} with a higher value, or raise default_timeout_ms of the key.`,
      );
}
