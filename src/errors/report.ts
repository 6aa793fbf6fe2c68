/** Receives an error that is not shown to the client, e.g. to log it. Must not throw. */
export type ErrorReport = (error: unknown, request_id: string) => void;
