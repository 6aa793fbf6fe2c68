import type { Fault } from '../../errors/fault.ts';

/** What the operator can do, by whose fault a failure is (P19). */
export const FAULT_HINTS: Record<Fault, string> = {
  caller: 'The provider refused the test request itself. Check the protocol and the model id.',
  account: 'Check the api_key, the balance, the region and the rights of the account.',
  throttle: 'Wait, raise the limits of the account, or add another channel.',
  overload: 'Wait until the provider has capacity, or add another channel.',
  broken: 'Check base_url, protocol and the model id, and the status page of the provider.',
  unclear: 'Read the message. Weir does not know whose fault it is, so the channel stays in use.',
};
