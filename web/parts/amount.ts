const NANO_PER_USD = 1_000_000_000n;
const DECIMALS = 9;
/** The amounts that are shown with two decimals. Smaller ones are shown with enough digits to be seen. */
const CENT_NANO = 10_000_000n;

/**
 * An amount of money in nano-USD. It is a whole number, so sums are exact (P1). The API sends USD as a JSON
 * number, which holds every amount below 8 million USD to the nano-dollar.
 */
export class Amount {
  private constructor(readonly nano: bigint) {}

  /** `usd` as the API sends it. */
  static ofUsd(usd: number): Amount {
    // A product of floats could be one nano-dollar off; `toFixed` has every digit of the number.
    return new Amount(BigInt(usd.toFixed(DECIMALS).replace('.', '')));
  }

  static ofNano(nano: bigint): Amount {
    return new Amount(nano);
  }

  static readonly zero = new Amount(0n);

  /** The sum of amounts of the API. */
  static sum(amounts: readonly number[]): Amount {
    return amounts.reduce<Amount>((sum, usd) => sum.plus(Amount.ofUsd(usd)), Amount.zero);
  }

  plus(other: Amount): Amount {
    return new Amount(this.nano + other.nano);
  }

  minus(other: Amount): Amount {
    return new Amount(this.nano - other.nano);
  }

  /** USD as a number, for plots. */
  get usd(): number {
    return Number(this.nano) / Number(NANO_PER_USD);
  }

  /** Every digit down to the nano-dollar, without zeros at the end beyond cents: `$0.000012345`. */
  get exact(): string {
    const { sign, whole, decimals } = this.parts();
    return `${sign}$${grouped(whole)}.${decimals.slice(0, 2)}${decimals.slice(2).replace(/0+$/, '')}`;
  }

  /**
   * Dollars and cents; an amount below one cent has its first two digits that are not zero, rounded:
   * `$0.00012`.
   */
  get short(): string {
    const size = this.nano < 0n ? -this.nano : this.nano;
    if (size === 0n || size >= CENT_NANO) return this.rounded(2);
    const { decimals } = this.parts();
    const first = decimals.search(/[1-9]/);
    return this.rounded(Math.min(first + 2, DECIMALS));
  }

  /** So many decimals, rounded. Amounts of one column are aligned by it. */
  rounded(places: number): string {
    const unit = 10n ** BigInt(DECIMALS - places);
    const size = this.nano < 0n ? -this.nano : this.nano;
    const rounded = ((size + unit / 2n) / unit) * unit;
    const { sign, whole, decimals } = new Amount(this.nano < 0n ? -rounded : rounded).parts();
    return `${sign}$${grouped(whole)}.${decimals.slice(0, places)}`;
  }

  private parts(): { sign: string; whole: string; decimals: string } {
    const size = this.nano < 0n ? -this.nano : this.nano;
    return {
      sign: this.nano < 0n ? '−' : '',
      whole: String(size / NANO_PER_USD),
      decimals: String(size % NANO_PER_USD).padStart(DECIMALS, '0'),
    };
  }
}

const grouped = (whole: string): string => whole.replace(/\B(?=(\d{3})+$)/g, ',');

/** The decimals with which the amounts of a column are shown: enough for the digits of its largest. */
export function placesFor(usd: number): number {
  const size = Math.abs(usd);
  if (size >= 100) return 2;
  if (size >= 1) return 4;
  return size === 0 ? 2 : Math.min(DECIMALS, Math.ceil(-Math.log10(size)) + 4);
}
