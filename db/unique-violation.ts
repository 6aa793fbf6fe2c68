/** SQLSTATE `unique_violation` (PostgreSQL docs: Appendix A). */
const UNIQUE_VIOLATION = '23505';

/**
 * True if a statement failed because another row has the same unique columns. `index`, if set, is the
 * index of these columns.
 */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if (!('code' in error) || error.code !== UNIQUE_VIOLATION) return false;
  return index === undefined || ('constraint_name' in error && error.constraint_name === index);
}
