/** Whose fault it is that a call did not end well. */
export const FAULTS: Readonly<Record<string, string>> = {
  caller: 'The client can mend this.',
  cap: 'A limit of the key or of the organization stopped the call.',
  weir: 'Weir failed.',
  provider: 'The provider failed.',
};

/** A way to mend what went wrong, and the page where that is done. */
export interface Fix {
  readonly says: string;
  readonly to?: 'key' | 'balance' | 'debug' | undefined;
}

const RETRY = 'Send the call again. SDKs do so by themselves.';
const REQUEST: Fix = {
  says: 'Change the request. The answer that the client got names the parameter; an open debug window keeps a copy of the next one.',
  to: 'debug',
};

/** What mends an error, by the code of the API. */
const FIXES: Readonly<Record<string, Fix>> = {
  invalid_request_error: REQUEST,
  unsupported_media_type: REQUEST,
  payload_too_large: { says: 'Send less: the body is larger than Weir accepts.' },
  context_length_exceeded: {
    says: 'Send fewer tokens, or take a model with a larger context.',
  },
  content_policy_violation: {
    says: 'Change the prompt: the provider’s policy does not allow it.',
  },
  model_not_found: {
    says: 'Correct the model’s name in the request. The page Models has them all.',
  },
  quota_exceeded: { says: 'Raise the cap of the key, or use another key.', to: 'key' },
  insufficient_balance: {
    says: 'Ask your operator for a deposit: the organization has no money left.',
    to: 'balance',
  },
  access_denied: {
    says: 'Add the model to the key’s list of models, or use another key.',
    to: 'key',
  },
  rate_limit_exceeded: {
    says: 'Send fewer calls a minute, or raise the rate limit of the key.',
    to: 'key',
  },
  timeout_error: { says: `The answer took too long. ${RETRY}` },
  upstream_error: { says: RETRY },
  all_channels_failed: {
    says: `No channel of the model could answer. ${RETRY} If it lasts, the operator finds the sick channel.`,
  },
  service_unavailable: { says: RETRY },
  internal_error: { says: 'Weir has a defect. Report the request id to your operator.' },
  idempotency_key_reused: { says: 'Send a new Idempotency-Key with another request.' },
  idempotency_key_in_use: {
    says: 'Wait: the first call with this Idempotency-Key still runs.',
  },
};

/** Returns what mends an error; undefined if the call needs nothing. */
export function fixOf(error_code: string | null, fault: string | null): Fix | undefined {
  if (error_code !== null && FIXES[error_code]) return FIXES[error_code];
  if (fault === 'caller') return REQUEST;
  if (fault === 'cap')
    return { says: 'Raise the limit of the key, or use another key.', to: 'key' };
  if (fault === 'provider') return { says: RETRY };
  if (fault === 'weir') return { says: `${RETRY} If it lasts, report the request id.` };
  return undefined;
}
