/** The headers of an answer that a soft budget or limit concerns. */
export const SOFT_HEADERS = {
  /** The soft budgets and limits that the call exceeded: a list of RFC 9651. */
  warning: 'x-weir-warning',
  /** The model that the client asked for, if another one served the call. */
  moved_from: 'x-weir-moved-from',
  /** The model that served a call that moved. */
  moved_to: 'x-weir-moved-to',
} as const;
