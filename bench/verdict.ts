/** The result of a comparison as text: loss, interval and verdict. */
import type { SideName } from './side.ts';
import { type Interval, loss, median, medianInterval } from './statistics.ts';

/** One figure of each version, measured one after the other. */
export type Pair = Record<SideName, number>;

export interface Summary {
  loss: number;
  interval: Interval;
  slower: boolean;
}

/** The confidence of all intervals, 0 to 1. */
export const CONFIDENCE = 0.95;

/** The new version is slower if the median loss of the pairs is above the bound. */
export function summarize(pairs: readonly Pair[], bound: number): Summary {
  const losses = pairs.map((pair) => loss(pair.old, pair.new));
  const middle = median(losses);
  return { loss: middle, interval: medianInterval(losses, CONFIDENCE), slower: middle > bound };
}

/**
 * Returns one line with the median loss and its interval. The line says 95 % only if the interval
 * reaches 95 %.
 */
export function summaryLine(kind: string, { loss, interval }: Summary): string {
  const enough = interval.coverage >= CONFIDENCE;
  const name = intervalName(interval);
  const range = `${signed(interval.low)} to ${signed(interval.high)}`;
  const few = enough ? '' : ' (6 pairs or more give 95 %)';
  return `${kind.padEnd(6)} median loss ${signed(loss)}, ${name} ${range}${few}`;
}

/** Names an interval by its confidence: 95 %, or less if there are too few pairs. */
export function intervalName({ coverage }: Interval): string {
  return coverage >= CONFIDENCE ? '95 % interval' : `${percent(coverage)} interval`;
}

/**
 * Returns the last line. It says "no slower" or "slower", and whether the interval contains the
 * bound.
 */
export function verdictLine(summaries: readonly Summary[], bound: number): string {
  const slower = summaries.some((summary) => summary.slower);
  const open = summaries.some(({ interval }) => interval.low <= bound && bound < interval.high);
  const remark = open ? '; an interval contains the bound, so run more pairs' : '';
  return `verdict: ${slower ? 'slower' : 'no slower'} (bound ${percent(bound)}${remark})`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

export function signed(share: number): string {
  const text = (share * 100).toFixed(1);
  return `${share > 0 && Number(text) !== 0 ? '+' : ''}${Number(text) === 0 ? '0.0' : text} %`;
}
