import { changeOf } from '../usage/explore/figures.ts';

interface BeforeProps {
  readonly now: number | null | undefined;
  readonly before: number | null | undefined;
  readonly show: (value: number) => string;
}

/** A figure of the day before, and the change since. */
export function Before({ now = null, before = null, show }: BeforeProps) {
  if (before === null) return 'nothing the day before';
  const change = changeOf(now, before);
  return `${show(before)} the day before${change === undefined ? '' : ` (${change})`}`;
}
