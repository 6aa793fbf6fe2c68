import { lazily } from './lazily.ts';

const whole = lazily(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 }));
const compact = lazily(
  () =>
    new Intl.NumberFormat(undefined, {
      notation: 'compact',
      maximumSignificantDigits: 3,
    }),
);

/** A whole number with its groups of digits, e.g. `12,345`. */
export const count = (value: number): string => whole().format(value);

/** A number in few characters for the axis of a plot, e.g. `12.3K`. */
export const shortCount = (value: number): string => compact().format(value);

/** A share as percent: `99.95 %`. A share that is not whole never looks like 0 % or 100 %. */
export function percent(share: number): string {
  const value = share * 100;
  for (const digits of [1, 2, 3]) {
    const text = value.toFixed(digits);
    const isRounded = Number(text) === 0 || Number(text) === 100;
    if (!isRounded || value === 0 || value === 100) return `${text.replace(/\.0+$/, '')} %`;
  }
  return value > 50 ? '> 99.999 %' : '< 0.001 %';
}

/** `1 call`, `2 calls`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
