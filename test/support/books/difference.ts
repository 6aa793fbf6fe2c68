/** The kinds of difference between the provider's books and Weir's usage lines. */
export type DifferenceKind =
  /** The provider did work that must be charged, and no usage line charges it. */
  | 'missing line'
  /** Two usage lines charge one request. */
  | 'doubled line'
  /** A usage line charges what no provider did. */
  | 'line without call'
  | 'wrong tokens'
  | 'wrong price'
  | 'wrong model'
  /** A usage line says `completed` or `partial`, or is estimated, and the provider's books contradict. */
  | 'wrong outcome'
  /** A usage line charges a call of which the provider delivered no token. */
  | 'charged without delivery'
  /** A call had not ended when the books were compared. */
  | 'unfinished call'
  /** The simulator no longer has the oldest calls, so they cannot be compared. */
  | 'forgotten calls'
  /** No independent price is known for a charged model. */
  | 'unknown price';

/** One difference between the two books. */
export interface Difference {
  kind: DifferenceKind;
  /** The seed of the run, with which it can be repeated. */
  seed: string | number;
  /** Id of the call or job in the simulator's books; null if there is none. */
  provider_id: string | null;
  /** Id of the request in `usage_line`; null if there is none. */
  request_id: string | null;
  /** Both sides in words: tokens, prices and outcomes. */
  detail: string;
}

/** Returns a difference as one line of text. */
export function differenceText({
  kind,
  seed,
  provider_id,
  request_id,
  detail,
}: Difference): string {
  const ids = `provider ${provider_id ?? '-'}, usage line of ${request_id ?? '-'}`;
  return `BOOKS DIFFER (seed ${seed}): ${kind}: ${detail} [${ids}]`;
}
