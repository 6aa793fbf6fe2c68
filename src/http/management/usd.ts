const NANO_PER_USD = 1_000_000_000;

/** Nano-USD as the USD number of a JSON answer: the only place where money becomes a float (P1). */
export function usd(nano_usd: number): number {
  return nano_usd / NANO_PER_USD;
}
