/** What a call on an own key of its organization costs: a fee, which is a part of the list price. */

/** The whole list price, in millionths. */
export const WHOLE_PPM = 1_000_000;

/**
 * Returns the fee for a call of this list price, nano-USD, rounded up. `fee_ppm` is the fee in
 * millionths of the list price, 0 to 10⁶. Both parts of the sum are exact.
 */
export function feeOf(list_nano_usd: number, fee_ppm: number): number {
  const rest = list_nano_usd % WHOLE_PPM;
  const whole = (list_nano_usd - rest) / WHOLE_PPM;
  return whole * fee_ppm + Math.ceil((rest * fee_ppm) / WHOLE_PPM);
}

/** Returns the highest list price whose fee is at most `fee_nano_usd`. */
export function listPriceFor(fee_nano_usd: number, fee_ppm: number): number {
  if (fee_ppm === 0) return Number.MAX_SAFE_INTEGER;
  const exact = (BigInt(fee_nano_usd) * BigInt(WHOLE_PPM)) / BigInt(fee_ppm);
  return Number(exact < Number.MAX_SAFE_INTEGER ? exact : Number.MAX_SAFE_INTEGER);
}

/** What the cap of a key counts of a call on an own key: its charge, or its list price. */
type CapCounts = 'charged' | 'list';

/**
 * Returns the part of the list price that a call on an own key needs money for, in millionths. If the cap
 * of its key counts the list price, this is the whole price: what is not charged returns afterwards.
 */
export function reservedPpm(fee_ppm: number, cap_counts: CapCounts | undefined): number {
  return cap_counts === 'list' ? WHOLE_PPM : fee_ppm;
}

/**
 * Returns what is reserved for a call on an own key, and at least one nano-USD. So a key whose cap is
 * reached is refused, also if the fee is 0, and each charge has a grant. `ppm` is that of `reservedPpm`.
 */
export function feeToReserve(highest_list_nano_usd: number, ppm: number): number {
  return Math.max(1, feeOf(highest_list_nano_usd, ppm));
}

/** The members of a usage line that depend on whose account served the call, and the charge. */
export interface AccessCharge {
  readonly access: {
    readonly access_channel: 'platform' | 'byok';
    /** Set for a call on an own key. */
    readonly list_nano_usd?: number;
  };
  /** The charge, nano-USD. */
  readonly amount: number;
  /** What the cap of the key counts, nano-USD: at least the charge. */
  readonly counted: number;
}

const PLATFORM = { access_channel: 'platform' } as const;

/**
 * Returns the charge of a call of this list price. `fee_ppm` is undefined on the platform's channels.
 * `cap_counts` is the setting of the key.
 */
export function chargeWith(
  fee_ppm: number | undefined,
  list_nano_usd: number,
  cap_counts: CapCounts = 'charged',
): AccessCharge {
  if (fee_ppm === undefined) {
    return { access: PLATFORM, amount: list_nano_usd, counted: list_nano_usd };
  }
  const access = { access_channel: 'byok', list_nano_usd } as const;
  const amount = feeOf(list_nano_usd, fee_ppm);
  return { access, amount, counted: cap_counts === 'list' ? list_nano_usd : amount };
}
