/** A function that gets each error that the client does not see, e.g. to log it. Must not throw. */
export type ErrorReport = (error: unknown, request_id: string) => void;
