import { WeirError } from '../../errors/weir-error.ts';
import type { ProviderRefusal } from '../../upstreams/direct/provider-refusal.ts';
import { FAULT_HINTS } from './fault-hints.ts';

/**
 * Returns the error of a request about an account that a provider does not accept. It names the wrong
 * parameter, says what the provider said and whose fault it is. Its status is never 401, because the
 * operator's own credential is good. `names_address` is true if the request chose the address.
 */
export function accountError(refusal: ProviderRefusal, names_address: boolean): WeirError {
  const { fault, said, status, failure } = refusal;
  const provider = {
    fault,
    ...(failure === undefined ? { provider_message: said, provider_status: status } : {}),
  };
  const text = `${said.replace(/[.\s]+$/, '')}.`;
  const shown = status === 0 ? text : `(HTTP ${status}) ${text}`;
  if (fault === 'account') {
    return new WeirError('invalid_request', `The provider refused the key: ${shown}`, {
      ...{ param: 'api_key', hint: FAULT_HINTS.account },
      ...provider,
    });
  }
  if (fault === 'throttle' || fault === 'overload') {
    const who = fault === 'throttle' ? 'limits the requests of this key' : 'has no capacity';
    return new WeirError('upstream_overloaded', `The provider ${who}: ${shown}`, {
      ...{ param: null, hint: FAULT_HINTS[fault] },
      ...provider,
    });
  }
  const param = names_address ? 'base_url' : null;
  const isTheirs = failure === 'timeout' || status >= 500 || (failure && !names_address);
  if (isTheirs) {
    return new WeirError('upstream_error', `The provider failed: ${shown}`, {
      ...{ param, hint: 'Try again. Check base_url, and the status page of the provider.' },
      ...provider,
    });
  }
  const message = `The address does not answer as a provider of this protocol: ${shown}`;
  return new WeirError('invalid_request', message, {
    ...{ param, hint: 'Check protocol and base_url. The path often ends in /v1.' },
    ...provider,
  });
}
