/**
 * SQLSTATE classes and driver codes after which the same batch may succeed (PostgreSQL docs:
 * Appendix A). They mean: the connection broke, the server is starting or stopping, or two
 * transactions conflicted. After a broken connection, the outcome may be unknown.
 */
const TRANSIENT_SQLSTATES = ['08', '57014', '57P', '53', '40001', '40P01', '55P03', '25006', '58'];
const TRANSIENT_DRIVER_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_SOCKET_CLOSED',
]);

/** True if a database error is temporary, so the same commands may succeed later. */
export function isTransient(error: unknown): boolean {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return (
    isFatal(error) ||
    TRANSIENT_DRIVER_CODES.has(code) ||
    TRANSIENT_SQLSTATES.some((sqlstate) => code.startsWith(sqlstate))
  );
}

/** True if the server ended or refused the session. Such an error is not caused by the commands. */
function isFatal(error: unknown): boolean {
  const severity =
    typeof error === 'object' && error !== null && 'severity' in error ? error.severity : undefined;
  return severity === 'FATAL' || severity === 'PANIC';
}
