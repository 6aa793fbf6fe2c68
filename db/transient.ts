/**
 * SQLSTATE classes and driver codes after which a repeated transaction may succeed (PostgreSQL
 * docs: Appendix A). Examples: the connection broke, the server is starting or stopping, or two
 * transactions conflicted. After a broken connection, the first transaction may be committed.
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

/** True if a database error is temporary, so that a repeated transaction may succeed. */
export function isTransient(error: unknown): boolean {
  const code =
    typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return (
    isFatal(error) ||
    TRANSIENT_DRIVER_CODES.has(code) ||
    TRANSIENT_SQLSTATES.some((sqlstate) => code.startsWith(sqlstate))
  );
}

/** True if the server ended or refused the session. The statements did not cause such an error. */
function isFatal(error: unknown): boolean {
  const severity =
    typeof error === 'object' && error !== null && 'severity' in error ? error.severity : undefined;
  return severity === 'FATAL' || severity === 'PANIC';
}
