const NANO_PER_USD = 1_000_000_000;

/** Nano-USD as USD for a JSON response. Money becomes a float only here (P1). */
export function usd(nano_usd: number): number {
  return nano_usd / NANO_PER_USD;
}
