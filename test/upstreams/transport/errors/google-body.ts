/** The body of Google's errors. */
export const google = (code: number, status: string, message: string, ...details: object[]) => ({
  error: { code, message, status, ...(details.length > 0 ? { details } : {}) },
});

/** A body of Google's older APIs: a list of one error, which repeats its message. */
export const listed = (code: number, status: string, message: string, reason: string) => [
  { error: { code, message, errors: [{ message, domain: 'global', reason }], status } },
];

/** The detail that names the reason of an error (`google.rpc.ErrorInfo`). */
export const info = (reason: string, service = 'generativelanguage.googleapis.com') => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
  metadata: { service },
});

/** The detail that asks for a wait (`google.rpc.RetryInfo`). */
export const retry = (retryDelay: string | object) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});

/** The detail that names the quotas that are used up (`google.rpc.QuotaFailure`). */
export const quota = (...quotaIds: string[]) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: quotaIds.map((quotaId) => ({ quotaId })),
});
