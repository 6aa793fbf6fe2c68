import type { Fault } from '../../../errors/fault.ts';
import type { ChannelProtocol } from '../../../protocols/names.ts';
import type { TerminalUpstreamError } from '../../contract.ts';

/** One line of a provider's error table: what an error looks like, and whose fault it is. */
export interface ErrorRule {
  readonly vendor: string;
  /** Where the provider says so. */
  readonly source: string;
  readonly fault: Fault;
  /** An error code in lower case. Exactly one of `code` and `words` is set. */
  readonly code?: string;
  /** Words of the message. They count only if the client's own request does not contain them. */
  readonly words?: RegExp;
  /** True if the code names only a kind of error. A rule with a more exact code overrules it. */
  readonly is_general?: true;
  /** True if the words say more than any code, because the provider sends a code that misleads. */
  readonly overrules?: true;
  /** The rule holds only with these HTTP statuses. */
  readonly statuses?: readonly number[];
  /**
   * The member that holds the code, e.g. `base_resp.status_code`. A numeric code means something
   * else at every provider, so its rule always has this member.
   */
  readonly at?: string;
  /** The rule holds only on channels with these protocols. */
  readonly protocols?: readonly ChannelProtocol[];
  /**
   * What the error says about the channel, if it says less than its fault does. `model`: other
   * models of the account may work. `none`: other requests may work.
   */
  readonly health?: 'model' | 'none';
  /** The error for the client, if the caller is at fault. If absent, `invalid_request`. */
  readonly error_id?: TerminalUpstreamError['error_id'];
}

type Conditions = Pick<
  ErrorRule,
  'statuses' | 'at' | 'protocols' | 'is_general' | 'overrules' | 'error_id' | 'health'
>;

/** Codes, or words of the message. */
type Evidence = readonly (string | RegExp)[];

/** Returns one rule for each code and each pattern of words. */
export function rulesOf(
  vendor: string,
  source: string,
  evidence: Partial<Record<Fault, Evidence>>,
  conditions: Conditions = {},
): ErrorRule[] {
  return Object.entries(evidence).flatMap(([fault, each]) =>
    each.map((what) => ({
      ...{ vendor, source, fault: fault as Fault },
      ...(typeof what === 'string' ? { code: what.toLowerCase() } : { words: ofAnyLine(what) }),
      ...conditions,
    })),
  );
}

/** An error may be inside another one. Then its message is not the first line of all messages. */
function ofAnyLine(words: RegExp): RegExp {
  return words.multiline ? words : new RegExp(words.source, `${words.flags}m`);
}
