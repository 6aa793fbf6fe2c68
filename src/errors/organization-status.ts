import { WeirError } from './weir-error.ts';

/** Returns the error for a request of an organization that is not active. */
export function organizationStatusError(
  status: 'suspended' | 'closed',
  credential: 'API key' | 'token' = 'API key',
): WeirError {
  const message = `The organization of this ${credential} is ${status}.`;
  return new WeirError(`organization_${status}`, message, {
    hint: 'Ask the operator of this service.',
  });
}
