/** The days of which the usual spend is taken: those before the day that is compared. */
const USUAL_DAYS = 14;
/** With spend on fewer days, nothing is usual yet. */
const MIN_ACTIVE_DAYS = 7;
/** A difference of less is no alert, nano-USD: one dollar. */
const MIN_DIFFERENCE = 1_000_000_000;
/** The days that `unusualSpend` needs: today, the two days before it, and the usual days of the last of them. */
export const SPEND_DAYS = USUAL_DAYS + 3;

const COMPARED = [
  ['high', 0],
  ['high', 1],
  ['low', 1],
] as const;

/** A day whose spend is far from its usual. */
export interface Unusual {
  readonly direction: 'high' | 'low';
  /** 0 = today, 1 = yesterday. */
  readonly days_ago: number;
  readonly nano_usd: number;
  readonly usual_nano_usd: number;
}

/**
 * Returns what is unusual about the spend of today so far, or of yesterday as a whole. Today can only be too high,
 * because it is not over. A day is unusual if its spend is more than `factor` times the usual one, or less than the
 * usual one divided by `factor`. If the day before was unusual in the same way, the day is a part of the same cause.
 * `spend` starts with today and goes back, nano-USD a day.
 */
export function unusualSpend(spend: readonly number[], factor: number): Unusual[] {
  return COMPARED.flatMap(([direction, days_ago]): Unusual[] => {
    const usual_nano_usd = usualOf(spend, days_ago);
    if (usual_nano_usd === undefined) return [];
    if (!isUnusual(spend, days_ago, direction, factor)) return [];
    if (isUnusual(spend, days_ago + 1, direction, factor)) return [];
    return [{ direction, days_ago, nano_usd: spend[days_ago] ?? 0, usual_nano_usd }];
  });
}

/** The median of the days before a day; undefined if the organization has spent on too few of them. */
function usualOf(spend: readonly number[], days_ago: number): number | undefined {
  const days = spend.slice(days_ago + 1, days_ago + 1 + USUAL_DAYS);
  const active = days.filter((nano_usd) => nano_usd > 0).toSorted((a, b) => a - b);
  if (active.length < MIN_ACTIVE_DAYS) return undefined;
  const [lower, upper] = [(active.length - 1) >> 1, active.length >> 1];
  return ((active[lower] ?? 0) + (active[upper] ?? 0)) / 2;
}

function isUnusual(
  spend: readonly number[],
  days_ago: number,
  direction: Unusual['direction'],
  factor: number,
): boolean {
  const usual = usualOf(spend, days_ago);
  const nano_usd = spend[days_ago];
  if (usual === undefined || nano_usd === undefined) return false;
  if (Math.abs(nano_usd - usual) < MIN_DIFFERENCE) return false;
  return direction === 'high' ? nano_usd > usual * factor : nano_usd < usual / factor;
}
