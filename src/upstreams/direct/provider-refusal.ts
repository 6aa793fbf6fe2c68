import type { Fault } from '../../errors/fault.ts';
import type { ChannelProtocol } from '../../protocols/names.ts';
import type { RetryableUpstreamFailure } from '../contract.ts';
import { judge } from '../transport/errors/judge.ts';

/** The longest text of a provider that operators see. */
const MAX_SAID_CHARS = 500;

/**
 * A provider did not accept an account, or could not be reached. For operators only: the text is the
 * provider's own. It has no credentials.
 */
export class ProviderRefusal extends Error {
  override readonly name = 'ProviderRefusal';
  /** What the provider said, at most 500 characters. */
  readonly said: string;

  constructor(
    readonly fault: Exclude<Fault, 'caller'>,
    said: string,
    /** HTTP status; 0 if no response arrived. */
    readonly status: number,
    /** Set if no complete response arrived. */
    readonly failure?: RetryableUpstreamFailure | undefined,
  ) {
    super(said);
    this.said = said.slice(0, MAX_SAID_CHARS);
  }
}

/**
 * Returns the refusal that an error response is. The request had nothing that a caller chose, so the
 * caller is never at fault.
 */
export function refusalOf(
  protocol: ChannelProtocol,
  status: number,
  headers: Pick<Headers, 'get'>,
  text: string,
): ProviderRefusal {
  const { fault, evidence, rule } = judge({
    ...{ status, headers, text, protocol },
    requestText: () => '',
  });
  // Such an error is about one model or one request, so the account may serve others.
  const isPart = fault === 'account' && rule?.health !== undefined;
  const said = evidence.message || `HTTP ${status} without a message.`;
  return new ProviderRefusal(fault === 'caller' || isPart ? 'unclear' : fault, said, status);
}
