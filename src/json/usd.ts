const NANO_PER_USD = 1_000_000_000;

/**
 * Returns nano-USD as USD for a JSON response. Only this function turns money into a float (P1).
 */
export function usd(nano_usd: number): number {
  return nano_usd / NANO_PER_USD;
}
