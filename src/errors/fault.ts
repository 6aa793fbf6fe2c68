/**
 * Whose fault a failed upstream call is:
 *
 * - `caller`: the client's request is wrong, and the error proves it.
 * - `account`: the operator's account at the provider, e.g. a wrong key or no money.
 * - `throttle`: the account sent too many requests.
 * - `overload`: the provider has no capacity.
 * - `broken`: the provider or the channel's configuration does not work.
 * - `unclear`: the error proves nothing. Another channel is tried, and no channel's health changes.
 */
const FAULTS = ['caller', 'account', 'throttle', 'overload', 'broken', 'unclear'] as const;
export type Fault = (typeof FAULTS)[number];
