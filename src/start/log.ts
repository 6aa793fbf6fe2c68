import pino, { type Logger } from 'pino';
import { WeirError } from '../errors/weir-error.ts';
import { ClientDeadlineError } from '../inference/client-deadline.ts';
import { RetryableUpstreamError, TerminalUpstreamError } from '../upstreams/contract.ts';
import { LostSubmissionError } from '../upstreams/generation/contract.ts';

/**
 * Returns the log. The log is written to stderr, because stdout is for the person who starts Weir.
 * Secrets must not be passed to the log.
 */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { error: pino.stdSerializers.err },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

/**
 * Logs an error. The level is `debug` if the status is below 500, if the client left, or if the
 * client's deadline passed. It is `warn` for the error of a single upstream, and if Weir has no room
 * for a request. It is `error` in all other cases, e.g. if no channel could serve a call.
 */
export function logError(log: Logger, error: unknown, request_id?: string): void {
  const fields = { request_id: request_id, error };
  if (error instanceof WeirError && error.entry.status < 500) {
    log.debug({ ...fields, code: error.id }, error.message);
  } else if (
    error instanceof WeirError &&
    error.cause === undefined &&
    error.entry.status === 503
  ) {
    // Weir refused the request because it has no room. A flood causes thousands of such errors, so
    // they are logged without a stack.
    log.warn({ request_id, code: error.id }, error.message);
  } else if (error instanceof ClientDeadlineError) {
    log.debug(fields, 'the deadline of the client passed');
  } else if (error instanceof DOMException && error.name === 'AbortError') {
    log.debug(fields, 'the client left');
  } else if (
    error instanceof RetryableUpstreamError ||
    error instanceof TerminalUpstreamError ||
    error instanceof LostSubmissionError
  ) {
    log.warn(fields, 'an upstream failed');
  } else log.error({ ...fields, cause: causeOf(error) }, 'a request or a batch failed');
}

function causeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError) return cause.errors.map(String).join('; ');
  return cause === undefined ? undefined : String(cause);
}
