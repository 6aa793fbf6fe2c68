/** SQLSTATE `unique_violation` (PostgreSQL docs: Appendix A). */
const UNIQUE_VIOLATION = '23505';

/** True if an insert failed because a row with the same unique columns exists. */
export function isUniqueViolation(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION
  );
}
