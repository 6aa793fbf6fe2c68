/**
 * How much of what is free one replica may set aside for a key: the decision that the lane takes
 * while it holds the rows of the key and of its organization (design 4). Pure; amounts in nano-USD.
 */
export interface GrantRequest {
  /** The call in hand needs this much more. */
  need: number;
  /** A comfortable slice: recent spend decides. At least `need`. */
  want: number;
}

export interface GrantFunds {
  /** The key's cap less what is used and held; null = unlimited. */
  key_free: number | null;
  /** The organization's balance that nothing holds. */
  balance: number;
  /** Replicas that are alive and may want a slice of the same money; at least 1. */
  replicas: number;
}

export type GrantDecision =
  /** `exact` = no slack beyond the need could be spared. */
  | { type: 'given'; amount: number; exact: boolean }
  /** `bound` says whose money is short: it names the error (spec: Errors, 402). */
  | { type: 'short'; bound: 'key' | 'organization'; free: number };

/**
 * Gives `need` always when it is there, and slack beyond it only as long as every other replica
 * could take as much twice over: so a slice shrinks as the cap nears and becomes exact at the end.
 */
export function decideGrant(request: GrantRequest, funds: GrantFunds): GrantDecision {
  const keyFree = funds.key_free ?? Number.MAX_SAFE_INTEGER;
  const free = Math.max(0, Math.min(keyFree, funds.balance));
  if (request.need > free) {
    return { type: 'short', bound: keyFree <= funds.balance ? 'key' : 'organization', free };
  }
  const fairShare = Math.floor(free / (2 * funds.replicas));
  const amount = Math.max(request.need, Math.min(request.want, fairShare));
  return { type: 'given', amount, exact: amount === request.need && amount < request.want };
}
