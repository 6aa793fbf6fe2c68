/** What the address of the audit log has: the filters of the API. */
export interface AuditSearch {
  readonly action?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly actor_id?: string | undefined;
  /** A date, `YYYY-MM-DD`. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

const NAMES = ['action', 'subject_id', 'actor_id', 'startDate', 'endDate'] as const;

export function auditSearchOf(search: Record<string, unknown>): AuditSearch {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}
